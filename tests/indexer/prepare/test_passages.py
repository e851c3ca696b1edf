"""Sections to passages: nothing lost, nothing across a section, about 200 words."""

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.records import Box, Paper, Passage, PassageSize, Section
from corpus.sentences import repeated, without_repeats
from corpus.store.rows import indexed_text
from corpus.store.rows import sentence_texts as sentence_texts_of
from corpus.text import storable, words
from indexer.parsers.document import Document, DocumentSection, Paragraph, Piece
from indexer.prepare.passages import make_passages

PAPER = Paper("notes/a", "notes", "On cats", (), 2020, "", "We watch cats. They sleep.")
METHOD = (Section("2", "Method"),)
DETAILS = (*METHOD, Section("2.1", "Details"))

sentence_texts = st.one_of(
    st.text(min_size=1, max_size=80),
    st.lists(st.sampled_from("cats sleep on mats and purr at night".split()), min_size=1, max_size=60).map(
        lambda chosen: " ".join(chosen).capitalize() + "."
    ),
)
boxes = st.lists(
    st.builds(
        Box,
        page=st.integers(1, 20),
        x=st.integers(0, 600).map(float),
        y=st.integers(0, 800).map(float),
        width=st.just(100.0),
        height=st.just(11.0),
    ),
    max_size=2,
).map(tuple)
references = st.lists(st.integers(0, 9), unique=True, max_size=3).map(tuple)
pieces = st.builds(Piece, text=sentence_texts, boxes=boxes, references=references)
paragraphs = st.builds(
    Paragraph,
    sentences=st.lists(pieces, max_size=12).map(tuple),
    kind=st.sampled_from(["body", "body", "body", "caption", "note"]),
)
sections = st.builds(
    DocumentSection,
    path=st.sampled_from([(), METHOD, DETAILS]),
    paragraphs=st.lists(paragraphs, max_size=6).map(tuple),
)
documents = st.builds(
    Document,
    abstract=st.lists(pieces, max_size=3).map(lambda found: (Paragraph(tuple(found), "abstract"),)),
    sections=st.lists(sections, max_size=4).map(tuple),
)


def _document(*sections: DocumentSection) -> Document:
    return Document(sections=sections)


def _section(path: tuple[Section, ...], *texts: str) -> DocumentSection:
    return DocumentSection(path, tuple(Paragraph((Piece(text),)) for text in texts))


def _sentences(count: int, length: int) -> Paragraph:
    return Paragraph(tuple(Piece(f"Number {n} " + "word " * (length - 2)) for n in range(count)))


def _letters(text: str) -> str:
    return "".join(text.split())


@given(documents)
def test_the_sentences_of_a_passage_joined_are_its_text(document: Document) -> None:
    for passage in make_passages(PAPER, document):
        spans = [(sentence.start, sentence.end) for sentence in passage.sentences]
        assert "".join(passage.text[start:end] for start, end in spans) == passage.text
        assert all(end == start for (_, end), (start, _) in pairwise(spans))
        assert all(passage.text[start:end].strip() for start, end in spans)


@given(documents)
def test_sentences_keep_their_boxes_and_references(document: Document) -> None:
    """Every sentence that can be stored comes back once, in order, with what belongs to it."""
    _, *body = make_passages(PAPER, document)
    found = [
        (passage.sentence_text(place), sentence.boxes, sentence.references)
        for passage in body
        for place, sentence in enumerate(passage.sentences)
    ]
    written = [
        (" ".join(storable(piece.text).split()), piece.boxes, piece.references)
        for section in document.sections
        for paragraph in section.paragraphs
        for piece in paragraph.sentences
    ]
    assert found == [piece for piece in written if piece[0]]


@given(documents)
def test_passages_are_numbered_and_belong_to_their_paper(document: Document) -> None:
    passages = make_passages(PAPER, document)
    assert [passage.number for passage in passages] == list(range(len(passages)))
    assert [passage.id for passage in passages] == [f"notes/a#{n}" for n in range(len(passages))]
    assert {(passage.paper_id, passage.collection_id) for passage in passages} == {("notes/a", "notes")}
    assert all(passage.text for passage in passages)


