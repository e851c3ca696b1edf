"""Queries with the texts that each is to find, from the sets that may train."""

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from evaluation.answers.rewriting import Exchange
from evaluation.input_files import read_json_lines
from evaluation.retrieval import read_queries
from evaluation.summaries.citation_style import CITE, neutral
from indexer.errors import SourceError
from training.errors import TrainingError

FIRST_FREE_YEAR = 2016  # the Anthology is CC BY from here on, before it is for non-commercial use
FEWEST_WORDS = 6  # of a citing sentence without its markers
FEWEST_KEY_WORDS = 3
MOST_EXCHANGES = 3


@dataclass(frozen=True, slots=True)
class SoughtTexts:
    """A query with the texts that it is to find; what shares a `group` (a paper, a dialogue) stays together.

    `history` is what was said before it, and `alone` asks the same without that, "" where nobody wrote it.
    """

    set: str
    group: str
    query: str
    texts: tuple[str, ...]
    history: tuple[Exchange, ...] = ()
    alone: str = ""


Sought = Callable[[Path], Iterator[SoughtTexts]]


def sought_texts(data: Path, most: Mapping[str, int], seed: int) -> list[SoughtTexts]:
    """Return at most so many queries of each set, taken by chance.

    Raises EvaluationError of a malformed file and TrainingError of a set without a text to find.
    """
    found: list[SoughtTexts] = []
    for name, count in most.items():
        rows = [row for row in READERS[name](data) if row.texts]
        if not rows:
            raise TrainingError(f"The set {name} in {data} has no query with a text that it is to find.")
        found += random.Random(f"{seed}:{name}").sample(rows, min(count, len(rows)))
    return found


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class _CitingSentence(_Record):
    citing_text: str
    paper_id: str


class _CitedPaper(_Record):
    paper_id: str
    title: str
    abstract: str


def _citations(data: Path) -> Iterator[SoughtTexts]:
    """Yield citing sentences without their markers, each with all that it cites."""
    folder = data / "citations"
    cited = read_json_lines(
        folder / "scisummnet_papers.jsonl", _CitedPaper, "Each line has paper_id, title and abstract."
    )
    citing = read_json_lines(
        folder / "scisummnet_citances.jsonl", _CitingSentence, "Each line has citing_text and paper_id."
    )
    texts = {paper.paper_id: _as_indexed(paper) for paper in cited if paper.abstract.strip()}
    papers: dict[str, dict[str, None]] = {}
    for one in citing:
        query = without_markers(one.citing_text)
        if one.paper_id in texts and len(query.split()) >= FEWEST_WORDS:
            papers.setdefault(query, {})[one.paper_id] = None
    for query, named in papers.items():
        yield SoughtTexts("citations", next(iter(named)), query, tuple(texts[paper] for paper in named))


def _as_indexed(paper: _CitedPaper) -> str:
    """Return a paper as the product encodes a passage, its title before its text."""
    return f"{paper.title.strip()}\n{paper.abstract.strip()}"


def without_markers(sentence: str) -> str:
    """Return a citing sentence without "(Lee et al., 2019)", "Lee (2019)" and "[3]"."""
    return " ".join(neutral(sentence).text.replace(CITE, " ").split()).replace(" ,", ",").replace(" .", ".")


def _titles(data: Path) -> Iterator[SoughtTexts]:
    """Yield the titles of the Anthology's free years with their abstracts.

    Papers that `citations/citeacl` asks for are left out: it measures.
    """
    # It takes a second to import, and the other sets do not need it.
    from indexer.sources.acl_anthology import all_volumes  # noqa: PLC0415

    measured = _measured_papers(data / "citations" / "citeacl")
    folder = data / "acl_anthology"
    try:
        volumes = all_volumes(folder, folder)
    except SourceError as error:
        raise TrainingError(str(error)) from None
    for volume in volumes:
        if (volume.collection.year or 0) < FIRST_FREE_YEAR:
            continue
        for source in volume.papers():
            paper = source.paper
            if paper.abstract and paper.title and paper.id not in measured:
                yield SoughtTexts("titles", paper.id, paper.title, (paper.abstract,))
    if volumes.problems:
        raise TrainingError(volumes.problems[0])


