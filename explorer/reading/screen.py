"""The Paper screen: one paper, its text by section, its pages, and what to do with it."""

import re

import streamlit as st

from corpus.errors import CorpusError
from corpus.records import Paper, Passage, Scope
from corpus.search import similar_papers
from explorer.asking.screen import ask_about
from explorer.comparing.desk import Desk, current_desk
from explorer.navigation import ASK, COLLECTION, COMPARE, PAPER
from explorer.parts.citations import cut_passage, passage_boxes, passage_page
from explorer.parts.listener import listen
from explorer.parts.page_image import file_name, pages_in, save_button, show_page
from explorer.parts.safe_text import escaped, one_line, shortened, web_address
from explorer.parts.sections import PaperSection, paper_sections
from explorer.parts.wording import affiliations, all_authors, counted, short_reference
from explorer.reader import Reader
from explorer.reading.at_a_glance import draw_at_a_glance
from explorer.reading.bibliography import draw_bibliography
from explorer.resources import Library

SIMILAR = 8
# Both ways of naming an arXiv paper, with or without its version.
_ARXIV_ID = re.compile(r"(?:\d{4}\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?/\d{7})(?:v\d{1,3})?")


def render_paper(library: Library, reader: Reader) -> None:
    """Draw the paper that the address names."""
    try:
        paper = library.corpus.paper(st.query_params.get("id", ""))
    except CorpusError:
        _draw_unknown()
        return
    passages = library.corpus.passages(paper.id)
    address = {name: st.query_params.get(name, "") for name in ("id", "passage", "sentence")}
    meant, sentence = meant_passage(passages, address["passage"], address["sentence"])
    reader.narrow = listen("paper_listener", narrow=reader.narrow, address=address).narrow
    above = meant if meant and meant.kind != "abstract" else None
    _draw_head(library, reader, paper, above if reader.narrow else None, sentence)
    has_pdf = library.pdf_path(paper.pdf_sha256) is not None
    text, side = st.columns([0.56, 0.44] if has_pdf else [0.66, 0.34], gap="large")
    with text:
        if above and not reader.narrow:
            _draw_meant(above, sentence)
        draw_at_a_glance(paper)
        _draw_text(paper, passages, meant, sentence)
        draw_bibliography(library, paper)
    with side:
        if has_pdf:
            _draw_pages(library, paper, meant, sentence)
        _draw_bibtex(paper)
        _draw_similar(library, passages)
    if meant:
        # Whoever comes from a link on this very page is looking at another place of it.
        place = _place_of("meant" if above else "abstract", meant, sentence)
        listen("place_listener", narrow=reader.narrow, show=f"marked_sentence_{place}", to_top=False)


def meant_passage(
    passages: tuple[Passage, ...], number: str, sentence: str
) -> tuple[Passage | None, int | None]:
    """Return the passage and sentence that an address names, None for what it does not or wrongly names."""
    wanted = int(number) if number.isdecimal() and len(number) < 7 else -1
    passage = next((one for one in passages if one.number == wanted), None)
    if passage is None or not (sentence.isdecimal() and len(sentence) < 7):
        return passage, None
    return passage, int(sentence) if int(sentence) < len(passage.sentences) else None


def external_links(paper: Paper) -> tuple[tuple[str, str], ...]:
    """Return label and address of the paper's places elsewhere, plain web addresses only."""
    doi = paper.doi.removeprefix("https://doi.org/")
    wanted = (
        ("Anthology" if "aclanthology.org" in paper.url else "Web page", paper.url),
        ("DOI", f"https://doi.org/{doi}" if doi else ""),
        ("arXiv", f"https://arxiv.org/abs/{paper.arxiv_id}" if _ARXIV_ID.fullmatch(paper.arxiv_id) else ""),
        ("PDF at the publisher", paper.pdf_url),
    )
    return tuple((label, address) for label, url in wanted if (address := web_address(url)))


def _draw_unknown() -> None:
    with st.container(key="reading_unknown"):
        st.title("There is no such paper here", anchor=False)
        st.markdown("The address names a paper that this corpus does not hold. It may have been removed.")
        if st.button("Go to the collection", type="primary", key="to_collection"):
            st.switch_page(COLLECTION)


def _draw_head(
    library: Library, reader: Reader, paper: Paper, meant: Passage | None, sentence: int | None
) -> None:
    """Draw title, facts and what to do; on a phone what the reader came for stands right below the title."""
    home = library.corpus.collection(paper.collection_id)
    st.page_link(
        COLLECTION,
        label=escaped(shortened(home.title, 90)),
        icon=":material/chevron_left:",
        query_params={"collection": paper.collection_id},
    )
    st.title(escaped(paper.title), anchor=False)
    if meant:
        _draw_meant(meant, sentence)
    with st.container(key="authors", gap="xxsmall"):
        st.markdown(escaped(all_authors(paper.authors, 30)))
        if places := affiliations(paper.authors):
            st.caption(escaped(places))
    pages = f"pp. {paper.pages}" if paper.pages else ""
    facts = [part for part in (paper.venue, str(paper.year or ""), pages) if part]
    with st.container(horizontal=True, vertical_alignment="center", key="paper_links"):
        if paper.venue and str(paper.year) in paper.venue:
            facts.remove(str(paper.year))
        facts += [part for part in (home.source, home.licence) if part]
        st.caption(escaped(" · ".join(facts)), width="content")
        for label, address in external_links(paper):
            st.link_button(
                label, address, type="tertiary", icon=":material/open_in_new:", icon_position="right"
            )
    with st.container(horizontal=True, vertical_alignment="center", key="paper_actions"):
        if st.button("Ask about this paper", type="primary", key="ask_about"):
            ask_about(reader, (paper.id,))
            st.switch_page(ASK)
        _draw_adding(current_desk(), paper)


