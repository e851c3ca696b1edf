"""Queries with the texts to be found for each, from the sets that may train."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pydantic import BaseModel, Field

from evaluation.answers.rewriting import Exchange
from evaluation.input_files import read_json_lines
from evaluation.retrieval import read_queries
from evaluation.summaries.citation_style import CITE, neutral
from indexer.errors import SourceError
from training.files import TrainingError, draw, grouped

CANARD = "rewriting/canard_train.jsonl"
FIRST_FREE_YEAR = 2016  # from then on the Anthology is under CC BY, before it is non-commercial
FEWEST_WORDS = 6  # of a citing sentence without its markers
FEWEST_KEY_WORDS = 3
MOST_EXCHANGES = 3


@dataclass(frozen=True, slots=True)
class SoughtTexts:
    """A query with the texts to be found for it; rows of a `group` (paper, dialogue) stay together.

    `history` precedes the query.
    """

    set: str
    group: str
    query: str
    texts: tuple[str, ...]
    history: tuple[Exchange, ...] = ()


def sought_texts(data: Path, most: Mapping[str, int], seed: int) -> list[SoughtTexts]:
    """Return at most `most[name]` queries of each set.

    Raises EvaluationError, or TrainingError for a set without queries.
    """
    found: list[SoughtTexts] = []
    for name, count in most.items():
        rows = [row for row in READERS[name](data) if row.texts]
        if not rows:
            raise TrainingError(f"The set {name} in {data} has no query with a text that it is to find.")
        found += draw(rows, count, f"{seed}:{name}")
    return found


class _CitingSentence(BaseModel):
    citing_text: str
    paper_id: str


class _CitedPaper(BaseModel):
    paper_id: str
    title: str
    abstract: str


def _citations(data: Path) -> Iterator[SoughtTexts]:
    """Yield citing sentences without their markers, each with all papers that it cites."""
    file = data / "citations" / "scisummnet_papers.jsonl"
    cited = read_json_lines(file, _CitedPaper, "Each line has paper_id, title and abstract.")
    file = data / "citations" / "scisummnet_citances.jsonl"
    citing = read_json_lines(file, _CitingSentence, "Each line has citing_text and paper_id.")
    # As the product encodes passages: the title before the text.
    with_abstract = [paper for paper in cited if paper.abstract.strip()]
    texts = {paper.paper_id: f"{paper.title.strip()}\n{paper.abstract.strip()}" for paper in with_abstract}
    papers: dict[str, dict[str, None]] = {}
    for sentence in citing:
        query = without_markers(sentence.citing_text)
        if sentence.paper_id in texts and len(query.split()) >= FEWEST_WORDS:
            papers.setdefault(query, {})[sentence.paper_id] = None
    for query, named in papers.items():
        yield SoughtTexts("citations", next(iter(named)), query, tuple(texts[paper] for paper in named))


def without_markers(sentence: str) -> str:
    """Return a citing sentence without "(Lee et al., 2019)", "Lee (2019)" and "[3]"."""
    return " ".join(neutral(sentence).text.replace(CITE, " ").split()).replace(" ,", ",").replace(" .", ".")


def _titles(data: Path) -> Iterator[SoughtTexts]:
    """Yield titles of the Anthology's free years with their abstracts, without the papers of citeacl."""
    # Takes a second to import; the other sets do not need it.
    from indexer.sources.acl_anthology import all_volumes  # noqa: PLC0415

    citeacl, folder = data / "citations" / "citeacl", data / "acl_anthology"
    measured = frozenset(read_queries(citeacl).relevant) if citeacl.is_dir() else frozenset()
    try:
        volumes = all_volumes(folder, folder)
    except SourceError as error:
        raise TrainingError(str(error)) from None
    for volume in volumes:
        is_free = (volume.collection.year or 0) >= FIRST_FREE_YEAR
        for paper in (source.paper for source in volume.papers() if is_free):
            if paper.abstract and paper.title and paper.id not in measured:
                yield SoughtTexts("titles", paper.id, paper.title, (paper.abstract,))
    if volumes.problems:
        raise TrainingError(volumes.problems[0])


class _Paragraph(BaseModel):
    sentences: tuple[str, ...]


class _PaperQuestion(BaseModel):
    """A question about a paper, as in QASPER."""

    question: str = Field(min_length=1)
    paper_id: str
    answers: tuple[str, ...] = ()
    evidence: tuple[_Paragraph, ...]


def _qasper(data: Path) -> Iterator[SoughtTexts]:
    """Yield questions with their evidence; earlier questions about the paper are their history."""
    file, hint = data / "questions" / "qasper_train.jsonl", "Each line has question, paper_id and evidence."
    for paper, questions in grouped(read_json_lines(file, _PaperQuestion, hint), "paper_id").items():
        said = [(asked.question, next(iter(asked.answers), "")) for asked in questions]
        for number, asked in enumerate(questions):
            texts = dict.fromkeys(" ".join(part.sentences).strip() for part in asked.evidence)
            history = tuple(said[max(0, number - MOST_EXCHANGES) : number])
            own = tuple(filter(None, texts))
            yield SoughtTexts("qasper", paper, asked.question, own, history)


class CanardTurn(BaseModel):
    """A question as asked and as rewritten to stand alone; of the answer there are key words."""

    q: str = Field(min_length=1)
    rewrite: str = Field(min_length=1)
    ans_kw: str = ""


class CanardDialogue(BaseModel):
    """A dialogue of CANARD."""

    id: str
    turns: tuple[CanardTurn, ...] = Field(min_length=1)


def read_canard(data: Path) -> list[CanardDialogue]:
    """Return CANARD's training dialogues; raises EvaluationError."""
    return read_json_lines(data / CANARD, CanardDialogue, "Each line has id and turns with q and rewrite.")


def _canard(name: str, data: Path) -> Iterator[SoughtTexts]:
    """Yield follow-ups: their rewrites are to be near them, or the key words of their answers."""
    for dialogue in read_canard(data):
        said = [(turn.q, turn.ans_kw) for turn in dialogue.turns]
        for number, turn in enumerate(dialogue.turns):
            history = tuple(said[max(0, number - MOST_EXCHANGES) : number])
            if name == "canard-answers":
                if len(turn.ans_kw.split()) >= FEWEST_KEY_WORDS:
                    yield SoughtTexts(name, dialogue.id, turn.q, (turn.ans_kw,), history)
            elif history and turn.q.casefold() != turn.rewrite.casefold():
                yield SoughtTexts(name, dialogue.id, turn.q, (turn.rewrite,), history)


READERS: Mapping[str, Callable[[Path], Iterator[SoughtTexts]]] = {
    "citations": _citations,
    "titles": _titles,
    "qasper": _qasper,
    **{name: partial(_canard, name) for name in ("canard-rewrites", "canard-answers")},
}
