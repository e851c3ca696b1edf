"""A paper's passages grouped into sections and chapters. No Streamlit."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from corpus.records import Passage


@dataclass(frozen=True, slots=True)
class PaperSection:
    """A section with its heading, depth from 1, anchor and passages."""

    heading: str
    depth: int
    anchor: str
    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class Chapter:
    """A first-level heading with the sections below it; `own` is the text directly below it, if any."""

    heading: str
    own: PaperSection | None
    below: tuple[PaperSection, ...]

    @property
    def anchor(self) -> str:
        """Return the anchor of the chapter's own text, else one derived from its first section's."""
        return self.own.anchor if self.own else f"{self.below[0].anchor}-chapter"


def paper_sections(passages: Sequence[Passage]) -> tuple[PaperSection, ...]:
    """Return the sections of a paper in reading order, without the abstract."""
    body = [passage for passage in passages if passage.kind != "abstract"]
    runs = [tuple(run) for _, run in groupby(body, key=_named)]
    return tuple(
        PaperSection(_heading(run[0]), max(1, len(run[0].section)), f"section-{number}", run)
        for number, run in enumerate(runs, start=1)
    )


def chapters(sections: Sequence[PaperSection]) -> tuple[Chapter, ...]:
    """Group sections by their first-level heading, in reading order."""
    runs = [tuple(run) for _, run in groupby(sections, key=lambda section: _named(section.passages[0])[0])]
    return tuple(
        Chapter(run[0].heading, run[0], run[1:])
        if run[0].depth == 1
        else Chapter(run[0].passages[0].section[0].heading, None, run)
        for run in runs
    )


def _named(passage: Passage) -> tuple[object, ...]:
    """Return the key of a passage's section: its headings, else the heading of its kind."""
    return passage.section or (_heading(passage),)


def _heading(passage: Passage) -> str:
    if passage.section:
        return passage.section[-1].heading
    titles = {"caption": "Figures and tables", "table": "Figures and tables", "note": "Notes"}
    return titles.get(passage.kind, "Text")
