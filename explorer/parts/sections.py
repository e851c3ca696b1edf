"""A paper's passages gathered into the sections they come from. No Streamlit."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from corpus.records import Passage


@dataclass(frozen=True, slots=True)
class PaperSection:
    """A section as it is read: its path of headings, its passages, and the anchor it is reached by."""

    heading: str
    depth: int
    anchor: str
    passages: tuple[Passage, ...]


def paper_sections(passages: Sequence[Passage]) -> tuple[PaperSection, ...]:
    """Return the sections of a paper in reading order, the abstract left out."""
    body = [passage for passage in passages if passage.kind != "abstract"]
    runs = [tuple(run) for _, run in groupby(body, key=lambda passage: passage.section)]
    return tuple(
        PaperSection(_heading(run[0]), max(1, len(run[0].section)), f"section-{number}", run)
        for number, run in enumerate(runs, start=1)
    )


def _heading(passage: Passage) -> str:
    if passage.section:
        return passage.section[-1].heading
    return {"caption": "Figures and tables", "note": "Notes"}.get(passage.kind, "Text")
