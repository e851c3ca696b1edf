"""The construction: questions asked for, filtered, cited, put into contexts and dialogues, and rendered.

Chance is drawn from the seed and the id of each example, so that no reply changes other examples, and a
resumed run makes the rows of an uninterrupted one.
"""

import json
import random
import tomllib
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from string import Template
from typing import Any, cast

from assistant.checking.overlap import score_attribution
from assistant.generators.model_evidence import by_rank
from assistant.generators.prompted import PromptedGenerator
from assistant.models.protocol import BadReplyError, ChatModel, Completion, ModelError
from assistant.prompts.material import render_evidence
from assistant.prompts.render import NO_ANSWER, as_line
from assistant.questions.intent import request_kind
from assistant.questions.plan import plan_of
from assistant.ranking.evidence import RankedEvidence
from assistant.records import Answer, CallLog, Message, Parameters, Provenance, Rewrite, Turn
from corpus.encoders.base import Encoder
from corpus.language.identified import foreign_language
from corpus.records import Passage, Scope
from corpus.text import shortened, words
from evaluation.harness import group_by, say
from evaluation.reply_cache import CachedModel
from evaluation.rouge import overlaps
from training.files import as_json, draw, saving, write_durably
from training.truthreader import examples
from training.truthreader.documents import Dialogue, SourceDocument
from training.truthreader.examples import (
    CARRIED,
    AttributionMethod,
    Example,
    Kind,
    Library,
    Pair,
    labels_by_score,
)
from training.truthreader.faithful import (
    answer_problem,
    clean_sentences,
    entity_problem,
    explanation_problem,
    question_problem,
)
from training.truthreader.histories import Histories
from training.truthreader.writer import PROMPTS, Writer

Row = Mapping[str, Any]
# Examples and languages that the paper prints.
TABLE_5 = {
    "synthesis": (387, "zh"),
    "single-document summary": (561, "zh, en"),
    "QA, created": (1482, "zh"),
    "QA, WebCPM": (897, "zh"),
    "QA, RefGPT": (3708, "zh, en"),
}
_NAMES = {"synthesis": "synthesis", "summary": "single-document summary", "fact": "QA, created"}
_NAMES |= {"webcpm": "QA, WebCPM", "refgpt": "QA, RefGPT"}


def counted(values: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(values).items()))


def row_counts(rows: Sequence[Row]) -> dict[str, Any]:
    """Count rows by kind, source, language, history and change, with their refusals and citations."""
    refusals, labels = [row for row in rows if row["is_refusal"]], sum(len(row["cited"]) for row in rows)
    answered = len(rows) - len(refusals)
    return {
        "rows": len(rows),
        "refusals": len(refusals),
        "refusal_share": round(len(refusals) / len(rows), 4) if rows else 0.0,
        "refusals_explained_by": counted(row["explained_by"] for row in refusals),
        "citations_per_answer": round(labels / answered, 2) if answered else 0.0,
        "kinds": counted(row["kind"] for row in rows),
        "sources": counted(row["source"] for row in rows),
        "languages": counted(row["language"] for row in rows),
        "histories": counted(row["history_type"] for row in rows),
        "changes": counted(row["change"] for row in rows),
        "table_5": table_5(rows),
    }


