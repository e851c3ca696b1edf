"""Decisions of the Paper screen: reasons, references, links in the text, sections."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from corpus.encoders.base import Encoder
from corpus.language.stemming import stem
from corpus.records import Author, Box, Collection, Passage, Reference, Section, Sentence, Topic
from corpus.store.corpus import Corpus
from corpus.text import words
from explorer.paper.bibliography import references_title
from explorer.paper.cite_menu import acl_reference
from explorer.paper.cited_reference import places_of
from explorer.paper.cited_text import Bibliography, area_between, blocks, linked_markdown, sections_citing
from explorer.paper.header import external_links, facts_of, named_authors, summary_question
from explorer.paper.pdf_in_page import MOST_PAGES, annotations, fits_viewer, pages_drawn
from explorer.paper.relatedness import Links, entry_keys, reason, reasons, shared_topics, shared_words
from explorer.paper.sections import chapters, paper_sections
from tests.small_corpus import make_paper, make_passages

ADA, BO, CY = Author("Ada", "Lin"), Author("Bo", "Ruan"), Author("", "The Group")
PAPER = replace(make_paper("c", "own"), title="Dropping tokens", abstract="We drop tokens for speed.")


def passage(number: int, text: str, *headings: Section, references: tuple[int, ...] = ()) -> Passage:
    made = make_passages(PAPER, [text])[0]
    spans = (Sentence(0, len(text), references=references),)
    return replace(made, id=f"c/own#{number}", number=number, kind="body", section=headings, sentences=spans)


@pytest.fixture
def corpus(studied_home: Path, encoder: Encoder) -> Corpus:
    return Corpus.open(studied_home / "corpus", encoder)


# Why papers are similar


def test_reasons_are_those_of_the_corpus(corpus: Corpus) -> None:
    paper = corpus.paper("studied/summaries")
    others = corpus.papers_by_id(["studied/heads", "studied/tokens", "studied/plain"])
    found = reasons(corpus, paper, others)
    assert found["studied/heads"] == "cited by this paper"
    assert found["studied/plain"] in ("", "both say: paper")


@pytest.mark.parametrize(
    ("other", "topics", "entries", "expected"),
    [
        ("a", (), 0, "cited by this paper"),
        ("b", ("parsing",), 3, "cites this paper · both: parsing · 3 references in common"),
        ("c", (), 1, ""),
        ("c", (), 1200, "1,200 references in common"),
    ],
)
def test_reasons_name_shared_things(other: str, topics: tuple[str, ...], entries: int, expected: str) -> None:
    assert reason(other, Links(frozenset("a"), frozenset("b")), topics, entries) == expected


def test_shared_topics_and_words_are_those_of_both_papers() -> None:
    def about(key: str, *names: str) -> object:
        topics = tuple(Topic("method", name, 0.5) for name in names)
        return replace(
            PAPER, id=key, topics=(*topics, Topic("field", "NLP", 1.0), Topic("metric", "F1", 1.0))
        )

    own, first, second = (
        about("own", "BERT", "pruning"),
        about("one", "BERT", "pruning"),
        about("two", "BERT"),
    )
    assert shared_topics(own, [first, second]) == {"one": ("pruning", "BERT"), "two": ("BERT",)}  # type: ignore[arg-type, list-item]
    other = replace(PAPER, id="o", title="Tokens that go", abstract="Speed comes from tokens we drop.")
    another = replace(PAPER, id="p", title="On something else", abstract="Nothing of it.")
    assert shared_words(PAPER, [other, another]) == {"o": ("tokens",), "p": ()}


@given(some.text(max_size=80), some.text(max_size=80))
def test_a_shared_word_stands_in_both_papers(abstract: str, title: str) -> None:
    other = replace(PAPER, id="o", title=title, abstract=abstract)
    said = {stem(word) for word in words(f"{title} {abstract}")}
    for word in shared_words(replace(PAPER, abstract=abstract), [other])["o"]:
        assert stem(word) in said


def test_entries_of_two_bibliographies_are_the_same_by_title_before_all_else() -> None:
    same = [Reference("Lin. 2020.", title="Dropping tokens layer by layer", doi="10.1/a"),
            Reference("[3] Lin", title="Dropping Tokens: Layer by Layer.")]  # fmt: skip
    assert len(entry_keys(same)) == 1
    assert entry_keys([Reference("x", arxiv_id="2203.08991v2")]) == {"2203.08991"}
    assert entry_keys([Reference("no more than text"), Reference("", title="Short")]) == set()


# Citing a paper


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, "2020. Dropping tokens."),
        ({"authors": (ADA,), "year": None}, "Ada Lin. Dropping tokens."),
        ({"authors": (ADA, BO), "arxiv_id": "1.2"}, "Ada Lin and Bo Ruan. 2020. Dropping tokens. arXiv:1.2."),
        (
            {"authors": (ADA, BO, CY), "venue": "ACL", "pages": "1--15", "arxiv_id": "2203.1"},
            "Ada Lin, Bo Ruan, and The Group. 2020. Dropping tokens. In ACL, pages 1–15.",
        ),
        ({"title": "What drops?", "venue": "ACL.", "pages": "7"}, "2020. What drops? In ACL., page 7."),
        ({"title": "A\u202eB\n C", "year": None, "doi": "10.1/x"}, "AB C. 10.1/x."),
    ],
)  # fmt: skip
def test_a_reference_says_what_is_known(changes: dict[str, object], expected: str) -> None:
    assert acl_reference(replace(PAPER, **changes)) == expected  # type: ignore[arg-type]


def test_facts_questions_and_names_of_a_paper_are_short_and_visible() -> None:
    home = Collection("c", "C", source="ACL Anthology")
    paper = replace(PAPER, venue="ACL 2020", pages="1-3")
    assert facts_of(home, paper) == "ACL 2020 · pp. 1-3 · ACL Anthology"
    assert facts_of(Collection("c", "C"), PAPER) == "2020"
    assert named_authors((ADA, ADA, Author("", "\u200b"), CY)) == ("Ada Lin", "The Group")
    assert len(summary_question(replace(PAPER, title="word " * 2000))) < 400
    assert references_title(42, 7) == "References (42, 7 in this corpus)"
    assert references_title(1, 0) == "References (1)"


def test_papers_and_cited_works_are_linked_by_good_ids_and_plain_addresses_only(corpus: Corpus) -> None:
    assert ("arXiv", "https://arxiv.org/abs/2203.08991v2") in external_links(corpus.paper("studied/tokens"))
    assert external_links(corpus.paper("studied/hostile")) == ()
    assert places_of(Reference("x", doi="10.1/a")) == (("DOI", "https://doi.org/10.1/a"),)
    assert places_of(Reference("x", doi="10.1/a b)](x", arxiv_id="<2>")) == ()


# The text


def test_a_formula_is_a_block_cut_out_between_the_lines_of_its_column() -> None:
    place = Box(2, 100.0, 130.0, 80.0, 10.0)
    above, below = Box(2, 72.0, 110.0, 20.0, 10.0), Box(2, 72.0, 160.0, 200.0, 11.0)
    other_column, other_page = Box(2, 320.0, 128.0, 200.0, 11.0), Box(3, 72.0, 128.0, 200.0, 11.0)
    lines = [above, place, below, other_column, other_page]
    assert area_between([place], lines) == Box(2, 100.0, 122.0, 80.0, 36.0)
    assert area_between([place], [place]) == Box(2, 100.0, 112.0, 80.0, 46.0)
    text, formula = "We take the mean of all scores. ", "Pr(f, a|e) = p(J|I) p(aj |aj−1)"
    boxes = (Box(2, 72.0, 90.0, 200.0, 11.0),)
    whole = replace(
        passage(5, text + formula),
        sentences=(Sentence(0, len(text), boxes), Sentence(len(text), len(text + formula), boxes)),
    )
    with_pages = list(blocks([whole], Bibliography((), {}), has_pages=True))
    assert [(section.kind, section.text) for section in with_pages] == [
        ("plain", text.strip()),
        ("formula", formula),
    ]
    for cited, has_pages in (("", False), (whole.id, True)):
        found = list(blocks([whole], Bibliography((), {}), cited, has_pages=has_pages))
        assert [group.text for group in found] == [text + formula]


def test_passages_drawn_alike_are_one_block_and_links_stand_behind_their_sentence() -> None:
    cited = Bibliography((Reference("a"), Reference("b")), {1: "c/other"})
    texts = [passage(n, "Text.", references=(1,) if n in (10, 11) else (7,)) for n in range(300)]
    found = list(blocks(texts, cited, target="c/own#200"))
    assert [(group.kind, len(group.passages)) for group in found] == [
        ("plain", 10), ("linked", 2), ("plain", 188), ("target", 1), ("plain", 99),
    ]  # fmt: skip
    text = "First cites. Second\ndoes not."
    made = replace(
        passage(1, text), sentences=(Sentence(0, 13, references=(1, 0, 1)), Sentence(13, len(text)))
    )
    drawn = linked_markdown([made], Bibliography((Reference("a"), Reference("b")), {1: "c/other"}))
    assert drawn == ("First cites\\.\u2060[\\[2\\]](#cite-2-1)[\\[1\\]](#cite-1-0) Second\n\ndoes not\\.")


@given(some.text(max_size=200), some.lists(some.integers(-3, 9), max_size=30))
def test_a_text_has_no_links_but_those_to_its_references(text: str, references: list[int]) -> None:
    cited = Bibliography((Reference("a"),) * 5, {0: "c/other"})
    drawn = linked_markdown([passage(1, text, references=tuple(references))], cited)
    known = {reference for reference in references if 0 <= reference < 5}
    assert drawn.count("](#cite-") == len(known)
    assert len(re.findall(r"(?<!\\)\]\((?!#cite-)", drawn)) == 0


@pytest.mark.parametrize(
    ("cite", "entry"),
    [("2-1", 1), ("1-0", 0), ("0-1", None), ("6-1", None), ("x", None), (None, None), ({"a": 1}, None)],
)
def test_a_clicked_link_is_checked(cite: object, entry: int | None) -> None:
    assert Bibliography((Reference("a"),) * 5, {}).entry_of(cite) == entry


def test_an_entry_names_the_sections_that_cite_it_and_chapters_without_text_have_headings() -> None:
    first, second = Section("1", "One"), Section("2", "Two")
    texts = [passage(n, "T.", section, references=(0,)) for n, section in enumerate((first, first, second))]
    assert sections_citing([*texts, passage(9, "T.", references=(0,))], 0) == ("1 One", "2 Two", "Text")
    first, second, below = Section("1", "One"), Section("2", "Two"), Section("2.1", "Below")
    made = [passage(1, "a", first), passage(2, "b", second, below), passage(3, "c")]
    caption = replace(passage(4, "d"), kind="caption")
    found = chapters(paper_sections([*made, caption]))
    assert [(section.heading, section.anchor, len(section.below)) for section in found] == [
        ("1 One", "section-1", 0),
        ("2 Two", "section-2-chapter", 1),
        ("Text", "section-3", 0),
        ("Figures and tables", "section-4", 0),
    ]


# The viewer


def test_the_viewer_draws_pages_and_boxes_of_an_existing_pdf(tmp_path: Path) -> None:
    assert pages_drawn(1, 3) == [1, 2, 3]
    assert pages_drawn(3, 3) == [3]
    assert pages_drawn(7, 900) == list(range(7, 7 + MOST_PAGES))
    (box,) = annotations((Box(1, 1, 2, 3, 4), Box(2, 5, 6, 7, 8)), [2, 3])
    assert (box["page"], box["x"], box["y"], box["width"], box["height"]) == (2, 5, 6, 7, 8)
    assert not fits_viewer(tmp_path / "gone.pdf")
    (tmp_path / "here.pdf").write_bytes(b"%PDF-")
    assert fits_viewer(tmp_path / "here.pdf")
