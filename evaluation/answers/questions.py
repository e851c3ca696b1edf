"""Questions written beforehand, asked as readers ask them: answers, refusals and citations, counted.

These counts do not say whether an answer is right: people judge that from the answers written out.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

from assistant.generators.protocol import EXTRACTIVE
from assistant.records import AssistantError, Conversation, Turn
from assistant.trail.transcript import to_json
from corpus.records import Scope
from corpus.store.corpus import Corpus
from evaluation.answers.asking import AskedQuestion, ask, open_assistant
from evaluation.harness import Figures, Report, command, share, table
from evaluation.input_files import DATA, EvaluationError, read_numbered_json_lines, write_text

QUESTIONS = DATA / "questions.jsonl"
QuestionKind = Literal["list", "paper", "definition", "fact", "comparison", "how", "overview"]
Part = Literal["dev", "kept"]
_HINT = "Each line has id, question, expect (answer or refuse) and expected_papers; see evaluation/README.md."


class ScopedQuestion(BaseModel):
    """A question asked of one paper, one collection, or everything."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = Field(min_length=1)
    question: str = Field(min_length=1)
    paper: str | None = None
    collection: str | None = None

    @property
    def scope(self) -> Scope:
        return Scope(
            collections=(self.collection,) if self.collection else (),
            papers=(self.paper,) if self.paper else (),
        )


class WrittenQuestion(ScopedQuestion):
    """A question that should be answered or refused.

    `history` has the earlier questions, the oldest first. Each of `expected_papers` answers it, or a part of
    it. `corpus` names the corpus that it was written for.
    """

    history: tuple[str, ...] = ()
    expect: Literal["answer", "refuse"]
    expected_papers: tuple[str, ...]
    kind: QuestionKind | None = None
    part: Part | None = None
    corpus: str = ""

    @property
    def papers_named(self) -> tuple[str, ...]:
        return (*self.expected_papers, self.paper) if self.paper else self.expected_papers


Numbered = tuple[int, WrittenQuestion]
_Judged = tuple[WrittenQuestion, Figures]


def read_questions(data: Path, part: Part | None = None, corpus: str | None = None) -> list[Numbered]:
    """Read the questions of a part and a corpus with their line numbers; raises EvaluationError."""
    rows = read_numbered_json_lines(data, WrittenQuestion, _HINT)
    known: set[str] = set()
    for number, row in rows:
        if row.id in known:
            raise EvaluationError(f"{data}, line {number}: id: {row.id!r} stands in an earlier line too.")
        known.add(row.id)
    chosen = [
        (number, row) for number, row in rows if part in (None, row.part) and corpus in (None, row.corpus)
    ]
    if not chosen:
        raise EvaluationError(f"None of the questions of {data} is of the part and corpus chosen.")
    return chosen


def _check_held(data: Path, rows: Sequence[Numbered], corpus: Corpus) -> None:
    """Raise EvaluationError where a question names a paper or collection that the corpus lacks."""
    collections = corpus.collection_ids()
    named = {paper for _, row in rows for paper in row.papers_named}
    held = {paper.id for paper in corpus.papers_by_id(tuple(named))}
    for number, row in rows:
        lacking = [f"collection {row.collection!r}"] if row.collection not in (None, *collections) else []
        lacking += [f"paper {paper!r}" for paper in row.papers_named if paper not in held]
        if lacking:
            raise EvaluationError(
                f"{data}, line {number}: the corpus has no {lacking[0]}. "
                "Ask of another home, or choose the questions of this one by --corpus-name."
            )


def _ask_all(
    data: Path, rows: Sequence[Numbered], home: Path, generator: str, out: Path | None, trails: Path | None
) -> Iterator[_Judged]:
    """Yield the outcome of each question, written down before the next one is asked."""
    assistant = open_assistant(home, generator)
    _check_held(data, rows, assistant.corpus)
    written = ""
    for number, row in rows:
        turns: tuple[Turn, ...] = ()
        try:
            for question in (*row.history, row.question):
                asked = ask(assistant, question, turns, row.scope)
                turns = (*turns, asked.turn)
        except AssistantError as error:
            raise EvaluationError(f"{data}, line {number}: {error}") from error
        outcome = _outcome(row, asked)
        written += json.dumps(outcome, ensure_ascii=False) + "\n"
        if out:
            write_text(out, written)
        if trails:
            conversation = Conversation(f"line-{number}", row.question, turns)
            write_text(trails / f"{conversation.id}.json", to_json(conversation))
        yield row, outcome


