"""The construction: questions asked for, filtered, cited, put into contexts and dialogues, and rendered.

Chance is drawn from the seed and the id of each example, so that no reply changes other examples, and a
resumed run makes the rows of an uninterrupted one.
"""

import json
import random
import tomllib
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import groupby
from pathlib import Path
from string import Template
from typing import Any, cast

from pydantic import BaseModel, ConfigDict, Field

from assistant.checking import score_attribution
from assistant.generators import PromptedGenerator, by_rank
from assistant.models import BadReplyError, ChatModel, Completion, ModelError
from assistant.prompts import NO_ANSWER, as_data, as_line, load_prompt, mark, render_passage
from assistant.questions import request_kind
from assistant.records import Answer, CallLog, Message, Parameters, Provenance, Rewrite, Turn
from corpus.records import Passage, Scope
from corpus.text import shortened, words
from evaluation.kept import KeptModel
from training.files import Say, as_json, grouped, saving, write_durably
from training.truthreader import examples
from training.truthreader.documents import SourceDocument
from training.truthreader.examples import CARRIED, Example, Kind, Library, Pair
from training.truthreader.faithful import answer_problem, clean_sentences, entity_problem, question_problem

PROMPTS = Path(__file__).parent / "prompts"
WORDINGS: dict[str, list[str]] = tomllib.loads((PROMPTS / "refusals.toml").read_text(encoding="utf-8"))
MOST_PAIRS = 2
FEWEST_WORDS = 30
SUMMARY_PASSAGES = 5
SYNTHESIS_PAPERS = 3
TITLES, LONGEST_TITLE = 3, 80
# Shares: of rows that are refusals, of answers that are followed up, and of those with a changed copy.
REFUSALS, FOLLOWED, REPLACED, OMITTED = 0.1, 0.5, 0.5, 0.5


# The docstrings of both are part of the schema that the model is sent.
class PairReply(BaseModel):
    """A question and its answer as a model replies them."""

    model_config = ConfigDict(extra="forbid")

    question: str = Field(min_length=8, max_length=300)
    answer: str = Field(min_length=8, max_length=1_500)


class PairsReply(BaseModel):
    """A model's reply; the list is empty where there was nothing to ask."""

    model_config = ConfigDict(extra="forbid")

    pairs: list[PairReply] = Field(max_length=MOST_PAIRS)


