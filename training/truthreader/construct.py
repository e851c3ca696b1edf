"""Constructs the training rows: a model writes questions and answers, which are filtered, cited and rendered.

Random choices are seeded by the run's seed and the example's id: a reply does not affect other examples, and
a resumed run makes the same rows as an uninterrupted one.
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
    LEAST_SUPPORT,
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
# The numbers of examples and the languages that the paper prints.
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
    """Count rows and, by language, unchanged examples for each line of the paper's table."""
    table = []
    for name, (printed, languages) in TABLE_5.items():
        line_rows = [
            row
            for row in rows
            if _NAMES[row["kind"] if row["source"] == "documents" else row["source"]] == name
        ]
        unchanged = counted(row["language"] for row in line_rows if row["change"] == "shuffled")
        line = {"data": name, "examples": unchanged, "rows": len(line_rows)}
        table.append({**line, "paper": printed, "paper_languages": languages})
    return table


def render_table_5(table: Sequence[Mapping[str, Any]]) -> str:
    lines = [f"{'data':<26}{'examples':<20}{'with copies':>12}   TruthReader, Table 5"]
    for line in table:
        examples = ", ".join(f"{count} {language}" for language, count in line["examples"].items()) or "0"
        paper = f"{line['paper']:,} ({line['paper_languages']})"
        lines.append(f"{line['data']:<26}{examples:<20}{line['rows']:>12}   {paper}")
    return "\n".join(lines)


WORDINGS: dict[str, dict[str, list[str]]] = tomllib.loads(
    (PROMPTS / "refusals.toml").read_text(encoding="utf-8")
)
SEEDS: list[str] = tomllib.loads(Path(__file__).with_name("instructions.toml").read_text(encoding="utf-8"))[
    "seeds"
]
SEEDS_SHOWN = 3
SAME_INSTRUCTION = 70  # ROUGE-L above which an instruction counts as a repetition of an earlier one
FEWEST_WORDS = 30
SUMMARY_PASSAGES = 5
SYNTHESIS_PAPERS, FEWEST_SYNTHESISED = 3, 2
TITLES, LONGEST_TITLE = 3, 80
# The share of refusals among rows, and the probabilities of a follow-up question and of two changed copies.
REFUSALS, FOLLOWED, REPLACED, OMITTED = 0.1, 0.5, 0.5, 0.5


@dataclass(frozen=True, slots=True)
class DataPlan:
    """The options of a run: questions on at most `limit` passages, prompts of at most `context` tokens."""

    attribution: AttributionMethod = "score"
    limit: int | None = None
    context: int = 4096
    seed: int = 0