def _outcome(row: WrittenQuestion, asked: AskedQuestion) -> Figures:
    """Describe an answer for a person to judge.

    "found" are the ids of papers, best first, "cited" in the order of the text; "support" is per sentence.
    """
    turn, answer = asked.turn, asked.turn.answer
    return {
        "id": row.id,
        "question": row.question,
        "text": answer.text,
        "kind": turn.rewrite.kind,
        "search_query": turn.rewrite.search_query,
        "found": asked.found,
        "cited": [labelled.paper.id for labelled in turn.cited_papers],
        "relevance": answer.relevance,
        "citation_recall": answer.citation_recall,
        "citation_precision": answer.citation_precision,
        "support": [sentence.support for sentence in answer.sentences],
        "refusal_reason": answer.refusal.reason if answer.refusal else None,
        "refusal": answer.refusal.message if answer.refusal else None,
        "seconds": round(asked.seconds, 3),
    }


def _counts(judged: Sequence[_Judged]) -> dict[str, int]:
    """Count questions; `expecting` are answerable with expected papers, `given` are all answers."""
    answerable = [(row, outcome) for row, outcome in judged if row.expect == "answer"]
    refused = [outcome["refusal_reason"] is not None for row, outcome in judged if row.expect == "refuse"]
    expecting = [(set(row.expected_papers), outcome) for row, outcome in answerable if row.expected_papers]
    given = [outcome for _, outcome in judged if outcome["refusal_reason"] is None]
    return {
        "answerable": len(answerable),
        "answered": sum(outcome["refusal_reason"] is None for _, outcome in answerable),
        "unanswerable": len(refused),
        "refused": sum(refused),
        "expecting": len(expecting),
        "found": sum(not papers.isdisjoint(outcome["found"]) for papers, outcome in expecting),
        "cited": sum(not papers.isdisjoint(outcome["cited"]) for papers, outcome in expecting),
        "given": len(given),
        "best_cited": sum(outcome["found"][0] in outcome["cited"] for outcome in given),
    }


# Shares of the JSON line, and columns of the table: a count and the count that it is of.
_SHARES = {
    "answered": ("answered", "answerable"),
    "expected_found": ("found", "expecting"),
    "expected_cited": ("cited", "expecting"),
    "refused_rightly": ("refused", "unanswerable"),
    "best_cited": ("best_cited", "given"),
}


@command("questions")
def questions(
    corpus: Path,
    *,
    data: Path = QUESTIONS,
    out_file: Path | None = None,
    part: Part | None = None,
    corpus_name: str | None = None,
    trails: Path | None = None,
    generator: str = EXTRACTIVE,
) -> Report:
    rows = read_questions(data, part, corpus_name)
    judged = list(_ask_all(data, rows, corpus, generator, out_file, trails))
    kinds = {kind: [(row, got) for row, got in judged if row.kind == kind] for kind in get_args(QuestionKind)}
    by_kind = {kind: _counts(own) for kind, own in kinds.items() if own}
    counts = _counts(judged)
    figures = {
        "questions": len(judged),
        **{name: share(counts[part], counts[whole]) for name, (part, whole) in _SHARES.items()},
        "refused_wrongly": share(counts["answerable"] - counts["answered"], counts["answerable"]),
        "seconds_median": median(outcome["seconds"] for _, outcome in judged),
        "counts": counts,
        "kinds": by_kind,
    }
    shown = [
        (name, *(f"{own[part]} of {own[whole]}" for part, whole in _SHARES.values()))
        for name, own in {**by_kind, "all": counts}.items()
    ]
    title = f"{figures['questions']} questions, {figures['seconds_median']:.2f} s in the median"
    head = ("Kind", "Answered", "Found", "Cited", "Refused", "First cited")
    return Report(figures, [table(head, shown, title=title)])
