"""A paper's text as blocks to draw, with the references of its sentences as links. No Streamlit."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from types import MappingProxyType
from typing import Literal

from corpus.records import Box, Passage, Reference
from corpus.sentences import formulas_apart, with_formulas_named
from explorer.presenters.citations import parse_cite
from explorer.presenters.safe_text import JOINER, escaped

Marks = Mapping[str, frozenset[int]]
NO_MARKS: Marks = MappingProxyType({})
# References of one sentence; one with more is a list that the parser took for a sentence.
MOST_LINKED = 12

# The reach of symbols above and below the letters of a formula, in points.
REACH = 18.0
# The reach of letters below the box of a line, as a share of its height.
DESCENT = 0.2

BlockKind = Literal["plain", "linked", "table", "figure", "formula", "target"]


@dataclass(frozen=True, slots=True)
class Block:
    """Consecutive passages of a section that are drawn alike: as text, with links, as tables or pictures.

    The target passage is a block of its own; formulas and the text around them are parts of passages.
    """

    kind: BlockKind
    passages: tuple[Passage, ...]

    @property
    def text(self) -> str:
        return "\n\n".join(passage.text.strip() for passage in self.passages)


@dataclass(frozen=True, slots=True)
class Bibliography:
    """A paper's references; `held` are the ids of those that are papers of this corpus, by index."""

    entries: tuple[Reference, ...]
    held: Mapping[int, str]

    def entry_of(self, cite: object) -> int | None:
        """Return the index of the entry that a clicked link leads to, None if there is none."""
        place = (parse_cite(cite) or (0, 0))[0] - 1
        return place if 0 <= place < len(self.entries) else None

    def linked(self, references: Sequence[int]) -> tuple[int, ...]:
        """Return the distinct references of a sentence that this bibliography has."""
        known = dict.fromkeys(entry for entry in references if 0 <= entry < len(self.entries))
        return tuple(known)[:MOST_LINKED]


def blocks(
    passages: Sequence[Passage],
    cited: Bibliography,
    target: str = "",
    marks: Marks = NO_MARKS,
    *,
    has_pages: bool = False,
) -> Iterator[Block]:
    """Yield the blocks of a section; `target` is the id of the passage that the address names.

    Consecutive passages that are drawn alike are one block, so that a long paper has few elements. If pages
    can be shown, formulas are blocks of their own. `marks` are the sentences that the reader has marked, by
    passage id; such a passage is a whole block, with the notes below it.
    """

    def parts_of(passage: Passage) -> Iterator[tuple[bool, Passage]]:
        if not (has_pages and passage.sentences) or passage.id == target:
            yield False, passage
        elif passage.id in marks:
            yield False, with_formulas_named(passage)
        else:
            yield from formulas_apart(passage)

    def kind_of(part: tuple[bool, Passage]) -> BlockKind:
        is_formula, passage = part
        if passage.id == target:
            return "target"
        if is_formula:
            return "formula"
        if passage.table or passage.area:
            return "table" if passage.table else "figure"
        if passage.id in marks:
            return "linked"
        return (
            "linked" if any(cited.linked(sentence.references) for sentence in passage.sentences) else "plain"
        )

    parts = (part for passage in passages for part in parts_of(passage))
    for (kind, _), run in groupby(
        parts, key=lambda part: (kind_of(part), part[1].id in marks and part[1].id)
    ):
        yield Block(kind, tuple(passage for _, passage in run))


def area_between(boxes: Sequence[Box], text: Sequence[Box]) -> Box:
    """Return the area of formulas on their page, up to the lines of `text` above and below them."""
    left, right = min(box.x for box in boxes), max(box.x + box.width for box in boxes)
    first, last = min(map(_middle, boxes)), max(map(_middle, boxes))
    others = [box for box in text if box.page == boxes[0].page and box not in boxes]
    column = [box for box in others if box.x < right and box.x + box.width > left]
    # The last line of a paragraph may end before a formula begins.
    start, end = min([left, *(box.x for box in column)]), max([right, *(box.x + box.width for box in column)])
    beside = [box for box in others if box.x < end and box.x + box.width > start]
    above = [box.y + (1 + DESCENT) * box.height for box in beside if _middle(box) < first]
    below = [box.y for box in beside if _middle(box) > last]
    top = max([min(box.y for box in boxes) - REACH, *(edge for edge in above if edge < first)])
    foot = min([max(box.y + box.height for box in boxes) + REACH, *(edge for edge in below if edge > last)])
    return Box(boxes[0].page, left, top, right - left, foot - top)


def _middle(box: Box) -> float:
    return box.y + box.height / 2


def linked_markdown(passages: Sequence[Passage], cited: Bibliography, marks: Marks = NO_MARKS) -> str:
    """Return passages as Markdown whose only links are the references after their sentences.

    Sentences that the reader has marked have a yellow background.
    """
    lines = (
        line
        for passage in passages
        for line in _paragraphs(passage, cited, marks.get(passage.id, frozenset()))
    )
    return "\n\n".join(lines)


def link_id(entry: int, held: Collection[int]) -> str:
    """Return the id of a link to an entry: its number, and 1 if this corpus has the paper, else 0."""
    return f"cite-{entry + 1}-{1 if entry in held else 0}"


def sections_citing(passages: Sequence[Passage], entry: int) -> tuple[str, ...]:
    """Return the distinct headings of the sections that cite an entry, in reading order."""
    citing = (
        passage.section[-1].heading if passage.section else "Text"
        for passage in passages
        if any(entry in sentence.references for sentence in passage.sentences)
    )
    return tuple(dict.fromkeys(citing))


def _paragraphs(passage: Passage, cited: Bibliography, marked: frozenset[int]) -> Iterator[str]:
    """Yield the paragraphs of a passage as Markdown, one for each line of its text."""
    pieces = [
        _piece(passage, index, cited, is_marked=index in marked) for index in range(len(passage.sentences))
    ]
    whole = "".join(pieces) if pieces else escaped(passage.text)
    yield from (line.strip() for line in whole.split("\n") if line.strip())


def _piece(passage: Passage, index: int, cited: Bibliography, *, is_marked: bool) -> str:
    """Return a sentence as Markdown, with its links and the white space after it."""
    sentence = passage.sentences[index]
    text = passage.text[sentence.start : sentence.end]
    background = ":yellow-background[{}]" if is_marked else "{}"
    escaped_lines = map(escaped, text.strip().split("\n"))
    lines = "\n".join(background.format(line) if line else "" for line in escaped_lines)
    links = "".join(
        f"[\\[{entry + 1}\\]](#{link_id(entry, cited.held)})" for entry in cited.linked(sentence.references)
    )
    space = "\n" if "\n" in text[len(text.rstrip()) :] else " "
    return f"{lines}{JOINER if links else ''}{links}{space}"