class Construction:
    """Makes rows from documents and dialogues with a model; lists what it drops, with the reason."""

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
        self._passages = [passage for _, passages in documents for passage in passages if _is_usable(passage)]
        dialogue_documents = [document for dialogue in dialogues for document in dialogue.documents]
        papers = {paper.id: paper for paper, _ in (*documents, *dialogue_documents)}
        dialogue_passages = (passage for dialogue in dialogues for passage in dialogue.passages)
        self._library = Library(papers, (*self._passages, *filter(_is_usable, dialogue_passages)))
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
        pairs = list(self._filter_unfaithful(self._write_pairs()))
        pairs += list(self._filter_unfaithful(self._write_follow_ups(pairs)))
        pairs += list(self._filter_unfaithful(self._published_pairs()))
        made = list(self._add_histories(list(self._cite(pairs))))
        made += list(self._changed_copies(made))
        made += list(self._make_refusals(made))
        self.rows = [row for example in self._explain_refusals(made) if (row := self._render(example))]

    def _drop(self, pair: Pair, step: str, reason: str, detail: str = "") -> None:
        dropped = {"id": pair.id, "step": step, "reason": reason}
        self.dropped.append({**dropped, "question": pair.question, "detail": detail})

    def _generator(self, example: Example, purpose: str) -> random.Random:
        return random.Random(f"{self._seed} {example.pair.id} {example.change} {purpose}")

    def _write_pairs(self) -> Iterator[Pair]:
        """Ask about passages, all or drawn ones, then for a summary and a synthesis of each document."""
        passages, by_paper = self._passages, group_by(self._passages, "paper_id")
        chosen: Sequence[Passage] = passages
        if self._limit is not None and len(passages) > self._limit:
            indices = random.Random(self._seed).sample(range(len(passages)), self._limit)
            chosen = [passages[index] for index in sorted(indices)]
        for position, passage in enumerate(chosen, start=1):
            yield from self._ask(passage.id, "fact", (passage,))
            say(f"passage {position} of {len(chosen)}")
        for paper in dict.fromkeys(passage.paper_id for passage in chosen):
            paper_passages = by_paper[paper]
            if len(paper_passages) > 1:
                yield from self._ask(f"{paper}:summary", "summary", tuple(paper_passages[:SUMMARY_PASSAGES]))
            yield from self._synthesise(f"{paper}:synthesis", paper_passages[0])
            say(f"document {paper}")

    def _write_follow_ups(self, pairs: Sequence[Pair]) -> Iterator[Pair]:
        """Ask a follow-up question to a share of the facts."""
        for pair in pairs:
            generator = random.Random(f"{self._seed} {pair.id} followed")
            if pair.kind == "fact" and generator.random() < FOLLOWED:
                yield from self._ask(f"{pair.id}:next", "fact", pair.passages, pair)

    def _published_pairs(self) -> Iterator[Pair]:
        """Yield the turns of published dialogues whose questions are usable."""
        for dialogue in self._dialogues:
            if not dialogue.turns:
                problem = {"step": "dialogues", "reason": "no turns of question and answer"}
                self.dropped.append({"id": dialogue.id, **problem})
            yield from filter(self._accept_question, dialogue.pairs())

    def _ask(
        self, identifier: str, kind: Kind, passages: tuple[Passage, ...], follows: Pair | None = None
    ) -> Iterator[Pair]:
        """Have the model write questions that passages answer, or that follow up a pair, and the answers."""
        for number, request in enumerate(
            self._requests(identifier, lambda: self._writer.ask(kind, passages, follows)), start=1
        ):
            pair = Pair(f"{identifier}:{number}", kind, request, "", passages, follows)
            if self._accept_question(pair):
                yield self._with_answer(pair)

    def _synthesise(self, identifier: str, passage: Passage) -> Iterator[Pair]:
        """Have the model propose an instruction and follow it (Self-Instruct; TruthReader, section 4.2.1).

        It proposes the instruction from three seeds and the papers nearest to the passage, and follows it
        with the papers that the instruction retrieves.
        """
        near = self._nearest_papers(passage.text)
        if len(near) < FEWEST_SYNTHESISED:
            return
        seeds = draw(SEEDS, SEEDS_SHOWN, f"{self._seed} {identifier}")
        for request in self._requests(identifier, lambda: self._writer.propose_instruction(seeds, near)):
            pair = Pair(f"{identifier}:1", "synthesis", request, "", self._nearest_papers(request))
            if len(pair.passages) < FEWEST_SYNTHESISED:
                self._drop(pair, "asking", "too few papers found for the instruction")
            elif any(overlaps(known, request)["rougeL"] > SAME_INSTRUCTION for known in self._instructions):
                self._drop(pair, "asking", "instruction like an earlier one")
            elif self._accept_question(pair):
                self._instructions.append(request)
                yield self._with_answer(pair)

    def _nearest_papers(self, text: str) -> tuple[Passage, ...]:
        """Return the papers nearest to a text, each as its nearest passage."""
        nearest: dict[str, Passage] = {}
        for passage in self._library.nearest(text):
            nearest.setdefault(passage.paper_id, passage)
        return tuple(nearest.values())[:SYNTHESIS_PAPERS]

    def _requests(self, identifier: str, ask: Callable[[], list[str]]) -> list[str]:
        """Return the requests that `ask` returns; an unusable reply is listed as dropped."""
        try:
            requests = ask()
        except BadReplyError as error:
            problem = {"reason": "malformed reply", "detail": str(error)}
            self.dropped.append({"id": identifier, "step": "asking", **problem})
            return []
        if not requests:
            self.dropped.append({"id": identifier, "step": "asking", "reason": "nothing to ask"})
        return requests

    def _accept_question(self, pair: Pair) -> bool:
        """Return True if a question is usable; otherwise list it as dropped."""
        if problem := question_problem(pair, self._questions):
            self._drop(pair, "filtering", problem)
            return False
        self._questions.add(tuple(words(pair.question)))
        return True

    def _with_answer(self, pair: Pair) -> Pair:
        answer = self._writer.answer(pair.kind, pair.question, pair.passages, pair.follows)
        return replace(pair, answer=answer)

    def _filter_unfaithful(self, pairs: Iterable[Pair]) -> Iterator[Pair]:
        """Yield the pairs whose answers are supported by their passages."""
        for pair in pairs:
            evidence = "\n".join(passage.text for passage in pair.passages)
            if problem := answer_problem(pair, clean_sentences(pair.answer), evidence):
                self._drop(pair, "filtering", problem, pair.answer)
            else:
                yield pair

    def _cite(self, pairs: Sequence[Pair]) -> Iterator[Example]:
        for number, pair in enumerate(pairs, start=1):
            say(f"citations of answer {number} of {len(pairs)}")
            if example := self._library.make_example(pair, clean_sentences(pair.answer), self._attribute):
                yield example
            else:
                self._drop(pair, "citing", "a sentence that nothing carries", pair.answer)

    def _add_histories(self, made: Sequence[Example]) -> Iterator[Example]:
        """Yield the examples with earlier turns, their papers shuffled."""
        histories = Histories(made, self._encoder)
        for example in made:
            if extended := histories.extend(example, self._generator(example, "history")):
                yield examples.shuffle_papers(extended, self._generator(example, "order"))
            else:
                self._drop(example.pair, "dialogues", "what it leans on is gone")

    def _changed_copies(self, made: Sequence[Example]) -> Iterator[Example]:
        """Yield copies with other uncited papers, and copies without one of several cited papers."""
        for example in made:
            generator = self._generator(example, "changed")
            if generator.random() < REPLACED:
                copy = self._library.replace_uncited(example, generator)
                if copy != example:
                    yield examples.shuffle_papers(copy, generator)
            if len(example.cited) > 1 and generator.random() < OMITTED:
                yield examples.omit_paper(example, generator.choice(example.cited), self._attribute)

    def _make_refusals(self, made: Sequence[Example]) -> Iterator[Example]:
        """Yield questions with evidence that does not answer them, up to the share of refusals."""
        answered = sum(bool(example.sentences) for example in made)
        missing = round(answered * REFUSALS / (1 - REFUSALS)) - (len(made) - answered)
        facts = [example for example in made if example.pair.kind == "fact" and example.change == "shuffled"]
        for example in random.Random(f"{self._seed} refused").sample(facts, len(facts)):
            if missing <= 0:
                return
            sentences = clean_sentences(example.pair.answer)

            def answers(passage: Passage, sentences: Sequence[str] = sentences) -> bool:
                return any(
                    score_attribution(sentence, passage.text) >= LEAST_SUPPORT
                    and not entity_problem((sentence,), passage.text)
                    for sentence in sentences
                )

            if refusal := self._library.make_unanswerable(example.pair, answers):
                extended = replace(refusal, history=example.history, history_type=example.history_type)
                yield examples.shuffle_papers(extended, self._generator(example, "refused"))
                missing -= 1
            else:
                self._drop(example.pair, "refusals", "related passages answer it too")

    def _explain_refusals(self, made: Sequence[Example]) -> Iterator[Example]:
        """Yield the examples; a refusal gets the model's explanation if it is usable."""
        for example in made:
            if example.sentences:
                yield example
                continue
            question = example.pair.question
            sentences = clean_sentences(self._writer.explain_refusal(question, example.evidence))
            problem = explanation_problem(sentences, question, render_evidence(example.evidence))
            if problem:
                self._drop(example.pair, "explaining", problem, " ".join(sentences))
            yield example if problem else replace(example, explanation=" ".join(sentences))

    def _render(self, example: Example) -> dict[str, Any] | None:
        """Return an example as a row with the product's messages and the reply; None if it is too long."""
        if (messages := _product_messages(example, self._context, self._encoder)) is None:
            self._drop(example.pair, "rendering", "too long for the context")
            return None
        reply = answer_text(example, self._generator(example, "reply"))
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
        """Write the dropped pairs, the statistics and, last, the rows; return the statistics."""

        def lines(records: Iterable[Mapping[str, Any]]) -> str:
            return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)

        rows, dropped = self.rows, self.dropped
        reasons = counted(f"{record['step']}: {record['reason']}" for record in dropped)
        counts = {**about, **row_counts(rows), "dropped": len(dropped), "dropped_reasons": reasons}
        with saving(out):
            out.parent.mkdir(parents=True, exist_ok=True)
            write_durably(out.with_suffix(".dropped.jsonl"), lines(dropped))
            write_durably(out.with_suffix(".statistics.json"), as_json(counts))
            write_durably(out, lines(rows))
        return counts


