"""Questions asked as readers ask them: written beforehand, judged, and about cells of tables.

Counts of written questions do not say whether an answer is right: people judge that from the answers written
out. Judged questions have the places of the sentences that a language model judged to answer them.
"""

import json
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from statistics import median
from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

from assistant.chat import Assistant
from assistant.checking.scores.registry import SCORES
from assistant.generators.protocol import EXTRACTIVE
from assistant.questions.intent import request_kind
from assistant.questions.plan import as_read, plan_of
from assistant.ranking.evidence import RankedEvidence
from assistant.records import (
    AskOptions,
    AssistantError,
    Citation,
    Conversation,
    Rewrite,
    Turn,
)
from assistant.retrieve import retrieve
from assistant.trail.transcript import to_json
from corpus.records import Scope, parse_passage_id
from corpus.search.hybrid import DEFAULT_PAPERS
from corpus.store.corpus import Corpus
from evaluation.answers.asking import AskedQuestion, ask, open_assistant, open_homes
from evaluation.harness import Figures, Report, command, figures_table, share, table
from evaluation.input_files import (
    DATA,
    EvaluationError,
    named_folders,
    read_json_lines,
    read_numbered_json_lines,
    write_text,
)

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
        **{name: getattr(answer, name) for name in SCORES},
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


JUDGED = DATA / "judged.jsonl"
FULL, PART = 1.0, 0.5
MOST_WANTED = 6  # sentences that a full answer needs at most
_JUDGED_HINT = (
    "Each line has id, corpus, question, answerable and places of sentences; see evaluation/README.md."
)

# A paper's id, the number of a passage in it, the number of a sentence in that.
Place = tuple[str, int, int]