def _measured_papers(folder: Path) -> frozenset[str]:
    return frozenset(read_queries(folder).relevant) if folder.is_dir() else frozenset()


class _Paragraph(_Record):
    sentences: tuple[str, ...]

    @property
    def text(self) -> str:
        return " ".join(self.sentences).strip()


class _PaperQuestion(_Record):
    """A question about a paper, as QASPER has them."""

    question: str = Field(min_length=1)
    paper_id: str
    answers: tuple[str, ...] = ()
    evidence: tuple[_Paragraph, ...]

    @property
    def exchange(self) -> Exchange:
        return self.question, next(iter(self.answers), "")


def _qasper(data: Path) -> Iterator[SoughtTexts]:
    """Yield questions with their evidence; what was asked of the same paper before is their history."""
    papers: dict[str, list[_PaperQuestion]] = {}
    file = data / "questions" / "qasper_train.jsonl"
    for asked in read_json_lines(file, _PaperQuestion, "Each line has question, paper_id and evidence."):
        papers.setdefault(asked.paper_id, []).append(asked)
    for paper, questions in papers.items():
        for number, asked in enumerate(questions):
            texts = tuple(dict.fromkeys(part.text for part in asked.evidence if part.text))
            history = tuple(one.exchange for one in questions[max(0, number - MOST_EXCHANGES) : number])
            yield SoughtTexts("qasper", paper, asked.question, texts, history, asked.question)


class _Asked(_Record):
    q: str = Field(min_length=1)
    rewrite: str = Field(min_length=1)
    ans_kw: str = ""


class _Dialogue(_Record):
    id: str
    turns: tuple[_Asked, ...]


def _follow_ups(data: Path) -> Iterator[tuple[str, _Asked, tuple[Exchange, ...]]]:
    """Yield CANARD's questions with what was said before; of answers the file has no more than key words."""
    file = data / "rewriting" / "canard_train.jsonl"
    for dialogue in read_json_lines(file, _Dialogue, "Each line has id and turns with q and rewrite."):
        said = [(turn.q, turn.ans_kw) for turn in dialogue.turns]
        for number, turn in enumerate(dialogue.turns):
            yield dialogue.id, turn, tuple(said[max(0, number - MOST_EXCHANGES) : number])


def _canard_rewrites(data: Path) -> Iterator[SoughtTexts]:
    """Yield follow-ups that are to lie where the question that says the same alone lies."""
    for dialogue, turn, history in _follow_ups(data):
        if history and turn.q.casefold() != turn.rewrite.casefold():
            yield SoughtTexts("canard-rewrites", dialogue, turn.q, (turn.rewrite,), history)


def _canard_answers(data: Path) -> Iterator[SoughtTexts]:
    """Yield questions with the key words of their answers, the nearest to a passage that the file has."""
    for dialogue, turn, history in _follow_ups(data):
        if len(turn.ans_kw.split()) >= FEWEST_KEY_WORDS:
            yield SoughtTexts("canard-answers", dialogue, turn.q, (turn.ans_kw,), history, turn.rewrite)


READERS: Mapping[str, Sought] = {
    "citations": _citations,
    "titles": _titles,
    "qasper": _qasper,
    "canard-rewrites": _canard_rewrites,
    "canard-answers": _canard_answers,
}
LICENCES: Mapping[str, str] = {
    "citations": "CC BY 4.0",
    "titles": "CC BY 4.0",
    "qasper": "CC BY 4.0",
    "canard-rewrites": "CC BY-SA 4.0",
    "canard-answers": "CC BY-SA 4.0",
}