def table_5(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Count rows and, among them, unchanged examples by language, for each line of the paper's table."""
    table = []
    for name, (printed, languages) in TABLE_5.items():
        own = [
            row
            for row in rows
            if _NAMES[row["kind"] if row["source"] == "documents" else row["source"]] == name
        ]
        unchanged = counted(row["language"] for row in own if row["change"] == "shuffled")
        line = {"data": name, "examples": unchanged, "rows": len(own)}
        table.append({**line, "paper": printed, "paper_languages": languages})
    return table


def render_table_5(table: Sequence[Mapping[str, Any]]) -> str:
    """Return the table as text."""
    lines = [f"{'data':<26}{'examples':<20}{'with copies':>12}   TruthReader, Table 5"]
    for line in table:
        here = ", ".join(f"{count} {language}" for language, count in line["examples"].items()) or "0"
        paper = f"{line['paper']:,} ({line['paper_languages']})"
        lines.append(f"{line['data']:<26}{here:<20}{line['rows']:>12}   {paper}")
    return "\n".join(lines)


WORDINGS: dict[str, dict[str, list[str]]] = tomllib.loads(
    (PROMPTS / "refusals.toml").read_text(encoding="utf-8")
)
SEEDS: list[str] = tomllib.loads(Path(__file__).with_name("instructions.toml").read_text(encoding="utf-8"))[
    "seeds"
]
SEEDS_SHOWN = 3
SAME_INSTRUCTION = 70  # ROUGE-L from which an instruction repeats an earlier one
FEWEST_WORDS = 30
SUMMARY_PASSAGES = 5
SYNTHESIS_PAPERS, FEWEST_SYNTHESISED = 3, 2
TITLES, LONGEST_TITLE = 3, 80
# Shares: of rows that are refusals, of answers that are followed up, and of those with a changed copy.
REFUSALS, FOLLOWED, REPLACED, OMITTED = 0.1, 0.5, 0.5, 0.5


@dataclass(frozen=True, slots=True)
class DataPlan:
    """The options of a run: at most `limit` passages are asked about, prompts fit into `context` tokens."""

    attribution: AttributionMethod = "score"
    limit: int | None = None
    context: int = 4096
    seed: int = 0


class Construction:
    """Makes rows of documents and dialogues with a model's help; keeps what is dropped, with the reason."""

    def __init__(
        self,
        documents: Sequence[SourceDocument],
        dialogues: Sequence[Dialogue],
        *,
        model: CachedModel,
        parameters: Parameters,
        encoder: Encoder,
        plan: DataPlan,
    ) -> None:
        self._passages = list(filter(_can_be_asked_about, (text for _, found in documents for text in found)))
        quoted = [document for dialogue in dialogues for document in dialogue.documents]
        papers = {paper.id: paper for paper, _ in (*documents, *quoted)}
        texts = (passage for dialogue in dialogues for passage in dialogue.passages)
        self._library = Library(papers, (*self._passages, *filter(_can_be_asked_about, texts)))
        self._dialogues, self._encoder = dialogues, encoder
        self._writer = Writer(model, parameters, self._library)
        self._attribute = self._writer.attribute if plan.attribution == "model" else labels_by_score
        self._limit, self._context, self._seed = plan.limit, plan.context, plan.seed
        self._questions: set[tuple[str, ...]] = set()
        self._instructions = list(SEEDS)
        self.rows: list[dict[str, Any]] = []
        self.dropped: list[dict[str, str]] = []

    def run(self) -> None:
        """Make the rows; raises ModelError."""
        kept = list(self._faithful(self._written()))
        kept += list(self._faithful(self._followed(kept)))
        kept += list(self._faithful(self._published()))
        made = list(self._in_dialogues(list(self._cited(kept))))
        made += list(self._changed(made))
        made += list(self._refused(made))
        self.rows = [row for example in self._explained(made) if (row := self._rendered(example))]

    def _drop(self, pair: Pair, step: str, reason: str, detail: str = "") -> None:
        dropped = {"id": pair.id, "step": step, "reason": reason}
        self.dropped.append({**dropped, "question": pair.question, "detail": detail})

    def _chance(self, example: Example, purpose: str) -> random.Random:
        return random.Random(f"{self._seed} {example.pair.id} {example.change} {purpose}")

    def _written(self) -> Iterator[Pair]:
        """Ask about drawn passages, then for a summary and a synthesis of each document that has one."""
        passages, of_paper = self._passages, group_by(self._passages, "paper_id")
        chosen: Sequence[Passage] = passages
        if self._limit is not None and len(passages) > self._limit:
            drawn = random.Random(self._seed).sample(range(len(passages)), self._limit)
            chosen = [passages[index] for index in sorted(drawn)]
        for place, passage in enumerate(chosen, start=1):
            yield from self._ask(passage.id, "fact", (passage,))
            say(f"passage {place} of {len(chosen)}")
        for paper in dict.fromkeys(passage.paper_id for passage in chosen):
            own = of_paper[paper]
            if len(own) > 1:
                yield from self._ask(f"{paper}:summary", "summary", tuple(own[:SUMMARY_PASSAGES]))
            yield from self._synthesised(f"{paper}:synthesis", own[0])
            say(f"document {paper}")

    def _followed(self, pairs: Sequence[Pair]) -> Iterator[Pair]:
        """Ask what comes after a share of the facts."""
        for pair in pairs:
            chance = random.Random(f"{self._seed} {pair.id} followed")
            if pair.kind == "fact" and chance.random() < FOLLOWED:
                yield from self._ask(f"{pair.id}:next", "fact", pair.shown, pair)

    def _published(self) -> Iterator[Pair]:
        """Yield the turns of published dialogues whose questions can be asked."""
        for dialogue in self._dialogues:
            if not dialogue.turns:
                lost = {"step": "dialogues", "reason": "no turns of question and answer"}
                self.dropped.append({"id": dialogue.id, **lost})
            yield from filter(self._can_ask, dialogue.pairs())

    def _ask(
        self, identifier: str, kind: Kind, shown: tuple[Passage, ...], leans_on: Pair | None = None
    ) -> Iterator[Pair]:
        """Have the model ask what passages answer, or what comes after `leans_on`, and answer it."""
        for place, request in enumerate(
            self._requests(identifier, lambda: self._writer.ask(kind, shown, leans_on)), start=1
        ):
            pair = Pair(f"{identifier}:{place}", kind, request, "", shown, leans_on)
            if self._can_ask(pair):
                yield self._answered(pair)

    def _synthesised(self, identifier: str, passage: Passage) -> Iterator[Pair]:
        """Have the model propose an instruction and follow it (Self-Instruct; TruthReader, section 4.2.1).

        The proposal sees three seeds and papers near the passage, the answer what the instruction retrieves.
        """
        near = self._of_papers(passage.text)
        if len(near) < FEWEST_SYNTHESISED:
            return
        seeds = draw(SEEDS, SEEDS_SHOWN, f"{self._seed} {identifier}")
        for request in self._requests(identifier, lambda: self._writer.propose_instruction(seeds, near)):
            pair = Pair(f"{identifier}:1", "synthesis", request, "", self._of_papers(request))
            if len(pair.shown) < FEWEST_SYNTHESISED:
                self._drop(pair, "asking", "too few papers found for the instruction")
            elif any(overlaps(known, request)["rougeL"] > SAME_INSTRUCTION for known in self._instructions):
                self._drop(pair, "asking", "instruction like an earlier one")
            elif self._can_ask(pair):
                self._instructions.append(request)
                yield self._answered(pair)

    def _of_papers(self, text: str) -> tuple[Passage, ...]:
        """Return the nearest passage of each of the papers nearest to a text."""
        nearest: dict[str, Passage] = {}
        for passage in self._library.nearest(text):
            nearest.setdefault(passage.paper_id, passage)
        return tuple(nearest.values())[:SYNTHESIS_PAPERS]

    def _requests(self, identifier: str, ask: Callable[[], list[str]]) -> list[str]:
        """Return the requests of `ask`; a reply that cannot be used is dropped."""
        try:
            requests = ask()
        except BadReplyError as error:
            problem = {"reason": "malformed reply", "detail": str(error)}
            self.dropped.append({"id": identifier, "step": "asking", **problem})
            return []
        if not requests:
            self.dropped.append({"id": identifier, "step": "asking", "reason": "nothing to ask"})
        return requests

    def _can_ask(self, pair: Pair) -> bool:
        """Tell whether a question can be asked; one that cannot is dropped."""
        if problem := question_problem(pair, self._questions):
            self._drop(pair, "filtering", problem)
            return False
        self._questions.add(tuple(words(pair.question)))
        return True

    def _answered(self, pair: Pair) -> Pair:
        return replace(pair, answer=self._writer.answer(pair.kind, pair.question, pair.shown, pair.leans_on))

    def _faithful(self, pairs: Iterable[Pair]) -> Iterator[Pair]:
        """Yield the pairs whose answers their passages carry."""
        for pair in pairs:
            evidence = "\n".join(passage.text for passage in pair.shown)
            if problem := answer_problem(pair, clean_sentences(pair.answer), evidence):
                self._drop(pair, "filtering", problem, pair.answer)
            else:
                yield pair

    def _cited(self, pairs: Sequence[Pair]) -> Iterator[Example]:
        for place, pair in enumerate(pairs, start=1):
            say(f"citations of answer {place} of {len(pairs)}")
            if found := self._library.gather(pair, clean_sentences(pair.answer), self._attribute):
                yield found
            else:
                self._drop(pair, "citing", "a sentence that nothing carries", pair.answer)

    def _in_dialogues(self, made: Sequence[Example]) -> Iterator[Example]:
        """Yield the examples with earlier turns, their papers shuffled."""
        histories = Histories(made, self._encoder)
        for example in made:
            if told := histories.extend(example, self._chance(example, "history")):
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
                yield examples.omitted(example, chance.choice(example.cited), self._attribute)

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

    def _explained(self, made: Sequence[Example]) -> Iterator[Example]:
        """Yield the examples, refusals with the model's explanation where that can be used."""
        for example in made:
            if example.sentences:
                yield example
                continue
            question = example.pair.question
            written = clean_sentences(self._writer.explain_refusal(question, example.evidence))
            problem = explanation_problem(written, question, render_evidence(example.evidence))
            if problem:
                self._drop(example.pair, "explaining", problem, " ".join(written))
            yield example if problem else replace(example, explanation=" ".join(written))

    def _rendered(self, example: Example) -> dict[str, Any] | None:
        """Return an example as the product's messages and the reply."""
        if (messages := _sent(example, self._context, self._encoder)) is None:
            self._drop(example.pair, "rendering", "too long for the context")
            return None
        reply = answer_text(example, self._chance(example, "reply"))
        return {
            "id": f"{example.pair.id}:{example.change}",
            "kind": example.pair.kind,
            "source": example.pair.source,
            "language": foreign_language(example.pair.question) or "en",
            "history_type": example.history_type,
            "change": example.change,
            "is_refusal": not example.sentences,
            "explained_by": "" if example.sentences else "model" if example.explanation else "wording",
            "cited": example.cited,
            "papers": [paper.paper.id for paper in example.evidence.papers],
            "messages": [asdict(message) for message in (*messages, Message("assistant", reply))],
        }

    def write(self, out: Path, about: Mapping[str, object]) -> Mapping[str, Any]:
        """Write what was dropped, the statistics and, last, the rows; return the statistics."""

        def lines(records: Iterable[Mapping[str, Any]]) -> str:
            return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)

        rows, dropped = self.rows, self.dropped
        reasons = counted(f"{lost['step']}: {lost['reason']}" for lost in dropped)
        counts = {**about, **row_counts(rows), "dropped": len(dropped), "dropped_reasons": reasons}
        with saving(out):
            out.parent.mkdir(parents=True, exist_ok=True)
            write_durably(out.with_suffix(".dropped.jsonl"), lines(dropped))
            write_durably(out.with_suffix(".statistics.json"), as_json(counts))
            write_durably(out, lines(rows))
        return counts


