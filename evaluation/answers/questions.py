"""Measures answers to three sets of questions: written, judged, and about cells of tables.

Written questions count answers and refusals; whether an answer is right, people judge from the output file.
Judged questions have the places of the sentences that answer them, as a language model judged.
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
    parse_named_folders,
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
    """A question that should be answered or refused, written for the corpus that `corpus` names.

    `history` has the earlier questions, oldest first. Each of `expected_papers` answers the question at least
    in part.
    """

    history: tuple[str, ...] = ()
    expect: Literal["answer", "refuse"]
    expected_papers: tuple[str, ...]
    kind: QuestionKind | None = None
    part: Part | None = None
    corpus: str = ""

    @property
    def named_papers(self) -> tuple[str, ...]:
        return (*self.expected_papers, self.paper) if self.paper else self.expected_papers


NumberedQuestion = tuple[int, WrittenQuestion]
_Outcome = tuple[WrittenQuestion, Figures]


def read_questions(data: Path, part: Part | None = None, corpus: str | None = None) -> list[NumberedQuestion]:
    """Read the questions of a part and a corpus with their line numbers; raises EvaluationError."""
    rows = read_numbered_json_lines(data, WrittenQuestion, _HINT)
    known: set[str] = set()
    for number, row in rows:
        if row.id in known:
            raise EvaluationError(f"{data}, line {number}: the id {row.id!r} is that of an earlier line.")
        known.add(row.id)
    chosen = [
        (number, row) for number, row in rows if part in (None, row.part) and corpus in (None, row.corpus)
    ]
    if not chosen:
        raise EvaluationError(f"{data} has no question of this part and corpus.")
    return chosen


def _check_papers(data: Path, rows: Sequence[NumberedQuestion], corpus: Corpus) -> None:
    """Raise EvaluationError if a question names a paper or collection that the corpus lacks."""
    collections = corpus.collection_ids()
    named = {paper for _, row in rows for paper in row.named_papers}
    known = {paper.id for paper in corpus.papers_by_id(tuple(named))}
    for number, row in rows:
        lacking = [f"collection {row.collection!r}"] if row.collection not in (None, *collections) else []
        lacking += [f"paper {paper!r}" for paper in row.named_papers if paper not in known]
        if lacking:
            raise EvaluationError(
                f"{data}, line {number}: the corpus has no {lacking[0]}. "
                "Use another home, or choose the questions of this one with --corpus-name."
            )


def _ask_all(
    data: Path,
    rows: Sequence[NumberedQuestion],
    home: Path,
    generator: str,
    out: Path | None,
    trails: Path | None,
) -> Iterator[_Outcome]:
    """Yield the outcome of each question; `out` and `trails` are written after each."""
    assistant = open_assistant(home, generator)
    _check_papers(data, rows, assistant.corpus)
    lines = ""
    for number, row in rows:
        turns: tuple[Turn, ...] = ()
        try:
            for question in (*row.history, row.question):
                asked = ask(assistant, question, turns, row.scope)
                turns = (*turns, asked.turn)
        except AssistantError as error:
            raise EvaluationError(f"{data}, line {number}: {error}") from error
        outcome = _outcome(row, asked)
        lines += json.dumps(outcome, ensure_ascii=False) + "\n"
        if out:
            write_text(out, lines)
        if trails:
            conversation = Conversation(f"line-{number}", row.question, turns)
            write_text(trails / f"{conversation.id}.json", to_json(conversation))
        yield row, outcome


def _outcome(row: WrittenQuestion, asked: AskedQuestion) -> Figures:
    """Describe an answer for people to judge.

    "found" has the ids of the retrieved papers, best first; "cited" those of cited ones in the order of the
    text; "support" the score of each sentence.
    """
    turn, answer = asked.turn, asked.turn.answer
    return {
        "id": row.id,
        "question": row.question,
        "text": answer.text,
        "kind": turn.rewrite.kind,
        "search_query": turn.rewrite.search_query,
        "found": asked.retrieved,
        "cited": [labelled.paper.id for labelled in turn.cited_papers],
        **{name: getattr(answer, name) for name in SCORES},
        "support": [sentence.support for sentence in answer.sentences],
        "refusal_reason": answer.refusal.reason if answer.refusal else None,
        "refusal": answer.refusal.message if answer.refusal else None,
        "seconds": round(asked.seconds, 3),
    }


def _counts(judged: Sequence[_Outcome]) -> dict[str, int]:
    """Count questions: "expecting" are answerable ones with expected papers, "given" all with an answer."""
    answerable = [(row, outcome) for row, outcome in judged if row.expect == "answer"]
    refused = [outcome["refusal_reason"] is not None for row, outcome in judged if row.expect == "refuse"]
    expecting = [(set(row.expected_papers), outcome) for row, outcome in answerable if row.expected_papers]
    answers = [outcome for _, outcome in judged if outcome["refusal_reason"] is None]
    return {
        "answerable": len(answerable),
        "answered": sum(outcome["refusal_reason"] is None for _, outcome in answerable),
        "unanswerable": len(refused),
        "refused": sum(refused),
        "expecting": len(expecting),
        "found": sum(not papers.isdisjoint(outcome["found"]) for papers, outcome in expecting),
        "cited": sum(not papers.isdisjoint(outcome["cited"]) for papers, outcome in expecting),
        "given": len(answers),
        "best_cited": sum(outcome["found"][0] in outcome["cited"] for outcome in answers),
    }


# Shares of the JSON line and columns of the table, each as the names of two counts: part and whole.
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
    kinds = {
        kind: [(row, outcome) for row, outcome in judged if row.kind == kind]
        for kind in get_args(QuestionKind)
    }
    by_kind = {kind: _counts(outcomes) for kind, outcomes in kinds.items() if outcomes}
    counts = _counts(judged)
    figures = {
        "questions": len(judged),
        **{name: share(counts[part], counts[whole]) for name, (part, whole) in _SHARES.items()},
        "refused_wrongly": share(counts["answerable"] - counts["answered"], counts["answerable"]),
        "seconds_median": median(outcome["seconds"] for _, outcome in judged),
        "counts": counts,
        "kinds": by_kind,
    }
    table_rows = [
        (name, *(f"{kind_counts[part]} of {kind_counts[whole]}" for part, whole in _SHARES.values()))
        for name, kind_counts in {**by_kind, "all": counts}.items()
    ]
    title = f"{figures['questions']} questions, {figures['seconds_median']:.2f} s in the median"
    head = ("Kind", "Answered", "Found", "Cited", "Refused", "First cited")
    return Report(figures, [table(head, table_rows, title=title)])


JUDGED = DATA / "judged.jsonl"
FULL, PART = 1.0, 0.5
MOST_NEEDED = 6  # the most sentences that a full answer needs
_JUDGED_HINT = (
    "Each line has id, corpus, question, answerable and places of sentences; see evaluation/README.md."
)

# A paper's id, the number of a passage in the paper, and the number of a sentence in the passage.
Place = tuple[str, int, int]


class JudgedQuestion(ScopedQuestion):
    """A self-contained question, and the judged sentences of the papers that search returned for it.

    Of all judged sentences (`seen`), those in `full` answer the question, those in `part` belong to an
    answer, and the others do not. Sentences in `leaning` cannot be understood alone. A place is written as
    "paper#passage:sentence", in `seen` as a range "paper#passage:first-last". `corpus` names the corpus that
    was asked.
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
        """The grade of each judged sentence: 1 for a full answer, 0.5 for a part of one, 0 for none."""
        grades = dict.fromkeys(places(self.seen), 0.0)
        return grades | dict.fromkeys(places(self.part), PART) | dict.fromkeys(places(self.full), FULL)