class Construction:
    """Makes rows of documents with a model's help; what is dropped on the way is kept with the reason.

    At most `limit` passages are asked about, and prompts fit into `context` tokens.
    """

    def __init__(
        self,
        documents: Sequence[SourceDocument],
        model: KeptModel,
        parameters: Parameters,
        *,
        limit: int | None,
        context: int,
        seed: int,
        say: Say,
    ) -> None:
        passages = [
            passage
            for _, found in documents
            for passage in found
            if passage.kind in ("abstract", "body") and len(words(passage.text)) >= FEWEST_WORDS
        ]
        self._library = Library({paper.id: paper for paper, _ in documents}, passages)
        self._model, self._parameters = model, parameters
        self._limit, self._context, self._seed, self._say = limit, context, seed, say
        self.rows: list[dict[str, Any]] = []
        self.dropped: list[dict[str, str]] = []

    def run(self) -> None:
        """Make the rows; raises ModelError."""
        kept = list(self._faithful(self._written()))
        kept += self._faithful(self._followed(kept))
        made = list(self._in_dialogues(list(self._cited(kept))))
        made += list(self._changed(made))
        made += list(self._refused(made))
        self.rows = [row for example in made if (row := self._rendered(example))]

    def _drop(self, pair: Pair, step: str, reason: str, detail: str = "") -> None:
        dropped = {"id": pair.id, "step": step, "reason": reason}
        self.dropped.append({**dropped, "question": pair.question, "detail": detail})

    def _chance(self, example: Example, purpose: str) -> random.Random:
        return random.Random(f"{self._seed} {example.pair.id} {example.change} {purpose}")

    def _written(self) -> Iterator[Pair]:
        """Ask about drawn passages, then for a summary and a synthesis of each document that has one."""
        passages, of_paper = self._library.passages, grouped(self._library.passages, "paper_id")
        chosen: Sequence[Passage] = passages
        if self._limit is not None and len(passages) > self._limit:
            drawn = random.Random(self._seed).sample(range(len(passages)), self._limit)
            chosen = [passages[index] for index in sorted(drawn)]
        for place, passage in enumerate(chosen, start=1):
            yield from self._ask(passage.id, "fact", (passage,))
            self._say(f"passage {place} of {len(chosen)}")
        for paper in dict.fromkeys(passage.paper_id for passage in chosen):
            own = of_paper[paper]
            if len(own) > 1:
                yield from self._ask(f"{paper}:summary", "summary", tuple(own[:SUMMARY_PASSAGES]))
            near = dict.fromkeys(passage.paper_id for passage in self._library.nearest(own[0].text))
            others = [other for other in near if other != paper][: SYNTHESIS_PAPERS - 1]
            if others:
                shown = tuple(of_paper[identifier][0] for identifier in (paper, *others))
                yield from self._ask(f"{paper}:synthesis", "synthesis", shown)
            self._say(f"document {paper}")

    def _followed(self, pairs: Sequence[Pair]) -> Iterator[Pair]:
        for pair in pairs:
            chance = random.Random(f"{self._seed} {pair.id} followed")
            if pair.kind == "fact" and chance.random() < FOLLOWED:
                yield from self._ask(f"{pair.id}:next", "fact", pair.shown, pair)

    def _ask(
        self, identifier: str, kind: Kind, shown: tuple[Passage, ...], leans_on: Pair | None = None
    ) -> list[Pair]:
        """Have the model write questions that passages answer, or what is asked after `leans_on`."""
        material = []
        for paper, passages in groupby(shown, key=lambda passage: passage.paper_id):
            title = f"Title: {as_line(self._library.papers[paper].title)}"
            body = (title, *map(render_passage, passages))
            material.append("\n".join((mark("paper"), *body, mark("end of paper"))))
        values = {"material": "\n\n".join(material)}
        if leans_on:
            said = (as_line(leans_on.question), as_data(leans_on.answer))
            values["earlier"] = "\n".join((mark("earlier"), *said, mark("end of earlier")))
        prompt = load_prompt("follow_up" if leans_on else kind, PROMPTS)
        try:
            replied = self._model.reply(prompt.render(**values), self._parameters, PairsReply).pairs
        except BadReplyError as error:
            problem = {"reason": "malformed reply", "detail": str(error)}
            self.dropped.append({"id": identifier, "step": "asking", **problem})
            return []
        if not replied:
            self.dropped.append({"id": identifier, "step": "asking", "reason": "nothing to ask"})
        return [
            Pair(f"{identifier}:{place}", kind, reply.question, reply.answer, shown, leans_on)
            for place, reply in enumerate(replied, start=1)
        ]

    def _faithful(self, pairs: Iterable[Pair]) -> Iterator[Pair]:
        """Yield the pairs whose answers their passages carry and whose questions are new."""
        known: list[str] = []
        for pair in list(pairs):
            evidence = "\n".join(passage.text for passage in pair.shown)
            problem = question_problem(pair, known)
            problem = problem or answer_problem(clean_sentences(pair.answer), evidence)
            if problem:
                self._drop(pair, "filtering", problem, pair.answer)
            else:
                known.append(pair.question)
                yield pair

    def _cited(self, pairs: Sequence[Pair]) -> Iterator[Example]:
        for pair in pairs:
            if found := self._library.gather(pair, clean_sentences(pair.answer)):
                yield found
            else:
                self._drop(pair, "citing", "a sentence that nothing carries", pair.answer)

    def _in_dialogues(self, made: Sequence[Example]) -> Iterator[Example]:
        """Yield the examples with earlier turns, their papers shuffled."""
        for example in made:
            if told := examples.with_history(example, made, self._chance(example, "history")):
                yield examples.shuffled(told, self._chance(example, "order"))
            else:
                self._drop(example.pair, "dialogues", "what it leans on is gone")

    def _changed(self, made: Sequence[Example]) -> Iterator[Example]:
        """Yield copies with other uncited papers, and without one of several cited ones."""
        for example in made:
            chance = self._chance(example, "changed")
            if chance.random() < REPLACED:
                other = self._library.replaced(example, chance)
                if other != example:
                    yield examples.shuffled(other, chance)
            if len(example.cited) > 1 and chance.random() < OMITTED:
                yield examples.omitted(example, chance.choice(example.cited))

    def _refused(self, made: Sequence[Example]) -> Iterator[Example]:
        """Yield questions without what answers them, up to the share of refusals."""
        answered = sum(bool(example.sentences) for example in made)
        missing = round(answered * REFUSALS / (1 - REFUSALS)) - (len(made) - answered)
        facts = [example for example in made if example.pair.kind == "fact" and example.change == "shuffled"]
        for example in random.Random(f"{self._seed} refused").sample(facts, len(facts)):
            if missing <= 0:
                return
            sentences = clean_sentences(example.pair.answer)

            def answers(passage: Passage, sentences: Sequence[str] = sentences) -> bool:
                return any(
                    score_attribution(sentence, passage.text) >= CARRIED
                    and not entity_problem((sentence,), passage.text)
                    for sentence in sentences
                )

            if found := self._library.unanswerable(example.pair, answers):
                told = replace(found, history=example.history, history_type=example.history_type)
                yield examples.shuffled(told, self._chance(example, "refused"))
                missing -= 1
            else:
                self._drop(example.pair, "refusals", "related passages answer it too")

    def _rendered(self, example: Example) -> dict[str, Any] | None:
        """Return an example as the product's messages and the reply."""
        if (messages := _sent(example, self._context)) is None:
            self._drop(example.pair, "rendering", "too long for the context")
            return None
        reply = answer_text(example, self._chance(example, "reply"))
        return {
            "id": f"{example.pair.id}:{example.change}",
            "kind": example.pair.kind,
            "history_type": example.history_type,
            "change": example.change,
            "is_refusal": not example.sentences,
            "cited": example.cited,
            "papers": [paper.paper.id for paper in example.evidence.papers],
            "messages": [asdict(message) for message in (*messages, Message("assistant", reply))],
        }

    def write(self, out: Path, about: Mapping[str, object]) -> Mapping[str, object]:
        """Write what was dropped, the statistics and, last, the rows; return the statistics."""

        def counted(values: Iterable[str]) -> dict[str, int]:
            return dict(sorted(Counter(values).items()))

        def lines(records: Iterable[Mapping[str, Any]]) -> str:
            return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)

        rows, dropped = self.rows, self.dropped
        refused, labels = (sum(row["is_refusal"] for row in rows), sum(len(row["cited"]) for row in rows))
        counts = {
            **about,
            "rows": len(rows),
            "refusals": refused,
            "refusal_share": round(refused / len(rows), 4) if rows else 0.0,
            "citations_per_answer": round(labels / (len(rows) - refused), 2) if len(rows) > refused else 0.0,
            "kinds": counted(row["kind"] for row in rows),
            "histories": counted(row["history_type"] for row in rows),
            "changes": counted(row["change"] for row in rows),
            "dropped": len(dropped),
            "dropped_reasons": counted(f"{lost['step']}: {lost['reason']}" for lost in dropped),
        }
        with saving(out):
            out.parent.mkdir(parents=True, exist_ok=True)
            write_durably(out.with_suffix(".dropped.jsonl"), lines(dropped))
            write_durably(out.with_suffix(".statistics.json"), as_json(counts))
            write_durably(out, lines(rows))
        return counts


