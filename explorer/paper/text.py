"""A paper's text on the Paper screen: abstract, table of contents, sections with their references linked."""

import streamlit as st

from corpus.records import Paper, Passage
from explorer.paper.cited_text import Bibliography, Block, blocks, linked_markdown
from explorer.paper.sections import Chapter, PaperSection, chapters, paper_sections
from explorer.presenters import cut_passage, escaped, one_line, shortened

LONGEST_HEADING = 120


def draw_text(
    paper: Paper,
    passages: tuple[Passage, ...],
    cited: Bibliography,
    meant: Passage | None,
    sentence: int | None,
) -> None:
    """Draw abstract, contents and sections; the passage that the address names is marked where it stands."""
    _draw_abstract(paper, meant, sentence)
    sections = paper_sections(passages)
    if not sections:
        st.caption("Only title and abstract are indexed; the full text is not.")
        return
    if len(sections) > 1:
        draw_contents(sections)
    for chapter in chapters(sections):
        if chapter.own is None:
            st.subheader(_heading(chapter.heading), anchor=chapter.anchor)
        for section in (chapter.own, *chapter.below):
            if section:
                _draw_section(section, cited, meant, sentence)


def draw_meant(meant: Passage, sentence: int | None) -> None:
    """Draw the passage that the address names above the text, where it is seen at once."""
    with st.container(border=True, key="meant"):
        st.markdown(f"**The passage you came for** · {escaped(meant.section_path or 'text')}")
        _draw_marked(meant, sentence, place_of("meant", meant, sentence))


def place_of(name: str, passage: Passage, sentence: int | None) -> str:
    """Return what a marked place is called in the page: each sentence has a name of its own."""
    return f"{name}_{passage.number}_{'all' if sentence is None else sentence}"


def draw_contents(sections: tuple[PaperSection, ...]) -> None:
    """Draw the table of contents behind a button that stays in sight while the text is read."""
    menu = f"Contents · {len(sections)} sections"
    with st.container(key="contents_bar"), st.popover(menu, icon=":material/toc:", key="contents"):
        st.markdown("\n".join(_chapter_line(chapter) for chapter in chapters(sections)))


def _chapter_line(chapter: Chapter) -> str:
    line = f"- {_link(chapter.heading, chapter.anchor)}"
    if not chapter.below:
        return line
    return f"{line}  \n  :small[{' · '.join(_link(one.heading, one.anchor) for one in chapter.below)}]"


def _link(heading: str, anchor: str) -> str:
    return f"[{_heading(heading)}](#{anchor})"


def _heading(heading: str) -> str:
    return escaped(shortened(heading, LONGEST_HEADING)) or "Text"


def _draw_abstract(paper: Paper, meant: Passage | None, sentence: int | None) -> None:
    with st.container(key="reading_abstract"):
        st.subheader("Abstract", anchor="abstract")
        if meant and meant.kind == "abstract":
            _draw_marked(meant, sentence, place_of("abstract", meant, sentence))
        elif paper.abstract:
            st.text(one_line(paper.abstract))
        else:
            st.caption("This paper came without an abstract.")


def _draw_section(
    section: PaperSection, cited: Bibliography, meant: Passage | None, sentence: int | None
) -> None:
    heading = _heading(section.heading)
    st.subheader(heading if section.depth == 1 else f":small[{heading}]", anchor=section.anchor)
    with st.container(key=f"reading_{section.anchor}"):
        for block in blocks(section.passages, cited, meant.id if meant else ""):
            _draw_block(block, cited, sentence)


def _draw_block(block: Block, cited: Bibliography, sentence: int | None) -> None:
    if block.kind == "meant":
        passage = block.passages[0]
        _draw_marked(passage, sentence, f"text_{passage.number}")
    elif block.kind == "linked":
        st.markdown(linked_markdown(block.passages, cited))
    else:
        st.text(block.text)


def _draw_marked(passage: Passage, sentence: int | None, place: str) -> None:
    """Draw a passage with one sentence marked, or all of it."""
    parts = cut_passage(passage, sentence)
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