def places(written: Sequence[str]) -> Iterator[Place]:
    """Parse places written as "paper#passage:sentence" or "paper#passage:first-last"."""
    for text in written:
        paper, _, rest = text.rpartition("#")
        passage, _, sentences = rest.partition(":")
        first, _, last = sentences.partition("-")
        for sentence in range(int(first), int(last or first) + 1):
            yield paper, int(passage), sentence


def place_of(citation: Citation) -> Place:
    """Return the place that a citation cites; the sentence is -1 for a whole passage."""
    paper, number = parse_passage_id(citation.passage_id)
    return paper, number, -1 if citation.sentence is None else citation.sentence


def read_judged(path: Path = JUDGED) -> list[JudgedQuestion]:
    """Read the questions of a file; raises EvaluationError."""
    return read_json_lines(path, JudgedQuestion, _JUDGED_HINT)


def gather_evidence(question: JudgedQuestion, assistant: Assistant) -> RankedEvidence:
    """Gather the evidence that a writer would get for a question, even if the gate would refuse it."""
    kind = request_kind(question.question, question.scope)
    rewrite = as_read(assistant.corpus, Rewrite(question.question, question.question, kind=kind))
    options = AskOptions(question.scope, DEFAULT_PAPERS)
    papers = retrieve(assistant.corpus, assistant.encoder, rewrite, options)
    return assistant.gather(plan_of(rewrite), papers, options)


# A question, the grades of its answer's sentences (0 for unjudged ones), and True if it was refused.
JudgedOutcome = tuple[JudgedQuestion, tuple[float, ...], bool]


