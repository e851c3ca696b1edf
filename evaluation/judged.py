"""Questions to whole collections with the sentences that a language model judged to answer them.

The rows hold questions and places, no text of any paper: the papers are read from the corpus of a home.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pydantic import ConfigDict

from assistant.chat import Assistant
from assistant.questions.intent import request_kind
from assistant.questions.plan import as_read, plan_of
from assistant.ranking.evidence import RankedEvidence
from assistant.records import AskOptions, Citation, RequestKind, Rewrite
from assistant.retrieve import retrieve
from corpus.records import parse_passage_id
from corpus.search.hybrid import DEFAULT_PAPERS
from evaluation.answers.asking import ask, open_homes
from evaluation.answers.questions import QuestionKind, ScopedQuestion
from evaluation.harness import Figures, Report, command, figures_table
from evaluation.input_files import DATA, named_folders, read_json_lines

JUDGED = DATA / "judged.jsonl"
FULL, PART = 1.0, 0.5
MOST_WANTED = 6  # sentences that a full answer needs at most
_HINT = "Each line has id, corpus, question, answerable and places of sentences; see evaluation/README.md."

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
    return read_json_lines(path, JudgedQuestion, _HINT)


def find(question: JudgedQuestion, assistant: Assistant) -> RankedEvidence:
    """Gather the evidence that a writer would be given for a question, even if it would be refused."""
    kind = request_kind(question.question, question.scope)
    rewrite = as_read(assistant.corpus, Rewrite(question.question, question.question, kind=kind))
    options = AskOptions(question.scope, DEFAULT_PAPERS)
    papers = retrieve(assistant.corpus, assistant.encoder, rewrite, options)
    return assistant.gather(plan_of(rewrite), papers, options)


@dataclass(frozen=True, slots=True)
class JudgedOutcome:
    """The answer to a question: the grade of each of its sentences, 0 where nobody judged it."""

    question: JudgedQuestion
    kind: RequestKind
    grades: tuple[float, ...]
    is_refused: bool


def counts_of(outcomes: Sequence[JudgedOutcome]) -> Figures:
    """Count questions and, of answers to answerable questions, compute shares.

    `first_full`: the first sentence answers fully; `any_full`: a sentence does; `beside`: none answers at
    all; `clean`: one answers fully and none is beside the point. `full_cited` is of the sentences that answer
    fully.
    """
    can = [outcome for outcome in outcomes if outcome.question.answerable]
    cannot = [outcome for outcome in outcomes if not outcome.question.answerable]
    given = [outcome.grades for outcome in can if not outcome.is_refused]
    sentences = [grade for grades in given for grade in grades]
    wanted = sum(min(MOST_WANTED, len(outcome.question.full)) for outcome in can)
    most = max(1, len(can))
    return {
        "answerable": len(can),
        "unanswerable": len(cannot),
        "refused_wrongly": sum(outcome.is_refused for outcome in can),
        "refused_rightly": sum(outcome.is_refused for outcome in cannot),
        "first_full": sum(grades[:1] == (FULL,) for grades in given) / most,
        "any_full": sum(FULL in grades for grades in given) / most,
        "beside": sum(not any(grades) for grades in given) / most,
        "clean": sum(FULL in grades and 0.0 not in grades for grades in given) / most,
        "sentences_beside": sum(not grade for grade in sentences) / max(1, len(sentences)),
        "full_cited": sum(min(MOST_WANTED, grades.count(FULL)) for grades in given) / max(1, wanted),
    }


@command("judged")
def judged(home: list[str], data: Path = JUDGED) -> Report:
    outcomes = []
    for question, assistant in open_homes(read_judged(data), named_folders(home)):
        asked = ask(assistant, question.question, (), question.scope)
        grades = tuple(
            max(
                (question.grades.get(place_of(citation), 0.0) for citation in sentence.citations), default=0.0
            )
            for sentence in asked.turn.answer.sentences
        )
        outcomes.append(JudgedOutcome(question, asked.turn.rewrite.kind, grades, asked.is_refused))
    kinds = sorted({outcome.kind for outcome in outcomes})
    rows: dict[str, Figures] = {
        kind: counts_of([outcome for outcome in outcomes if outcome.kind == kind]) for kind in kinds
    }
    figures = counts_of(outcomes)
    keys = ("answerable", "refused_wrongly", "unanswerable", "refused_rightly", "first_full", "any_full")
    columns = {key: key.replace("_", " ") for key in (*keys, "beside", "clean", "sentences_beside")}
    return Report(figures, [figures_table("kind", {**rows, "all": figures}, columns, 2)])
