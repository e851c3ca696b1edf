"""The Paper screen: one paper, its text by section, its pages, bibliography and similar papers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import streamlit as st

from corpus.errors import CorpusError
from corpus.records import Paper, Passage, Scope
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
from explorer.paper.text import Reading, draw_target, draw_text, place_of
from explorer.presenters.safe_text import escaped, shortened
from explorer.presenters.wording import short_reference

SIMILAR = 8


@dataclass(frozen=True, slots=True)
class Opened:
    """The paper that the address names, with the target passage and sentence.

    `is_lost` is True if the address names a passage that the paper does not have.
    """

    paper: Paper
    passages: tuple[Passage, ...]
    cited: Bibliography
    pdf: Path | None
    target: Passage | None
    sentence: int | None
    is_lost: bool = False
    notes: PaperNotes = field(default_factory=PaperNotes)

    @property
    def reading(self) -> Reading:
        return Reading(self.paper, self.cited, self.pdf, self.target, self.sentence, self.notes)

    @property
    def above(self) -> Passage | None:
        """Return the target passage if it is shown above the text; the abstract is there anyway."""
        return self.target if self.target and self.target.kind != "abstract" else None


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
    report = listen("paper_listener", narrow=visitor.now.narrow, address=Address(PAPER, address))
    visitor.update(VisitorSession.measure, narrow=report.narrow)
    _draw_paper(library, visitor, opened)
    if opened.cited.entries:
        draw_cited_reference(visitor, opened.paper, opened.passages, opened.cited)
    if opened.target:
        # A link on this very page leads here from another place of it.
        place = place_of("meant" if opened.above else "abstract", opened.target, opened.sentence)
        listen("place_listener", narrow=visitor.now.narrow, show=f"marked_sentence_{place}", to_top=False)


def target_passage(
    passages: tuple[Passage, ...], number: str, sentence: str
) -> tuple[Passage | None, int | None]:
    """Return the passage and sentence that an address names, None for those that are missing or invalid."""
    index = int(number) if number.isdecimal() and len(number) < 7 else -1
    passage = next((passage for passage in passages if passage.number == index), None)
    if passage is None or not (sentence.isdecimal() and len(sentence) < 7):
        return passage, None
    return passage, int(sentence) if int(sentence) < len(passage.sentences) else None


def _open(library: Library, address: dict[str, str]) -> Opened:
    """Open the paper that the address names; raises CorpusError if this corpus does not have it."""
    paper = library.corpus.paper(address["id"])
    passages = library.corpus.passages(paper.id)
    target, sentence = target_passage(passages, address["passage"], address["sentence"])
    cited_ids = {link.reference: link.cited for link in library.corpus.links.from_paper(paper.id)}
    cited = Bibliography(library.corpus.references(paper.id), cited_ids)
    is_lost = bool(address["passage"]) and target is None
    return Opened(paper, passages, cited, library.pdf_path(paper.pdf_sha256), target, sentence, is_lost)


def _draw_unknown() -> None:
    with st.container(key="reading_unknown"):
        st.title("There is no such paper here", anchor=False)
        st.markdown("The address names a paper that this corpus does not hold. It may have been removed.")
        if st.button("Go to the collection", type="primary", key="to_collection"):
            st.switch_page(COLLECTION.page)


def _draw_paper(library: Library, visitor: Visitor, opened: Opened) -> None:
    """Draw the head above two columns: the text, and the pages or, without a PDF, the similar papers."""
    paper, above = opened.paper, opened.above
    home = library.corpus.collection(paper.collection_id)
    # The library may have been renamed since.
    home = replace(home, title=library.kept.title) if library.kept else home
    draw_title(home, paper)
    if opened.is_lost:
        st.caption("The passage that the address names is not in this paper. It may have been read anew.")
    if above and visitor.now.narrow:
        # On a phone the target comes right below the title.
        draw_target(opened.reading, above)
    similar = similar_papers(library.corpus, opened.passages[0], Scope(), SIMILAR) if opened.passages else ()
    reason_of = reasons(library.corpus, paper, [match.paper for match in similar])
    draw_head(
        home,
        visitor,
        paper,
        has_similar=bool(similar),
        has_pages=opened.pdf is not None,
        draw_keeping=partial(draw_keeping, library, visitor, paper, opened.passages, opened.notes),
    )
    draw_overview(library, visitor, paper, opened.passages, opened.notes)
    text, side = st.columns([0.56, 0.44] if opened.pdf else [0.66, 0.34], gap="large")
    with text:
        if above and not visitor.now.narrow:
            draw_target(opened.reading, above)
        draw_at_a_glance(paper)
        passages = opened.passages
        if library.corpus.manifest.size_of(paper.collection_id).overlap:
            passages = without_repeats(passages, opened.target.id if opened.target else "")
        draw_text(opened.reading, passages)
        draw_bibliography(library, paper, opened.cited)
    with side:
        if opened.pdf:
            if visitor.now.narrow:
                st.header("Pages", anchor=PAGES_ANCHOR)
            draw_pages(opened.pdf, paper, opened.target, opened.sentence)
    with text if opened.pdf else side:
        if similar:
            _draw_similar([match.paper for match in similar], reason_of)


def _draw_similar(papers: Sequence[Paper], reason_of: Mapping[str, str]) -> None:
    """Draw similar papers, each with the reason why it is similar."""
    st.header("Similar papers", anchor=SIMILAR_ANCHOR)
    lines = []
    for paper in papers:
        link = inline_link(PAPER, escaped(shortened(short_reference(paper), 140)), {"id": paper.id})
        reason = reason_of.get(paper.id, "")
        lines.append(f"- {link} :gray[{escaped(reason)}]" if reason else f"- {link}")
    with st.container(key="similar"):
        st.markdown("\n".join(lines))