def counts_of(outcomes: Sequence[JudgedOutcome]) -> Figures:
    """Count questions and compute shares of the answerable ones.

    "first_full": the first sentence answers fully; "any_full": any sentence does; "beside": none belongs to
    an answer; "clean": a sentence answers fully and all belong to an answer. "full_cited" is the share of the
    fully answering sentences that are cited, at most `MOST_NEEDED` of each question.
    """
    answerable = [outcome for outcome in outcomes if outcome[0].answerable]
    refusals = [is_refused for question, _, is_refused in outcomes if not question.answerable]
    answers = [grades for _, grades, is_refused in answerable if not is_refused]
    sentences = [grade for grades in answers for grade in grades]
    needed = sum(min(MOST_NEEDED, len(question.full)) for question, *_ in answerable)
    count = max(1, len(answerable))
    return {
        "answerable": len(answerable),
        "unanswerable": len(refusals),
        "refused_wrongly": sum(is_refused for *_, is_refused in answerable),
        "refused_rightly": sum(refusals),
        "first_full": sum(grades[:1] == (FULL,) for grades in answers) / count,
        "any_full": sum(FULL in grades for grades in answers) / count,
        "beside": sum(not any(grades) for grades in answers) / count,
        "clean": sum(FULL in grades and 0.0 not in grades for grades in answers) / count,
        "sentences_beside": sum(not grade for grade in sentences) / max(1, len(sentences)),
        "full_cited": sum(min(MOST_NEEDED, grades.count(FULL)) for grades in answers) / max(1, needed),
    }


@command("judged")
def judged(home: list[str], data: Path = JUDGED) -> Report:
    by_kind: dict[str, list[JudgedOutcome]] = {}
    for question, assistant in open_homes(read_judged(data), parse_named_folders(home)):
        asked = ask(assistant, question.question, (), question.scope)
        grades = tuple(
            max((question.grades.get(place_of(cited), 0.0) for cited in sentence.citations), default=0.0)
            for sentence in asked.turn.answer.sentences
        )
        outcome = (question, grades, asked.is_refused)
        by_kind.setdefault(asked.turn.rewrite.kind, []).append(outcome)
    rows: dict[str, Figures] = {kind: counts_of(by_kind[kind]) for kind in sorted(by_kind)}
    figures = counts_of([outcome for outcomes in by_kind.values() for outcome in outcomes])
    keys = ("answerable", "refused_wrongly", "unanswerable", "refused_rightly", "first_full", "any_full")
    columns = {key: key.replace("_", " ") for key in (*keys, "beside", "clean", "sentences_beside")}
    return Report(figures, [figures_table("kind", {**rows, "all": figures}, columns, 2)])


TABLE_QUESTIONS = DATA / "table_questions.jsonl"
_TABLE_HINT = "Each line has question, corpus, paper, row and value; see evaluation/README.md."


class TableQuestion(BaseModel, frozen=True, extra="forbid"):
    """A question to a corpus, and the table row that answers it: the cell that names the row, and the value.

    `paper` is the last part of the paper's id, without its collection.
    """

    question: str = Field(min_length=1)
    corpus: str
    paper: str = Field(min_length=1)
    row: str = Field(min_length=1)
    value: str = Field(min_length=1)


def _cited_rows(turn: Turn, corpus: Corpus) -> Iterator[tuple[str, str, str]]:
    """Yield each table row that an answer cites, the claim that cites it, and the id of its paper."""
    for citation in (citation for sentence in turn.answer.sentences for citation in sentence.citations):
        (passage,) = corpus.passages_by_id([citation.passage_id])
        if passage.table and citation.sentence is not None and citation.sentence >= passage.first_row:
            yield passage.sentence_text(citation.sentence), citation.claim, passage.paper_id


def contains(text: str, phrase: str) -> bool:
    """Return True if a text contains a phrase, ignoring case and not within a longer word or number."""
    whole, part = (" ".join(raw.casefold().split()) for raw in (text, phrase))
    return re.search(rf"(?<![\w.]){re.escape(part)}(?!\w|\.\d)", whole) is not None


@command("tables-asked")
def tables_asked(home: list[str], data: Path = TABLE_QUESTIONS) -> Report:
    rows = []
    counts = dict.fromkeys(("asked", "right_row", "right_value", "other_row", "no_row", "refused"), 0)
    for question, assistant in open_homes(
        read_json_lines(data, TableQuestion, _TABLE_HINT), parse_named_folders(home)
    ):
        asked = ask(assistant, question.question)
        row, claim, paper = next(_cited_rows(asked.turn, assistant.corpus), ("", "", ""))
        is_right_row = paper.endswith(f"/{question.paper}") and all(
            contains(row, part) for part in (question.row, question.value)
        )
        is_right_value = is_right_row and contains(claim, question.value)
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
