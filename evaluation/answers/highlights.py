"""What is told first of one paper's challenge, approach or outcome, beside what people highlighted of it."""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import TypedDict

from pydantic import BaseModel
from rich.box import SIMPLE_HEAD
from rich.table import Column, Table

from assistant.chat import Assistant
from assistant.records import Turn
from corpus.encoder_choice import open_encoder
from corpus.records import AspectName, Collection, Scope
from corpus.settings import Settings
from evaluation.answers.asking import ask, open_assistant
from evaluation.answers.wordings import forms
from evaluation.input_files import EvaluationError, read_json_lines
from indexer.build import build_collection
from indexer.sources.folder import Folder

Parts = dict[str, list[str]]
_COLLECTION = Collection(id="highlighted", title="Highlighted papers", source="Folder")
_LINE = "Each line is a JSON object with id, title, split, source and highlights, by part of the paper."
SHORTEST_SAME = 40  # letters and digits that two writings of a sentence share, where it is that long


class _Record(BaseModel):
    """A paper: the sentences of its parts, and for each aspect which of them people highlighted (1)."""

    id: str
    title: str
    split: str = ""
    source: Parts
    highlights: Mapping[AspectName, Mapping[str, Sequence[int]]]

    def highlighted(self, aspect: AspectName) -> list[str]:
        return [
            _letters(sentence)
            for part, marks in self.highlights.get(aspect, {}).items()
            for sentence, mark in zip(self.source.get(part, []), marks, strict=False)
            if mark
        ]


class HighlightFigures(TypedDict):
    """Of the questions to papers with a highlight of the aspect: the share told first what is highlighted.

    `worst` and `best` are the shares of the wordings, `refused` is how many questions were refused.
    """

    questions: int
    first: float
    worst: float
    best: float
    refused: int


@dataclass(frozen=True, slots=True)
class _Outcome:
    aspect: AspectName
    wording: str
    is_highlighted: bool
    is_refused: bool


def measure_highlights(data: Path, split: str = "") -> dict[AspectName, HighlightFigures]:
    """Return the figures of each aspect, the papers indexed for this; raises EvaluationError."""
    records = [one for one in read_json_lines(data, _Record, _LINE) if split in ("", one.split)]
    if not records:
        raise EvaluationError(f"{data} has no paper of the split {split!r}.")
    with tempfile.TemporaryDirectory() as home:
        assistant = _indexed(records, Path(home))
        outcomes = [outcome for record in records for outcome in _asked(assistant, record)]
    return {aspect: _figures([one for one in outcomes if one.aspect == aspect]) for aspect in _aspects()}


def highlights_table(figures: Mapping[AspectName, HighlightFigures]) -> Table:
    """Return the figures as a table for people."""
    columns = ("Questions", "Highlighted first", "Worst wording", "Best wording", "Refused")
    table = Table("Asked for", *(Column(name, justify="right") for name in columns), box=SIMPLE_HEAD)
    for aspect, one in figures.items():
        shares = (f"{share:.3f}" for share in (one["first"], one["worst"], one["best"]))
        table.add_row(aspect, str(one["questions"]), *shares, str(one["refused"]))
    return table


def _aspects() -> Iterator[AspectName]:
    return iter(forms().highlights)


def _indexed(records: Sequence[_Record], home: Path) -> Assistant:
    papers = home / "papers"
    papers.mkdir()
    for record in records:
        parts = (f"## {part.capitalize()}\n\n{' '.join(told)}\n" for part, told in record.source.items())
        (papers / f"{record.id}.md").write_text("\n".join((f"# {record.title}\n", *parts)), encoding="utf-8")
    settings = Settings(home=home)
    encoder = open_encoder(settings)
    build_collection(settings, encoder, Folder(papers, _COLLECTION, (".md",)), lambda _: None)
    return open_assistant(home)


def _asked(assistant: Assistant, record: _Record) -> Iterator[_Outcome]:
    """Yield what becomes of each wording for every aspect that people highlighted in a paper."""
    scope = Scope(papers=(f"{_COLLECTION.id}/{record.id}",))
    for aspect in _aspects():
        if highlighted := record.highlighted(aspect):
            for wording in forms().highlights[aspect]:
                turn = ask(assistant, wording, (), scope).turn
                first = _first(turn)
                is_highlighted = any(_are_same(first, one) for one in highlighted)
                yield _Outcome(aspect, wording, is_highlighted, turn.answer.refusal is not None)


def _first(turn: Turn) -> str:
    """Return the letters of the sentence that the first one of an answer cites, as it stands in the paper."""
    for citation in (one for sentence in turn.answer.sentences[:1] for one in sentence.citations):
        for passage in (one for paper in turn.evidence.papers for one in paper.passages):
            if passage.id == citation.passage_id and citation.sentence is not None:
                return _letters(passage.sentence_text(citation.sentence))
    return ""


def _are_same(one: str, other: str) -> bool:
    """Return True for one sentence as two programs cut it: one holds the other, or most of it."""
    if min(len(one), len(other)) < SHORTEST_SAME:
        return bool(one) and one == other
    return one[:SHORTEST_SAME] in other or other[:SHORTEST_SAME] in one


def _letters(text: str) -> str:
    return "".join(character for character in text.lower() if character.isalnum())


def _figures(outcomes: Sequence[_Outcome]) -> HighlightFigures:
    def share(told: Sequence[_Outcome]) -> float:
        return fmean(one.is_highlighted for one in told) if told else 0.0

    wordings = dict.fromkeys(one.wording for one in outcomes)
    shares = [share([one for one in outcomes if one.wording == wording]) for wording in wordings]
    return {
        "questions": len(outcomes),
        "first": share(outcomes),
        "worst": min(shares, default=0.0),
        "best": max(shares, default=0.0),
        "refused": sum(one.is_refused for one in outcomes),
    }
