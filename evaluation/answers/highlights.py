"""What is told first of one paper's challenge, approach or outcome, beside what people highlighted of it."""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean

from pydantic import BaseModel

from assistant.chat import Assistant
from assistant.records import Turn
from corpus.encoder_choice import open_encoder
from corpus.records import AspectName, Collection, Scope
from corpus.settings import Settings
from evaluation.answers.asking import ask, open_assistant
from evaluation.answers.wordings import forms
from evaluation.harness import Figures, Report, command, table
from evaluation.input_files import EvaluationError, read_json_lines
from indexer.build import build_collection
from indexer.sources.folder import Folder

_COLLECTION = Collection(id="highlighted", title="Highlighted papers", source="Folder")
_LINE = "Each line is a JSON object with id, title, split, source and highlights, by part of the paper."
SHORTEST_SAME = 40  # letters and digits that two writings of a sentence share, where it is that long


class _Record(BaseModel):
    """A paper: the sentences of its parts, and for each aspect which of them people highlighted (1)."""

    id: str
    title: str
    split: str = ""
    source: dict[str, list[str]]
    highlights: Mapping[AspectName, Mapping[str, Sequence[int]]]

    def highlighted(self, aspect: AspectName) -> list[str]:
        return [
            _letters(sentence)
            for part, marks in self.highlights.get(aspect, {}).items()
            for sentence, mark in zip(self.source.get(part, []), marks, strict=False)
            if mark
        ]


def _indexed(records: Sequence[_Record], home: Path) -> Assistant:
    papers = home / "papers"
    papers.mkdir()
    for record in records:
        parts = (f"## {part.capitalize()}\n\n{' '.join(told)}\n" for part, told in record.source.items())
        (papers / f"{record.id}.md").write_text("\n".join((f"# {record.title}\n", *parts)), encoding="utf-8")
    settings = Settings(home=home)
    build_collection(settings, open_encoder(settings), Folder(papers, _COLLECTION, (".md",)), lambda _: None)
    return open_assistant(home)


def _asked(
    assistant: Assistant, records: Sequence[_Record], aspect: AspectName
) -> Iterator[tuple[str, bool, bool]]:
    """Yield for each paper and wording: the wording, whether a highlight came first, and refusal."""
    for record in records:
        if highlighted := record.highlighted(aspect):
            for wording in forms().highlights[aspect]:
                asked = ask(assistant, wording, (), Scope(papers=(f"{_COLLECTION.id}/{record.id}",)))
                first = _first(asked.turn)
                yield wording, any(_are_same(first, one) for one in highlighted), asked.is_refused


def _first(turn: Turn) -> str:
    """Return the letters of the first sentence that an answer cites, as it stands in the paper."""
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


def _figures(outcomes: Sequence[tuple[str, bool, bool]]) -> Figures:
    """Return the share told first what is highlighted, also of the worst and the best wording."""
    by_wording: dict[str, list[bool]] = {}
    for wording, is_highlighted, _ in outcomes:
        by_wording.setdefault(wording, []).append(is_highlighted)
    shares = [fmean(own) for own in by_wording.values()]
    return {
        "questions": len(outcomes),
        "first": fmean(is_highlighted for _, is_highlighted, _ in outcomes) if outcomes else 0.0,
        "worst": min(shares, default=0.0),
        "best": max(shares, default=0.0),
        "refused": sum(is_refused for *_, is_refused in outcomes),
    }


@command("highlights")
def highlights(data: Path, split: str = "") -> Report:
    records = [row for row in read_json_lines(data, _Record, _LINE) if split in ("", row.split)]
    if not records:
        raise EvaluationError(f"{data} has no paper of the split {split!r}.")
    with tempfile.TemporaryDirectory() as home:
        assistant = _indexed(records, Path(home))
        figures = {
            aspect: _figures(list(_asked(assistant, records, aspect))) for aspect in forms().highlights
        }
    rows = [
        (
            aspect,
            one["questions"],
            *(f"{one[name]:.3f}" for name in ("first", "worst", "best")),
            one["refused"],
        )
        for aspect, one in figures.items()
    ]
    head = ("Asked for", "Questions", "Highlighted first", "Worst wording", "Best wording", "Refused")
    return Report(figures, [table(head, rows)])
