"""The 88 judged questions of TruthReader's tables, whole and with what answers taken out."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from corpus.records import Scope, parse_passage_id
from corpus.store import Corpus
from evaluation.input_files import EvaluationError, home_of, read_json_lines
from evaluation.judged import FULL, JudgedQuestion, Place, places, read_judged
from evaluation.tables.records import Asked, Missing
from evaluation.tables.systems.answering import SystemAnswer

CHOSEN = Path(__file__).parents[2] / "data" / "asked_of_system.jsonl"
HOW_BUILT: Mapping[str, str] = {
    "demo": "demo",
    "acl-2022": "acl 2022.acl-long",
    "findings-2022": "acl 2022.findings-acl 2020.aacl-main",
    "acl-pdfs": 'pdfs FOLDER-OF-PDFS --collection acl-pdfs --title "Full texts"',
}


class _ChosenRow(BaseModel):
    """Ids of judged questions: one that is asked, and two that may be asked before it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    relevant: str
    irrelevant: str


@dataclass(frozen=True, slots=True)
class ChosenQuestion:
    """A judged question, one of the same papers as far as there is one, and one that others answer."""

    judged: JudgedQuestion
    relevant: JudgedQuestion
    irrelevant: JudgedQuestion

    @property
    def swapped(self) -> Scope:
        """The papers that were judged with it and do not answer it: asked of these it is to be refused."""
        seen = {paper for paper, _, _ in places(self.judged.seen)}
        return Scope(papers=tuple(sorted(seen - answering_papers(self.judged))))


def answering_papers(question: JudgedQuestion) -> Set[str]:
    """Return the papers of which a sentence answers a question or belongs to an answer."""
    return {paper for paper, _, _ in places((*question.full, *question.part))}


def read_chosen(path: Path = CHOSEN) -> list[ChosenQuestion]:
    """Return the questions in their order, the corpora taking turns; raises EvaluationError."""
    judged = {question.id: question for question in read_judged()}
    rows = read_json_lines(path, _ChosenRow, "Each line has id, relevant and irrelevant: judged questions.")
    try:
        return [ChosenQuestion(judged[row.id], judged[row.relevant], judged[row.irrelevant]) for row in rows]
    except KeyError as error:
        raise EvaluationError(f"{path} names {error}, which is no judged question.") from None


def questions_here(asked: Asked, limit: int | None) -> list[ChosenQuestion]:
    """Return the questions of the corpora that are named, the first so many of them."""
    return [one for one in read_chosen() if one.judged.corpus in asked.homes][:limit]


def homes_missing(asked: Asked) -> Iterator[Missing]:
    counts = Counter(one.judged.corpus for one in read_chosen())
    for name, count in counts.items():
        if name not in asked.homes:
            yield Missing(
                f"{count} questions of the corpus {name}",
                f"build it and name it: PAPER_TRAIL_HOME=FOLDER paper-trail index {HOW_BUILT[name]}, then"
                f" --home {name}=FOLDER",
            )


def question_inputs(asked: Asked, questions: Sequence[ChosenQuestion]) -> Mapping[str, object]:
    """Return what tells apart which questions are asked, and of what: the content of the tables."""
    names = sorted({one.judged.corpus for one in questions})
    return {
        "questions": ", ".join(one.judged.id for one in questions),
        "homes": {name: home_of(asked.homes[name]) / "corpus" for name in names},
    }


def check_held(name: str, home: Path, corpus: Corpus, questions: Sequence[ChosenQuestion]) -> None:
    """Raise EvaluationError where a corpus is not the one that was judged."""
    for question in questions:
        held = {paper.id for paper in corpus.papers_by_id(question.swapped.papers)}
        lacking = [paper for paper in question.swapped.papers if paper not in held]
        lacking += [_named(place) for place in places(question.judged.full) if not _holds(corpus, place)]
        if lacking:
            raise EvaluationError(
                f"The corpus of {home} has no {lacking[0]}, which {question.judged.id} was judged by: it is"
                f" not the corpus {name} as PAPER_TRAIL_HOME=FOLDER paper-trail index {HOW_BUILT[name]}"
                " builds it."
            )


def _holds(corpus: Corpus, place: Place) -> bool:
    paper, number, sentence = place
    return any(one.number == number and sentence < len(one.sentences) for one in corpus.passages(paper))


def _named(place: Place) -> str:
    paper, number, sentence = place
    return f"{paper}#{number}:{sentence}"


def answers_fully(answer: SystemAnswer, question: JudgedQuestion) -> bool:
    """Return True if a sentence of an answer cites a sentence that was judged to answer fully."""
    cited = (citation for sentence in answer.sentences for citation in sentence.citations)
    return any(question.grades.get(_place(one.passage_id, one.sentence)) == FULL for one in cited)


def _place(passage: str, sentence: int | None) -> Place:
    paper, number = parse_passage_id(passage)
    return paper, number, -1 if sentence is None else sentence