def _draw_adding(desk: Desk, paper: Paper) -> None:
    """Offer to compare the paper with others, or lead to the comparison that it is in."""
    if desk.state == "choosing" and paper.id in desk.papers:
        st.page_link(
            COMPARE, label=f"In the comparison: {counted(len(desk.papers), 'paper')}", icon=":material/check:"
        )
    else:
        st.button("Add to comparison", key="add_to_comparison", on_click=desk.add_to_chosen, args=(paper.id,))
    for note in desk.notes if desk.state == "choosing" else ():
        st.caption(escaped(note))


def _draw_text(
    paper: Paper, passages: tuple[Passage, ...], meant: Passage | None, sentence: int | None
) -> None:
    sections = paper_sections(passages)
    with st.container(key="reading_abstract"):
        st.subheader("Abstract", anchor=False)
        if meant and meant.kind == "abstract":
            _draw_marked(meant, sentence, _place_of("abstract", meant, sentence))
        elif paper.abstract:
            st.text(one_line(paper.abstract))
        else:
            st.caption("This paper came without an abstract.")
    if not sections:
        st.caption("Only title and abstract are indexed; the full text is not.")
        return
    if len(sections) > 1:
        with st.expander("Contents", expanded=len(sections) <= 12, key="contents"):
            st.markdown("\n".join(_contents_line(section) for section in sections))
    for section in sections:
        _draw_section(section, meant, sentence)


def _contents_line(section: PaperSection) -> str:
    indent = "    " * (section.depth - 1) if section.depth < 3 else "    "
    return f"{indent}- [{escaped(section.heading)}](#{section.anchor})"


def _draw_meant(meant: Passage, sentence: int | None) -> None:
    """Draw the passage that the address names above the text, where it is seen at once."""
    with st.container(border=True, key="meant"):
        st.markdown(f"**The passage you came for** · {escaped(meant.section_path or 'text')}")
        _draw_marked(meant, sentence, _place_of("meant", meant, sentence))


def _draw_section(section: PaperSection, meant: Passage | None, sentence: int | None) -> None:
    heading = escaped(section.heading)
    st.subheader(heading if section.depth == 1 else f":small[{heading}]", anchor=section.anchor)
    with st.container(key=f"reading_{section.anchor}"):
        for passage in section.passages:
            if meant and passage.id == meant.id:
                _draw_marked(passage, sentence, f"text_{passage.number}")
            else:
                st.text(passage.text.strip())


def _place_of(name: str, passage: Passage, sentence: int | None) -> str:
    """Return what a marked place is called in the page: each sentence has a name of its own."""
    return f"{name}_{passage.number}_{'all' if sentence is None else sentence}"


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


@st.fragment
def _draw_pages(library: Library, paper: Paper, meant: Passage | None, sentence: int | None) -> None:
    """Draw one page of the PDF with a way to the others; it opens at the passage the address names."""
    path = library.pdf_path(paper.pdf_sha256)
    if path is None:
        return
    last = max(1, pages_in(str(path)) or paper.page_count)
    first = min(last, (passage_page(meant, sentence) or 1) if meant else 1)
    address = f"{paper.id}#{meant.number if meant else ''}#{sentence}"
    if st.session_state.get("page_shown_for") != address:
        st.session_state["page_shown_for"], st.session_state["page_shown"] = address, first
    page = min(last, int(st.session_state.get("page_shown", first)))
    with st.container(horizontal=True, vertical_alignment="center", key="page_turner"):
        _turn_button(":material/chevron_left:", "Previous page", page - 1, enabled=page > 1)
        st.markdown(f"Page {page} of {last}", width="content")
        _turn_button(":material/chevron_right:", "Next page", page + 1, enabled=page < last)
        save_button(path, paper.id, "save_pdf")
    show_page(path, page, passage_boxes(meant, sentence) if meant else ())


def _turn_button(label: str, meaning: str, page: int, *, enabled: bool) -> None:
    key = meaning.replace(" ", "_").lower()
    st.button(
        label, key=key, help=meaning, type="tertiary", disabled=not enabled, on_click=_turn_to, args=(page,)
    )


def _turn_to(page: int) -> None:
    st.session_state["page_shown"] = page


def _draw_bibtex(paper: Paper) -> None:
    if not paper.bibtex:
        return
    with st.expander("Cite (BibTeX)", key="bibtex"):
        st.code(paper.bibtex, language=None, wrap_lines=True)
        st.download_button(
            "Download .bib",
            data=paper.bibtex,
            file_name=file_name(paper.id, "bib"),
            mime="application/x-bibtex",
            on_click="ignore",
            key="bibtex_file",
        )


def _draw_similar(library: Library, passages: tuple[Passage, ...]) -> None:
    if not passages:
        return
    found = similar_papers(library.corpus, passages[0], Scope(), SIMILAR)
    if not found:
        return
    st.subheader("Similar papers", anchor=False)
    with st.container(key="similar", gap="xxsmall"):
        for one in found:
            label = escaped(shortened(short_reference(one.paper), 140))
            st.page_link(PAPER, label=label, query_params={"id": one.paper.id})