def _is_usable(passage: Passage) -> bool:
    """Return True if a passage is running text of at least `FEWEST_WORDS` words."""
    return passage.kind in ("abstract", "body") and len(words(passage.text)) >= FEWEST_WORDS


def answer_text(example: Example, generator: random.Random) -> str:
    """Return the reply: the cited answer, or a line that the product reads as a refusal."""
    if example.sentences:
        open_end = f" {_wording('open', example, generator)}" if example.is_partial else ""
        return examples.format_answer(example.sentences) + open_end
    if example.explanation:
        return f"{NO_ANSWER} {example.explanation}"
    titles = [shortened(as_line(paper.paper.title), LONGEST_TITLE) for paper in example.evidence.papers]
    listed = ", ".join(f"“{title}”" for title in titles[:TITLES])
    rest = " and other papers" if len(titles) > TITLES else ""
    reason = Template(_wording("reasons", example, generator)).substitute(titles=f"{listed}{rest}")
    return f"{NO_ANSWER} {reason}"


def _wording(name: str, example: Example, generator: random.Random) -> str:
    """Draw a fixed sentence in the language of the question, or in English if there is none."""
    by_language = WORDINGS[name]
    return generator.choice(by_language.get(foreign_language(example.pair.question), by_language["en"]))


class _SilentModel:
    """A model that writes nothing, used to get the messages that the product would send."""

    id = label = "the model in training"

    def stream(self, *_: object) -> Generator[str, None, Completion]:
        yield ""
        return Completion("")