def _can_be_asked_about(passage: Passage) -> bool:
    """Tell whether a passage is running text of some length."""
    return passage.kind in ("abstract", "body") and len(words(passage.text)) >= FEWEST_WORDS


def answer_text(example: Example, chance: random.Random) -> str:
    """Return the reply: the cited answer, or the line that the product reads as a refusal."""
    if example.sentences:
        open_end = f" {_wording('open', example, chance)}" if example.is_partial else ""
        return examples.written(example.sentences) + open_end
    if example.explanation:
        return f"{NO_ANSWER} {example.explanation}"
    titles = [shortened(as_line(paper.paper.title), LONGEST_TITLE) for paper in example.evidence.papers]
    named = ", ".join(f"“{title}”" for title in titles[:TITLES])
    rest = " and other papers" if len(titles) > TITLES else ""
    reason = Template(_wording("reasons", example, chance)).substitute(titles=f"{named}{rest}")
    return f"{NO_ANSWER} {reason}"


def _wording(name: str, example: Example, chance: random.Random) -> str:
    """Return a fixed sentence in the language of the question, in English where there is none."""
    by_language = WORDINGS[name]
    return chance.choice(by_language.get(foreign_language(example.pair.question), by_language["en"]))


class _Silent:
    """A model that writes nothing: only the messages for it are wanted."""

    id = label = "the model in training"

    def stream(self, *_: object) -> Generator[str, None, Completion]:
        yield ""
        return Completion("")


def _sent(example: Example, context: int, encoder: Encoder) -> tuple[Message, ...] | None:
    """Return the messages that the product sends, None where it would leave a passage out."""
    papers, question, log = example.evidence.papers, example.pair.question, CallLog()
    # A summary is asked of its one paper, everything else of the whole corpus.
    is_of_paper = example.pair.kind == "summary" and len(papers) == 1
    scope = Scope(papers=(papers[0].paper.id,)) if is_of_paper else Scope()
    plan = plan_of(Rewrite(question, question, kind=request_kind(question, scope)))
    found = RankedEvidence(plan, example.evidence, encoder)
    generator = PromptedGenerator(cast(ChatModel, _Silent()), context=context, order=by_rank)
    try:
        for _ in generator.write_draft(found, tuple(map(_as_turn, example.history)), log):
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
