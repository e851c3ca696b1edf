"""A paper's text on the Paper screen: abstract, table of contents, sections with linked references."""

from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path

import streamlit as st

from corpus.records import Paper, Passage, Table
from corpus.sentences import with_formulas_named
from explorer.components.page_image import EvidenceBoxes, show_strip
from explorer.components.passage_table import draw_passage_table
from explorer.paper.cited_text import Bibliography, Block, Marks, area_between, blocks, linked_markdown
from explorer.paper.notes.on_paper import PaperNotes
from explorer.paper.sections import Chapter, PaperSection, chapters, paper_sections
from explorer.presenters.citations import cut_passage, passage_boxes
from explorer.presenters.safe_text import escaped, one_line, shortened

LONGEST_HEADING = 120
FIGURE_MARGIN = 4.0


@dataclass(frozen=True, slots=True)
class Reading:
    """A paper to draw, with its references, its PDF if there is one, the target place, and notes."""

    paper: Paper
    cited: Bibliography
    pdf: Path | None
    target: Passage | None
    sentence: int | None
    notes: PaperNotes = field(default_factory=PaperNotes)


def draw_text(reading: Reading, passages: tuple[Passage, ...]) -> None:
    """Draw abstract, contents and sections, with the target passage marked in its place."""
    _draw_abstract(reading, passages)
    sections = paper_sections(passages)
    if not sections:
        st.caption("Only title and abstract are indexed; the full text is not.")
        return
    if len(sections) > 1:
        menu = f"Contents · {len(sections)} sections"
        with st.container(key="contents_bar"), st.popover(menu, icon=":material/toc:", key="contents"):
            st.markdown("\n".join(map(_chapter_line, chapters(sections))))
    for chapter in chapters(sections):
        if chapter.own is None:
            st.header(_heading(chapter.heading), anchor=chapter.anchor)
        for section in (chapter.own, *chapter.below):
            if section:
                _draw_section(section, reading)


def draw_target(reading: Reading, target: Passage) -> None:
    """Draw the target passage above the text."""
    with st.container(border=True, key="meant"):
        st.markdown(f"**The passage you came for** · {escaped(target.section_path or 'text')}")
        _draw_marked(reading, target, place_of("meant", target, reading.sentence))


def place_of(name: str, passage: Passage, sentence: int | None) -> str:
    """Return the key of a marked passage or sentence, unique on the page."""
    return f"{name}_{passage.number}_{'all' if sentence is None else sentence}"


def _chapter_line(chapter: Chapter) -> str:
    line = f"- {_link(chapter.heading, chapter.anchor)}"
    links = " · ".join(_link(section.heading, section.anchor) for section in chapter.below)
    return f"{line}  \n  :small[{links}]" if links else line


def _link(heading: str, anchor: str) -> str:
    return f"[{_heading(heading)}](#{anchor})"


def _heading(heading: str) -> str:
    return escaped(shortened(heading, LONGEST_HEADING)) or "Text"


def _draw_abstract(reading: Reading, passages: tuple[Passage, ...]) -> None:
    paper, target = reading.paper, reading.target
    marks = reading.notes.marks(passages[:1])
    with st.container(key="reading_abstract"):
        st.header("Abstract", anchor="abstract")
        if target and target.kind == "abstract":
            _draw_marked(reading, target, place_of("abstract", target, reading.sentence))
        elif marks:
            st.markdown(linked_markdown(passages[:1], reading.cited, marks))
        elif paper.abstract:
            st.text(one_line(paper.abstract))
        else:
            st.caption("This paper came without an abstract.")
    _draw_notes(reading, passages[:1])


def _draw_section(section: PaperSection, reading: Reading) -> None:
    draw_heading = st.header if section.depth == 1 else st.subheader
    draw_heading(_heading(section.heading), anchor=section.anchor)
    with st.container(key=f"reading_{section.anchor}"):
        marks, target = reading.notes.marks(section.passages), reading.target.id if reading.target else ""
        has_pages = reading.pdf is not None
        drawn = blocks(section.passages, reading.cited, target, marks, has_pages=has_pages)
        for place, block in enumerate(drawn):
            if block.kind == "formula" and reading.pdf:
                _draw_formula(reading.pdf, section, block, place)
            else:
                _draw_block(block, reading, marks)
            _draw_notes(reading, block.passages)


def _draw_formula(pdf: Path, section: PaperSection, block: Block, place: int) -> None:
    """Draw formulas as a part of the page's picture, scaled like the text of their section."""
    boxes = tuple(box for passage in block.passages for box in passage_boxes(passage, None))
    text = tuple(box for passage in section.passages for box in passage_boxes(passage, None))
    for page in sorted({box.page for box in boxes}):
        area = area_between([box for box in boxes if box.page == page], text)
        shown = EvidenceBoxes((area,), text, "Formula", margin=0.0).on(page)
        name = f"formula_{block.passages[0].number}_{place}_{page}"
        show_strip(pdf, page, shown, name)


def _draw_notes(reading: Reading, passages: tuple[Passage, ...]) -> None:
    for passage in passages:
        for note in reading.notes.on(passage.id):
            reading.notes.draw(note)


def _draw_block(block: Block, reading: Reading, marks: Marks) -> None:
    if block.kind == "target":
        passage = block.passages[0]
        _draw_marked(reading, passage, f"text_{passage.number}")
    elif block.kind == "linked":
        st.markdown(linked_markdown(block.passages, reading.cited, marks))
    elif block.kind == "table":
        for _, parts in groupby(block.passages, key=lambda passage: passage.caption):
            draw_passage_table(_whole_table(tuple(parts)))
    elif block.kind == "figure":
        for passage in block.passages:
            _draw_cut(reading, passage, f"text_{passage.number}")
            st.text(passage.text.strip())
    else:
        st.text(block.text)


def _whole_table(parts: tuple[Passage, ...]) -> Passage:
    """Join the passages of one table into a single passage."""
    tables = [part.table for part in parts if part.table]
    rows = (row for table in tables for row in table.rows[table.header :])
    whole = Table((*tables[0].rows[: tables[0].header], *rows), tables[0].header)
    return replace(
        parts[0],
        table=whole,
        sentences=parts[0].sentences + sum((p.sentences[p.first_row :] for p in parts[1:]), ()),
    )


def _draw_cut(reading: Reading, passage: Passage, place: str) -> None:
    """Draw the figure of a caption as a part of the page's picture."""
    area = passage.area
    if area and reading.pdf:
        shown = EvidenceBoxes((area,), (area,), "Figure", margin=FIGURE_MARGIN)
        show_strip(reading.pdf, area.page, shown, f"figure_{place}")


def _draw_marked(reading: Reading, passage: Passage, place: str) -> None:
    """Draw a passage with the target sentence marked, or all of it; of a table the row."""
    if passage.table:
        with st.container(key=f"marked_sentence_{place}"):
            draw_passage_table(passage, reading.sentence, place)
        return
    if passage.kind == "caption":
        _draw_cut(reading, passage, place)
    parts = cut_passage(with_formulas_named(passage) if reading.pdf else passage, reading.sentence)
    with st.container(key=f"reading_marked_{place}", gap="xsmall"):
        if not parts.sentence:
            with st.container(key=f"marked_sentence_{place}"):
                st.text(parts.before)
            return
        if parts.before:
            st.text(parts.before)
        with st.container(key=f"marked_sentence_{place}"):
            st.text(parts.sentence)
        if parts.after:
            st.text(parts.after)