class JudgedQuestion(ScopedQuestion):
    """A question that can be read alone, and the sentences of the papers found for it that answer it.

    Of the sentences `seen`, those of `full` answer it, those of `part` belong to an answer, the others do
    not; those of `leaning` cannot be read alone. A place is "paper#passage:sentence", of `seen` a range of
    sentences. `corpus` names the corpus it was asked of.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", ignored_types=(cached_property,))

    corpus: str
    kind: QuestionKind
    answerable: bool
    full: tuple[str, ...]
    part: tuple[str, ...]
    leaning: tuple[str, ...]
    seen: tuple[str, ...]

    @cached_property
    def grades(self) -> dict[Place, float]:
        """The grade of each sentence seen: 1 answers fully, 0.5 in part, 0 not."""
        grades = dict.fromkeys(places(self.seen), 0.0)
        return grades | dict.fromkeys(places(self.part), PART) | dict.fromkeys(places(self.full), FULL)


def places(written: Sequence[str]) -> Iterator[Place]:
    """Yield the places that are written as "paper#passage:sentence" or "paper#passage:first-last"."""
    for text in written:
        paper, _, rest = text.rpartition("#")
        passage, _, sentences = rest.partition(":")
        first, _, last = sentences.partition("-")
        for sentence in range(int(first), int(last or first) + 1):
            yield paper, int(passage), sentence


def place_of(citation: Citation) -> Place:
    """Return the place that a citation leads to; sentence -1 for a whole passage."""
    paper, number = parse_passage_id(citation.passage_id)
    return paper, number, -1 if citation.sentence is None else citation.sentence


def read_judged(path: Path = JUDGED) -> list[JudgedQuestion]:
    """Read the questions of a file; raises EvaluationError."""
    return read_json_lines(path, JudgedQuestion, _JUDGED_HINT)


def find(question: JudgedQuestion, assistant: Assistant) -> RankedEvidence:
    """Gather the evidence that a writer would be given for a question, even if it would be refused."""
    kind = request_kind(question.question, question.scope)
    rewrite = as_read(assistant.corpus, Rewrite(question.question, question.question, kind=kind))
    options = AskOptions(question.scope, DEFAULT_PAPERS)
    papers = retrieve(assistant.corpus, assistant.encoder, rewrite, options)
    return assistant.gather(plan_of(rewrite), papers, options)


# A question asked, the grade of each sentence of its answer (0 where nobody judged it), and refusal.
JudgedOutcome = tuple[JudgedQuestion, tuple[float, ...], bool]


def counts_of(outcomes: Sequence[JudgedOutcome]) -> Figures:
    """Count questions and, of answers to answerable questions, compute shares.

    `first_full`: the first sentence answers fully; `any_full`: a sentence does; `beside`: none answers at
    all; `clean`: one answers fully and none is beside the point. `full_cited` is of the sentences that answer
    fully.
    """
    can = [outcome for outcome in outcomes if outcome[0].answerable]
    refusals = [is_refused for question, _, is_refused in outcomes if not question.answerable]
    given = [grades for _, grades, is_refused in can if not is_refused]
    sentences = [grade for grades in given for grade in grades]
    wanted = sum(min(MOST_WANTED, len(question.full)) for question, *_ in can)
    most = max(1, len(can))
    return {
        "answerable": len(can),
        "unanswerable": len(refusals),
        "refused_wrongly": sum(is_refused for *_, is_refused in can),
        "refused_rightly": sum(refusals),
        "first_full": sum(grades[:1] == (FULL,) for grades in given) / most,
        "any_full": sum(FULL in grades for grades in given) / most,
        "beside": sum(not any(grades) for grades in given) / most,
        "clean": sum(FULL in grades and 0.0 not in grades for grades in given) / most,
        "sentences_beside": sum(not grade for grade in sentences) / max(1, len(sentences)),
        "full_cited": sum(min(MOST_WANTED, grades.count(FULL)) for grades in given) / max(1, wanted),
    }


@command("judged")
def judged(home: list[str], data: Path = JUDGED) -> Report:
    by_kind: dict[str, list[JudgedOutcome]] = {}
    for question, assistant in open_homes(read_judged(data), named_folders(home)):
        asked = ask(assistant, question.question, (), question.scope)
        grades = tuple(
            max((question.grades.get(place_of(cited), 0.0) for cited in sentence.citations), default=0.0)
            for sentence in asked.turn.answer.sentences
        )
        outcome = (question, grades, asked.is_refused)
        by_kind.setdefault(asked.turn.rewrite.kind, []).append(outcome)
    rows: dict[str, Figures] = {kind: counts_of(by_kind[kind]) for kind in sorted(by_kind)}
    figures = counts_of([outcome for own in by_kind.values() for outcome in own])
    keys = ("answerable", "refused_wrongly", "unanswerable", "refused_rightly", "first_full", "any_full")
    columns = {key: key.replace("_", " ") for key in (*keys, "beside", "clean", "sentences_beside")}
    return Report(figures, [figures_table("kind", {**rows, "all": figures}, columns, 2)])


TABLE_QUESTIONS = DATA / "table_questions.jsonl"
_TABLE_HINT = "Each line has question, corpus, paper, row and value; see evaluation/README.md."


class TableQuestion(BaseModel, frozen=True, extra="forbid"):
    """A question to a corpus, and the table row that answers it: a cell that names the row, and the value.

    `paper` is the end of a paper's id.
    """

    question: str = Field(min_length=1)
    corpus: str
    paper: str = Field(min_length=1)
    row: str = Field(min_length=1)
    value: str = Field(min_length=1)


def _cited_rows(turn: Turn, corpus: Corpus) -> Iterator[tuple[str, str, str]]:
    """Yield the rows of tables that an answer cites, the claim about each, and their papers."""
    for citation in (citation for sentence in turn.answer.sentences for citation in sentence.citations):
        (passage,) = corpus.passages_by_id([citation.passage_id])
        if passage.table and citation.sentence is not None and citation.sentence >= passage.first_row:
            yield passage.sentence_text(citation.sentence), citation.claim, passage.paper_id


def holds(text: str, part: str) -> bool:
    """Return True if a text has a part as it stands, not within longer words or figures."""
    whole, wanted = (" ".join(written.casefold().split()) for written in (text, part))
    return re.search(rf"(?<![\w.]){re.escape(wanted)}(?!\w|\.\d)", whole) is not None


@command("tables-asked")
def tables_asked(home: list[str], data: Path = TABLE_QUESTIONS) -> Report:
    rows = []
    counts = dict.fromkeys(("asked", "right_row", "right_value", "other_row", "no_row", "refused"), 0)
    for question, assistant in open_homes(
        read_json_lines(data, TableQuestion, _TABLE_HINT), named_folders(home)
    ):
        asked = ask(assistant, question.question)
        row, claim, paper = next(_cited_rows(asked.turn, assistant.corpus), ("", "", ""))
        is_right_row = paper.endswith(f"/{question.paper}") and all(
            holds(row, part) for part in (question.row, question.value)
        )
        is_right_value = is_right_row and holds(claim, question.value)
        counts["asked"] += 1
        counts["right_row"] += is_right_row
        counts["right_value"] += is_right_value
        counts["other_row"] += bool(row) and not is_right_row
        counts["no_row"] += not row
        counts["refused"] += asked.is_refused
        right = "value" if is_right_value else "row" if is_right_row else "no"
        answer = claim or ("refused" if asked.is_refused else "no row of a table")
        rows.append((question.question, f"{question.row}: {question.value}", answer, right))
    return Report(counts, [table(("Question", "Wanted", "Told", "Right"), rows, left=3)])