def answer_text(example: Example, chance: random.Random) -> str:
    """Return the reply: the cited answer, or the line that the product reads as a refusal."""
    if example.sentences:
        open_end = f" {chance.choice(WORDINGS['open'])}" if example.is_partial else ""
        return examples.written(example.sentences) + open_end
    titles = [shortened(as_line(paper.paper.title), LONGEST_TITLE) for paper in example.evidence.papers]
    named = ", ".join(f"“{title}”" for title in titles[:TITLES])
    rest = " and other papers" if len(titles) > TITLES else ""
    reason = Template(chance.choice(WORDINGS["reasons"])).substitute(titles=f"{named}{rest}")
    return f"{NO_ANSWER} {reason}"


class _Silent:
    """A model that writes nothing: only the messages for it are wanted."""

    id = label = "the model in training"

    def stream(self, *_: object) -> Generator[str, None, Completion]:
        yield ""
        return Completion("")


def _sent(example: Example, context: int) -> tuple[Message, ...] | None:
    """Return the messages that the product sends, None where it would leave a passage out."""
    papers, question, log = example.evidence.papers, example.pair.question, CallLog()
    # A summary is asked of its one paper, everything else of the whole corpus.
    is_of_paper = example.pair.kind == "summary" and len(papers) == 1
    scope = Scope(papers=(papers[0].paper.id,)) if is_of_paper else Scope()
    rewrite = Rewrite(question, question, kind=request_kind(question, scope))
    generator = PromptedGenerator(cast(ChatModel, _Silent()), context=context, order=by_rank)
    try:
        for _ in generator.write_draft(rewrite, tuple(map(_as_turn, example.history)), example.evidence, log):
            pass
    except ModelError:
        return None
    return None if log.calls[-1].left_out else log.calls[-1].messages


def _as_turn(earlier: Example) -> Turn:
    """Return an earlier example as a turn, as far as prompts show turns."""
    rewrite = Rewrite(earlier.pair.question, earlier.pair.question)
    return Turn(
        question=earlier.pair.question,
        asked="",
        scope=Scope(),
        papers_wanted=len(earlier.evidence.papers),
        rewrite=rewrite,
        hits=(),
        evidence=earlier.evidence,
        answer=Answer(examples.written(earlier.sentences)),
        calls=(),
        seconds=(),
        provenance=Provenance("", "", "", "", ()),
    )
