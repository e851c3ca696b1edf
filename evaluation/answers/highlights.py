"""The first sentence about a paper's challenge, approach or outcome, beside people's highlights."""

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
from evaluation.harness import Figures, Report, command, figures_table
from evaluation.input_files import EvaluationError, read_json_lines
from indexer.build.run import build_collection
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
        parts = (f"## {part.capitalize()}\n\n{' '.join(texts)}\n" for part, texts in record.source.items())
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
                yield wording, any(_are_same(first, sentence) for sentence in highlighted), asked.is_refused


def _first(turn: Turn) -> str:
    """Return the letters of the first sentence that an answer cites, as it stands in the paper."""
    passages = {passage.id: passage for paper in turn.evidence.papers for passage in paper.passages}
    for citation in (citation for sentence in turn.answer.sentences[:1] for citation in sentence.citations):
        if citation.passage_id in passages and citation.sentence is not None:
            return _letters(passages[citation.passage_id].sentence_text(citation.sentence))
    return ""


def _are_same(left: str, right: str) -> bool:
    """Return True for one sentence as two programs cut it: one holds the other, or most of it."""
    if min(len(left), len(right)) < SHORTEST_SAME:
        return bool(left) and left == right
    return left[:SHORTEST_SAME] in right or right[:SHORTEST_SAME] in left


def _letters(text: str) -> str:
    return "".join(character for character in text.lower() if character.isalnum())


def _figures(outcomes: Sequence[tuple[str, bool, bool]]) -> Figures:
    """Compute the share of answers that begin with a highlight, also of the worst and the best wording."""
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
        figures: dict[str, Figures] = {
            aspect: _figures(list(_asked(assistant, records, aspect))) for aspect in forms().highlights
        }
    columns = {
        "questions": "Questions",
        "first": "Highlighted first",
        "worst": "Worst wording",
        "best": "Best wording",
        "refused": "Refused",
    }
    return Report(figures, [figures_table("Asked for", figures, columns)])