def _product_messages(example: Example, context: int, encoder: Encoder) -> tuple[Message, ...] | None:
    """Return the messages that the product would send, None if it would leave out a passage."""
    papers, question, log = example.evidence.papers, example.pair.question, CallLog()
    # The scope of a summary is its paper, that of other questions the whole corpus.
    is_of_paper = example.pair.kind == "summary" and len(papers) == 1
    scope = Scope(papers=(papers[0].paper.id,)) if is_of_paper else Scope()
    plan = plan_of(Rewrite(question, question, kind=request_kind(question, scope)))
    evidence = RankedEvidence(plan, example.evidence, encoder)
    generator = PromptedGenerator(cast(ChatModel, _SilentModel()), context=context, order=by_rank)
    try:
        for _ in generator.write_draft(evidence, tuple(map(_as_turn, example.history)), log):
            pass
    except ModelError:
        return None
    return None if log.calls[-1].left_out else log.calls[-1].messages


def _as_turn(earlier: Example) -> Turn:
    """Return an earlier example as a turn, with the fields that prompts use."""
    rewrite = Rewrite(earlier.pair.question, earlier.pair.question)
    return Turn(
        question=earlier.pair.question,
        asked="",
        scope=Scope(),
        papers_wanted=len(earlier.evidence.papers),
        rewrite=rewrite,
        hits=(),
        evidence=earlier.evidence,
        answer=Answer(examples.format_answer(earlier.sentences)),
        calls=(),
        seconds=(),
        provenance=Provenance("", "", "", "", ()),
    )
