"""The Paper screen: one paper, its text by section, its pages, and its place among the others."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import streamlit as st

from corpus.errors import CorpusError
from corpus.records import Paper, PaperHits, Passage, Scope
from corpus.search.hybrid import similar_papers
from corpus.sentences import without_repeats
from explorer.app.navigation import COLLECTION, PAPER, inline_link
from explorer.app.resources import Library
from explorer.app.session import Visitor
from explorer.app.visitor.session import VisitorSession
from explorer.components.listener import Address, listen
from explorer.paper.at_a_glance import draw_at_a_glance
from explorer.paper.bibliography import draw_bibliography
from explorer.paper.cited_reference import draw_cited_reference
from explorer.paper.cited_text import Bibliography
from explorer.paper.header import PAGES_ANCHOR, SIMILAR_ANCHOR, draw_head, draw_title
from explorer.paper.notes.on_paper import PaperNotes, draw_keeping, draw_overview, read_notes
from explorer.paper.pages import draw_pages
from explorer.paper.relatedness import reasons
from explorer.paper.text import Reading, draw_meant, draw_text, place_of
from explorer.presenters.safe_text import escaped, shortened
from explorer.presenters.wording import short_reference

SIMILAR = 8


@dataclass(frozen=True, slots=True)
class Opened:
    """A paper as the address names it: its passages, the one that is meant, and in it the sentence."""

    paper: Paper
    passages: tuple[Passage, ...]
    cited: Bibliography
    pdf: Path | None
    meant: Passage | None
    sentence: int | None
    is_lost: bool = False  # what the address means of the paper is not in it
    notes: PaperNotes = field(default_factory=PaperNotes)

    @property
    def reading(self) -> Reading:
        return Reading(self.paper, self.cited, self.pdf, self.meant, self.sentence, self.notes)

    @property
    def above(self) -> Passage | None:
        """Return the passage that is shown above the text; the abstract stands there anyway."""
        return self.meant if self.meant and self.meant.kind != "abstract" else None


def render_paper(library: Library, visitor: Visitor) -> None:
    """Draw the paper that the address names."""
    visitor.update(VisitorSession.read_paper, read=True)
    address = {name: st.query_params.get(name, "") for name in ("id", "passage", "sentence")}
    try:
        opened = _open(library, address)
    except CorpusError:
        _draw_unknown()
        return
    opened = replace(opened, notes=read_notes(library, visitor, opened.paper, opened.passages))
    heard = listen("paper_listener", narrow=visitor.now.narrow, address=Address(PAPER, address))
    visitor.update(VisitorSession.measure, narrow=heard.narrow)
    _draw_paper(library, visitor, opened)
    if opened.cited.entries:
        draw_cited_reference(visitor, opened.paper, opened.passages, opened.cited)
    if opened.meant:
        # Whoever comes from a link on this very page is looking at another place of it.
        place = place_of("meant" if opened.above else "abstract", opened.meant, opened.sentence)
        listen("place_listener", narrow=visitor.now.narrow, show=f"marked_sentence_{place}", to_top=False)


def meant_passage(
    passages: tuple[Passage, ...], number: str, sentence: str
) -> tuple[Passage | None, int | None]:
    """Return the passage and sentence that an address names, None for what it does not or wrongly names."""
    wanted = int(number) if number.isdecimal() and len(number) < 7 else -1
    passage = next((one for one in passages if one.number == wanted), None)
    if passage is None or not (sentence.isdecimal() and len(sentence) < 7):
        return passage, None
    return passage, int(sentence) if int(sentence) < len(passage.sentences) else None


def _open(library: Library, address: dict[str, str]) -> Opened:
    """Open the paper that the address names; raises CorpusError where this corpus has no such paper."""
    paper = library.corpus.paper(address["id"])
    passages = library.corpus.passages(paper.id)
    meant, sentence = meant_passage(passages, address["passage"], address["sentence"])
    held = {link.reference: link.cited for link in library.corpus.links.from_paper(paper.id)}
    cited = Bibliography(library.corpus.references(paper.id), held)
    is_lost = bool(address["passage"]) and meant is None
    return Opened(paper, passages, cited, library.pdf_path(paper.pdf_sha256), meant, sentence, is_lost)


def _draw_unknown() -> None:
    with st.container(key="reading_unknown"):
        st.title("There is no such paper here", anchor=False)
        st.markdown("The address names a paper that this corpus does not hold. It may have been removed.")
        if st.button("Go to the collection", type="primary", key="to_collection"):
            st.switch_page(COLLECTION.page)


def _draw_paper(library: Library, visitor: Visitor, opened: Opened) -> None:
    """Draw the head over two columns: the text, and its pages or, where there are none, what is similar."""
    paper, above = opened.paper, opened.above
    home = library.corpus.collection(paper.collection_id)
    # It may have been renamed since.
    home = replace(home, title=library.kept.title) if library.kept else home
    draw_title(home, paper)
    if opened.is_lost:
        st.caption("The passage that the address names is not in this paper. It may have been read anew.")
    if above and visitor.now.narrow:
        # On a phone what the reader came for stands right below the title.
        draw_meant(opened.reading, above)
    found = similar_papers(library.corpus, opened.passages[0], Scope(), SIMILAR) if opened.passages else ()
    why = reasons(library.corpus, paper, [one.paper for one in found])
    draw_head(
        home,
        visitor,
        paper,
        has_similar=bool(found),
        has_pages=opened.pdf is not None,
        draw_keeping=partial(draw_keeping, library, visitor, paper, opened.passages, opened.notes),
    )
    draw_overview(library, visitor, paper, opened.passages, opened.notes)
    text, side = st.columns([0.56, 0.44] if opened.pdf else [0.66, 0.34], gap="large")
    with text:
        if above and not visitor.now.narrow:
            draw_meant(opened.reading, above)
        draw_at_a_glance(paper)
        draw_text(opened.reading, _as_read(library, opened))
        draw_bibliography(library, paper, opened.cited)
    with side:
        if opened.pdf:
            if visitor.now.narrow:
                st.header("Pages", anchor=PAGES_ANCHOR)
            draw_pages(opened.pdf, paper, opened.meant, opened.sentence)
    with text if opened.pdf else side:
        _draw_similar(found, why)


def _as_read(library: Library, opened: Opened) -> tuple[Passage, ...]:
    """Return a paper's passages as its text is read: where they overlap, each sentence once."""
    if not library.corpus.manifest.size_of(opened.paper.collection_id).overlap:
        return opened.passages
    return without_repeats(opened.passages, opened.meant.id if opened.meant else "")


def _draw_similar(found: tuple[PaperHits, ...], why: Mapping[str, str]) -> None:
    """Draw similar papers, each with what it shares with this one."""
    if not found:
        return
    st.header("Similar papers", anchor=SIMILAR_ANCHOR)
    with st.container(key="similar"):
        st.markdown("\n".join(f"- {_linked(one.paper, why.get(one.paper.id, ''))}" for one in found))


def _linked(paper: Paper, why: str) -> str:
    link = inline_link(PAPER, escaped(shortened(short_reference(paper), 140)), {"id": paper.id})
    return f"{link} :gray[{escaped(why)}]" if why else link
