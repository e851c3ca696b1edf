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


@dataclass(frozen=True, slots=True)
class Chapter:
    """A heading of the first level with the sections under it; `own` is the text right below it, if any."""

    heading: str
    own: PaperSection | None
    below: tuple[PaperSection, ...]

    @property
    def anchor(self) -> str:
        """Return the anchor of the chapter: its own text's, or one beside that of its first section."""
        return self.own.anchor if self.own else f"{self.below[0].anchor}-chapter"


def paper_sections(passages: Sequence[Passage]) -> tuple[PaperSection, ...]:
    """Return the sections of a paper in reading order, the abstract left out."""
    body = [passage for passage in passages if passage.kind != "abstract"]
    runs = [tuple(run) for _, run in groupby(body, key=_named)]
    return tuple(
        PaperSection(_heading(run[0]), max(1, len(run[0].section)), f"section-{number}", run)
        for number, run in enumerate(runs, start=1)
    )


def chapters(sections: Sequence[PaperSection]) -> tuple[Chapter, ...]:
    """Return sections by the heading of the first level that they stand under, in reading order.

    A chapter may have no text of its own: then nothing but its sections say what it is called.
    """
    runs = [tuple(run) for _, run in groupby(sections, key=lambda one: _named(one.passages[0])[0])]
    return tuple(_chapter(run) for run in runs)


def _chapter(run: tuple[PaperSection, ...]) -> Chapter:
    first = run[0].passages[0]
    if run[0].depth == 1:
        return Chapter(run[0].heading, run[0], run[1:])
    return Chapter(first.section[0].heading, None, run)


def _named(passage: Passage) -> tuple[object, ...]:
    """Return the key of a passage's section: its headings, or its kind where it has none."""
    return passage.section or (_heading(passage),)


def _heading(passage: Passage) -> str:
    if passage.section:
        return passage.section[-1].heading
    titles = {"caption": "Figures and tables", "table": "Figures and tables", "note": "Notes"}
    return titles.get(passage.kind, "Text")