@given(st.lists(sentence_texts.filter(str.isprintable), min_size=1, max_size=40))
def test_no_word_of_a_section_is_lost_or_said_twice(texts: list[str]) -> None:
    _, *body = make_passages(PAPER, _document(_section(METHOD, *texts)))
    assert _letters("".join(passage.text for passage in body)) == _letters("".join(texts))


@given(st.lists(st.integers(5, 60), min_size=1, max_size=60))
def test_passages_have_about_two_hundred_words_and_no_short_rest(lengths: list[int]) -> None:
    section = DocumentSection(METHOD, tuple(_sentences(1, length) for length in lengths))
    _, *body = make_passages(PAPER, _document(section))
    counts = [len(words(passage.text)) for passage in body]
    assert max(counts) <= 200 * 1.15 * 1.15 + 1
    if sum(lengths) > 400:
        assert min(counts[:-1]) > 50


sizes = st.integers(100, 750).flatmap(
    lambda most: st.builds(PassageSize, words=st.just(most), overlap=st.integers(0, most // 2))
)


def _numbered(lengths: list[int], path: tuple[Section, ...]) -> DocumentSection:
    """Return a section of sentences that all differ, in paragraphs of three."""
    texts = [f"In {path[-1].title} case{n} " + "word " * (length - 3) for n, length in enumerate(lengths)]
    pieces = [Piece(text.strip()) for text in texts]
    return DocumentSection(
        path, tuple(Paragraph(tuple(pieces[at : at + 3])) for at in range(0, len(pieces), 3))
    )


@given(sizes, st.lists(st.integers(5, 60), min_size=1, max_size=90), st.lists(st.integers(5, 60)))
def test_passages_hold_every_sentence(size: PassageSize, first: list[int], second: list[int]) -> None:
    sections = (_numbered(first, METHOD), _numbered(second, DETAILS))
    passages = make_passages(PAPER, _document(*sections), size)
    assert passages == make_passages(PAPER, _document(*sections), size)
    assert {len(passage.section) for passage in passages[1:]} <= {1, 2}
    for passage, section in ((passage, sections[len(passage.section) - 1]) for passage in passages[1:]):
        held = {piece.text for paragraph in section.paragraphs for piece in paragraph.sentences}
        assert {passage.sentence_text(at) for at in range(len(passage.sentences))} <= held
        assert len(words(passage.text)) <= size.words * 1.15 * 1.15 + 1
    written = [
        p.text for section in sections for paragraph in section.paragraphs for p in paragraph.sentences
    ]
    for whole in ("", *(passage.id for passage in passages[1:])):
        read = without_repeats(passages, whole)[1:]
        assert [
            passage.sentence_text(at) for passage in read for at in range(len(passage.sentences))
        ] == written
        assert all(
            "".join(passage.text[s.start : s.end] for s in passage.sentences) == passage.text
            for passage in read
        )


@given(sizes)
def test_a_passage_repeats_at_most_as_many_words_as_are_asked_for(size: PassageSize) -> None:
    passages = make_passages(PAPER, _document(_numbered([20] * 120, METHOD)), size)
    counts = {repeated(before, passage) for before, passage in pairwise(passages[1:])}
    assert counts == {size.overlap // 20}


def test_a_section_of_a_thousand_words_becomes_five_even_passages_and_none_crosses_a_section() -> None:
    _, *body = make_passages(PAPER, _document(DocumentSection(METHOD, (_sentences(50, 20),))))
    assert [len(words(passage.text)) for passage in body] == [220, 220, 220, 220, 120]
    sections = (_section((), "Before."), _section(METHOD, "One.", "Two."), _section(DETAILS, "Three."))
    first, *body = make_passages(PAPER, _document(*sections))
    assert (first.kind, first.section, first.text) == ("abstract", (), PAPER.abstract)
    assert [(passage.section, passage.text) for passage in body] == [
        ((), "Before."),
        (METHOD, "One.\n\nTwo."),
        (DETAILS, "Three."),
    ]
    for most, overlap in ((99, 0), (751, 0), (200, 101), (200, -1)):
        with pytest.raises(ValueError, match=r"words|overlap"):
            PassageSize(most, overlap)


def test_every_caption_and_note_is_a_passage_of_its_own() -> None:
    paragraphs = (
        Paragraph((Piece("Body."),)),
        Paragraph((Piece("Figure 1: One."),), "caption"),
        Paragraph((Piece("Figure 2: Two."),), "caption"),
        Paragraph((Piece("A note."),), "note"),
        Paragraph((Piece("More body."),)),
    )
    _, *body = make_passages(PAPER, _document(DocumentSection(METHOD, paragraphs)))
    assert [(passage.kind, passage.text) for passage in body] == [
        ("body", "Body."),
        ("caption", "Figure 1: One."),
        ("caption", "Figure 2: Two."),
        ("note", "A note."),
        ("body", "More body."),
    ]


def test_sentences_keep_their_boxes_and_give_the_abstract_its_own() -> None:
    early, late = Box(3, 1.0, 2.0, 3.0, 4.0), Box(4, 1.0, 2.0, 3.0, 4.0)
    paragraph = Paragraph((Piece("One.", (early, late)), Piece("Two.", (late,)), Piece("Three.")))
    _, passage = make_passages(PAPER, _document(DocumentSection(METHOD, (paragraph,))))
    assert [sentence.boxes for sentence in passage.sentences] == [(early, late), (late,), ()]
    assert passage.page == 3
    # The same sentence is spaced and quoted differently in metadata and on the page.
    paper = replace(PAPER, abstract="We “watch” cats. They sleep.")
    box = Box(1, 1.0, 2.0, 3.0, 4.0)
    printed = Paragraph((Piece('We  "watch" cats .', (box,)), Piece("Others sleep.", (box,))), "abstract")
    (first,) = make_passages(paper, Document(abstract=(printed,)))
    assert [sentence.boxes for sentence in first.sentences] == [(box,), ()]


def test_a_passage_is_found_by_title_section_path_and_text() -> None:
    (first,) = make_passages(replace(PAPER, abstract=""), None)
    assert (first.number, first.kind, first.text) == (0, "abstract", "On cats")
    assert indexed_text(PAPER, first) == "On cats"
    _, passage = make_passages(PAPER, _document(_section(DETAILS, "One.")))
    assert indexed_text(PAPER, passage) == "On cats\nMethod\nDetails\nOne."
    abstract: Passage = make_passages(PAPER, None)[0]
    assert indexed_text(PAPER, abstract) == "On cats\nWe watch cats. They sleep."
    paper = replace(PAPER, abstract="Null\x00 and half\ud800 a pair.")
    _, body = first_two = make_passages(
        paper, _document(_section(METHOD, "\ud800Cats\x1b[31m sleep.", "\x00"))
    )
    assert [passage.text for passage in first_two] == ["Null and half a pair.", "Cats[31m sleep."]
    assert len(body.sentences) == 1


@pytest.mark.parametrize(
    ("text", "says_something"),
    [
        ("3 http://www.statmt.org/wmt12/", False),
        ("1http://www.ldc.upenn.edu/Catalog/ catalogEntry.jsp?catalogId=LDC2012T08", False),
        ("1http://www.statmt.org/wmt10/baseline. html", False),
        ("7.9 75.2 9.4 92.5", False),
        ("*", False),
        ("The data are at http://www.statmt.org/wmt12/", True),
        ("Figure 1: Recency", True),
        ("One.", True),
        ("图一系统结构", True),
    ],
)
def test_an_address_alone_is_not_found_for_what_its_paper_is_about(text: str, says_something: bool) -> None:
    _, passage = make_passages(PAPER, _document(_section(DETAILS, text)))
    assert passage.text == text
    assert indexed_text(PAPER, passage) == (f"On cats\nMethod\nDetails\n{text}" if says_something else text)
    assert sentence_texts_of(PAPER, passage)[0] == ("On cats" if says_something else text)
