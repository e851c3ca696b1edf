"""A paper's text as it is drawn: blocks, with the references of its sentences as links. No Streamlit."""

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
# Of one sentence; more is no sentence, but a list that the parser took for one.
MOST_LINKED = 12

# In points: how far signs reach above and below the letters of a formula.
REACH = 18.0
DESCENT = 0.2  # of a line's height, below its box

BlockKind = Literal["plain", "linked", "table", "figure", "formula", "meant"]


@dataclass(frozen=True, slots=True)
class Block:
    """Passages of a section that are drawn alike: as text, with links, as tables, with a cut from the page.

    The one that is meant is a block of its own; of formulas and the text around them they are parts.
    """

    kind: BlockKind
    passages: tuple[Passage, ...]

    @property
    def text(self) -> str:
        return "\n\n".join(passage.text.strip() for passage in self.passages)


@dataclass(frozen=True, slots=True)
class Bibliography:
    """A paper's references, and which of them are papers of this corpus: their ids by the entries' places."""

    entries: tuple[Reference, ...]
    held: Mapping[int, str]

    def entry_of(self, cite: object) -> int | None:
        """Return the place of the entry that a link in the text leads to, None for no such link."""
        place = (parse_cite(cite) or (0, 0))[0] - 1
        return place if 0 <= place < len(self.entries) else None

    def linked(self, references: Sequence[int]) -> tuple[int, ...]:
        """Return the references of a sentence that this bibliography has, each once."""
        known = dict.fromkeys(one for one in references if 0 <= one < len(self.entries))
        return tuple(known)[:MOST_LINKED]


def blocks(
    passages: Sequence[Passage],
    cited: Bibliography,
    meant: str = "",
    marks: Marks = NO_MARKS,
    *,
    has_pages: bool = False,
) -> Iterator[Block]:
    """Yield the blocks of a section; `meant` is the id of the passage that the address names.

    What follows each other and is drawn alike is one block: a long paper has few elements. With pages to cut
    them from, formulas are blocks of their own. A passage with `marks`, the sentences that its reader has
    marked by its id, is one of its own, whole: notes stand below it.
    """

    def parts_of(passage: Passage) -> Iterator[tuple[bool, Passage]]:
        if not (has_pages and passage.sentences) or passage.id == meant:
            yield False, passage
        elif passage.id in marks:
            yield False, with_formulas_named(passage)
        else:
            yield from formulas_apart(passage)

    def kind_of(part: tuple[bool, Passage]) -> BlockKind:
        is_formula, passage = part
        if passage.id == meant:
            return "meant"
        if is_formula:
            return "formula"
        if passage.table or passage.area:
            return "table" if passage.table else "figure"
        if passage.id in marks:
            return "linked"
        return "linked" if any(cited.linked(one.references) for one in passage.sentences) else "plain"

    parts = (part for passage in passages for part in parts_of(passage))
    for (kind, _), run in groupby(
        parts, key=lambda part: (kind_of(part), part[1].id in marks and part[1].id)
    ):
        yield Block(kind, tuple(passage for _, passage in run))


def area_between(boxes: Sequence[Box], text: Sequence[Box]) -> Box:
    """Return where formulas stand on their page, up to the lines of `text` above and below them."""
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
    """Return passages as Markdown whose only links are the references behind their sentences.

    Sentences with a mark of their reader have a yellow ground.
    """
    lines = (
        line
        for passage in passages
        for line in _paragraphs(passage, cited, marks.get(passage.id, frozenset()))
    )
    return "\n\n".join(lines)


def link_id(entry: int, held: Collection[int]) -> str:
    """Return the id of a link to an entry: its number, and 1 where this corpus has it."""
    return f"cite-{entry + 1}-{1 if entry in held else 0}"


def sections_citing(passages: Sequence[Passage], entry: int) -> tuple[str, ...]:
    """Return the headings of the sections whose sentences cite an entry, each once, in reading order."""
    citing = (
        passage.section[-1].heading if passage.section else "Text"
        for passage in passages
        if any(entry in sentence.references for sentence in passage.sentences)
    )
    return tuple(dict.fromkeys(citing))


def _paragraphs(passage: Passage, cited: Bibliography, marked: frozenset[int]) -> Iterator[str]:
    """Yield the paragraphs of a passage: its lines, as they are broken in its text."""
    pieces = [
        _piece(passage, index, cited, is_marked=index in marked) for index in range(len(passage.sentences))
    ]
    whole = "".join(pieces) if pieces else escaped(passage.text)
    yield from (line.strip() for line in whole.split("\n") if line.strip())


def _piece(passage: Passage, index: int, cited: Bibliography, *, is_marked: bool) -> str:
    """Return one sentence, its links, and the white space behind it."""
    sentence = passage.sentences[index]
    text = passage.text[sentence.start : sentence.end]
    ground = ":yellow-background[{}]" if is_marked else "{}"
    lines = "\n".join(
        ground.format(said) if (said := escaped(line)) else "" for line in text.strip().split("\n")
    )
    links = "".join(
        f"[\\[{entry + 1}\\]](#{link_id(entry, cited.held)})" for entry in cited.linked(sentence.references)
    )
    behind = "\n" if "\n" in text[len(text.rstrip()) :] else " "
    return f"{lines}{JOINER if links else ''}{links}{behind}"
