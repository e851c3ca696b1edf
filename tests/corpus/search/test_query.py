"""The names recognised in a query, and its corrected words."""

import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from corpus.encoders.base import Encoder
from corpus.records import Author, Paper, PaperHits, Scope
from corpus.search.hybrid import search
from corpus.search.query import Query, read_query
from corpus.store.corpus import Corpus
from tests.small_corpus import make_paper, write_corpus

LONGEST_SECONDS = 5.0


def _paper(key: str, title: str, authors: str = "", **known: object) -> Paper:
    people = (name.rpartition(" ") for name in authors.split(", ") if name)
    paper = make_paper("notes", key, title=title)
    written = tuple(Author(given, family) for given, _, family in people)
    return replace(paper, authors=written, **known)  # type: ignore[arg-type]


PAPERS = {
    _paper("link", "LinkBERT: Pretraining with Document Links", "Michihiro Yasunaga, Percy Liang"): (
        "Language models are pretrained on linked documents."
    ),
    _paper("parse", "Zero-Shot Cross-lingual Semantic Parsing", "Tom Sherborne, Mirella Lapata"): (
        "Semantic parsing is carried over to other languages."
    ),
    _paper("tree", "Parsing Long Trees", "Jürgen Müller-Lüdenscheidt, An Li", year=2021): (
        "A parser for treebanks, fast and long."
    ),
    _paper("dutch", "Summarizing Dialogues", "Benjamin Van Durme, Grace Long"): (
        "Dialogues are summarized by models of rank fusion."
    ),
    _paper("link-two", "Rank Fusion for Search", "J. Smith", venue="ACL 2022", year=2022): (
        "Reciprocal ranks are summed, and nothing is learned from any data set."
    ),
    _paper("doi", "Dataset Cards", "Ada Smith", doi="10.1000/CARDS.7", arxiv_id="2104.08663v2"): (
        "What a dataset card should say."
    ),
    _paper("old", "Old Papers Kept", "Grace Hopper", arxiv_id="cs/0112017", venue="NAACL 2021"): (
        "Old papers are kept in print."
    ),
}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory, encoder: Encoder) -> Corpus:
    path: Path = tmp_path_factory.mktemp("named")
    anthology = replace(make_paper("acl", "x", title="An Anthology Paper"), id="2022.acl-long.285")
    texts = {paper: [f"{paper.title}. {text}"] for paper, text in PAPERS.items()}
    write_corpus(path, encoder, {**texts, anthology: ["An Anthology Paper. Found by its id."]})
    return Corpus.open(path, encoder)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Tom Sherborne", ["Tom Sherborne"]),
        ("Sherborne, Tom", ["Tom Sherborne"]),
        ("T. Sherborne", ["Tom Sherborne"]),
        ("sherborne t", ["Tom Sherborne"]),
        ("sherborne", ["Tom Sherborne"]),
        ("What did Tom Sherborne write about parsing?", ["Tom Sherborne"]),
        ("tom sherborne parsing", ["Tom Sherborne"]),
        ("papers by Mirella Lapata and Percy Liang", ["Mirella Lapata", "Percy Liang"]),
        ("jurgen muller-ludenscheidt", ["Jürgen Müller-Lüdenscheidt"]),
        ("Jürgen Müller-Lüdenscheidt", ["Jürgen Müller-Lüdenscheidt"]),
        ("John Smith", ["J. Smith"]),
        ("Smith", ["Ada Smith", "J. Smith"]),
        ("How can an li be parsed", []),
        ("will long trees be parsed", []),
        ("grace long", ["Grace Long"]),
        ("parsing", []),
        ("Long", ["Grace Long"]),
    ],
)
def test_authors_are_named_by_their_names(corpus: Corpus, text: str, names: list[str]) -> None:
    assert sorted(read_query(corpus, text).authors) == sorted(names)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("What did Sherborne write?", {"Tom Sherborne"}),
        ("parsing by Smith", {"Ada Smith", "J. Smith"}),
        ("Smith et al. on ranks", {"Ada Smith", "J. Smith"}),
        ("the smith parses trees", set()),
        ("trees of the Long kind", set()),
    ],
)
def test_a_family_name_alone_may_mean_all_who_have_it(corpus: Corpus, text: str, names: set[str]) -> None:
    meant = read_query(corpus, text)
    assert (set(meant.namesakes), meant.authors) == (names, ())


@pytest.mark.parametrize(
    ("text", "paper", "alone"),
    [
        ("2022.acl-long.285", "2022.acl-long.285", True),
        ("https://aclanthology.org/2022.acl-long.285/", "2022.acl-long.285", True),
        ("What does 2022.ACL-long.285 say?", "2022.acl-long.285", False),
        ("arXiv:2104.08663", "notes/doi", True),
        ("https://arxiv.org/abs/2104.08663v1", "notes/doi", True),
        ("2104.08663", "notes/doi", True),
        ("cs/0112017", "notes/old", True),
        ("cs.CL/0112017v1", "notes/old", True),
        ("10.1000/cards.7", "notes/doi", True),
        ("https://doi.org/10.1000/CARDS.7.", "notes/doi", True),
        ("notes/link", "notes/link", True),
    ],
)
def test_a_paper_is_named_by_its_ids(corpus: Corpus, text: str, paper: str, alone: bool) -> None:
    meant = read_query(corpus, text)
    assert (meant.papers, meant.is_only_names) == ((paper,), alone)


@pytest.mark.parametrize(
    "text", ["2022.acl-long.999", "10.1000/none", "2104.99999", "T5/BART", "a/b", "P22-9999"]
)
def test_an_id_of_no_paper_here_names_none(corpus: Corpus, text: str) -> None:
    assert read_query(corpus, text).papers == ()


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("LinkBRET", "LinkBERT"),
        ("linkbrt", "LinkBERT"),
        ("Link BERT", "LinkBERT"),
        ("link-bert models", "LinkBERT models"),
        ("zero shot symantic parsing", "zero shot semantic parsing"),
        ("crosslingual parsing", "cross lingual parsing"),
        ("summarising dialogues", "summarizing dialogues"),
    ],
)
def test_a_word_that_no_text_has_is_read_as_one_of_a_title(corpus: Corpus, text: str, read: str) -> None:
    meant = read_query(corpus, text)
    assert meant.text == read
    assert all(word.asked in text and word.read in read for word in meant.respelt)
    assert replace(read_query(corpus, text, verbatim=True), systems=()) == Query(text)


@pytest.mark.parametrize(
    "text",
    [
        "links",  # another form of a word here
        "fast treebanks",  # in a text
        "horses and kitchens",  # everyday English
        "Sherborn parsing",  # nobody here, and no title's word
        "T5 GPT-4 3D",
        '"LinkBRET"',
        "rank fusion",
        "data set",  # both spellings are here
        "ORFs and COPD",
    ],
)
def test_other_words_are_left_alone(corpus: Corpus, text: str) -> None:
    meant = read_query(corpus, text)
    assert (meant.text, meant.respelt) == (text, ())


@pytest.mark.parametrize(
    ("text", "venues", "years"),
    [
        ("ACL 2022 parsing", ("ACL 2022",), (2022,)),
        ("acl 2022 parsing", ("ACL 2022",), (2022,)),
        ("parsing at NAACL", ("NAACL 2021",), ()),
        ("acl surgery", (), ()),
        ("parsing since 2021", (), (2021,)),
        ("WMT 2022 and CoNLL-2021", (), ()),
        ("parsing in 1999", (), ()),
    ],
)
def test_venues_and_years_are_named(
    corpus: Corpus, text: str, venues: tuple[str, ...], years: tuple[int, ...]
) -> None:
    meant = read_query(corpus, text)
    assert (meant.venues, meant.years) == (venues, years)


def test_quotations_are_phrases_and_both_spellings_are_searched_for(corpus: Corpus) -> None:
    assert read_query(corpus, '"rank fusion" of “long trees”').phrases == ("rank fusion", "long trees")
    assert read_query(corpus, 'rules for "matches" of types').phrases == ()
    assert read_query(corpus, '"fusion"').phrases == ("fusion",)
    assert read_query(corpus, '"" and "?" and "open').phrases == ()
    assert read_query(corpus, "a data set for parsing").also == ("dataset",)


def _found(corpus: Corpus, encoder: Encoder, text: str, scope: Scope | None = None) -> list[PaperHits]:
    return list(search(corpus, encoder, text, scope or Scope(), papers=15))


@pytest.mark.parametrize(
    ("text", "paper"),
    [
        ("Tom Sherborne", "notes/parse"),
        ("What did Grace Long write about parsing?", "notes/dutch"),
        ("2022.acl-long.285 and parsing", "2022.acl-long.285"),
        ('"long trees" semantic parsing across languages', "notes/tree"),
        ("LinkBRET", "notes/link"),
        ("ranks, ACL 2022", "notes/link-two"),
    ],
)
def test_what_is_named_comes_first(corpus: Corpus, encoder: Encoder, text: str, paper: str) -> None:
    found = _found(corpus, encoder, text)
    assert found[0].paper.id == paper
    assert [paper.is_named for paper in found] == sorted((paper.is_named for paper in found), reverse=True)
    assert all(0 <= paper.score <= 1 for paper in found)


def test_a_system_that_only_a_text_names_is_found_beside_another(tmp_path: Path, encoder: Encoder) -> None:
    """PRIMERA vs DAMEN found one of the two: a name is hardly anything to an encoder."""
    texts = {
        f"{number}": f"How methods differ, part {number}: they differ in many ways." for number in range(20)
    }
    texts |= {"d": "Critical text is told from other text, which we call DAMEN.", "p": "PRIMERA differs."}
    write_corpus(
        tmp_path,
        encoder,
        {make_paper("notes", key, title=f"Note {key}"): [text] for key, text in texts.items()},
    )
    corpus = Corpus.open(tmp_path, encoder)
    found = [paper.paper.id for paper in _found(corpus, encoder, "PRIMERA vs DAMEN: how do they differ?")]
    assert set(found[:2]) == {"notes/p", "notes/d"}
    assert _found(corpus, encoder, "DAMEN")[0].paper.id == "notes/d"
    assert read_query(corpus, "HOW DO ALL THE METHODS DIFFER").systems == ()


def test_names_are_found_within_the_scope_and_alone(corpus: Corpus, encoder: Encoder) -> None:
    scope = Scope(papers=("notes/link", "notes/tree"), years=(2020, 2020))
    for text in ("Tom Sherborne", "2022.acl-long.285", "ACL 2022 parsing", '"rank fusion"', "parsing 2021"):
        assert {paper.paper.id for paper in _found(corpus, encoder, text, scope)} <= {"notes/link"}
    assert [paper.paper.id for paper in _found(corpus, encoder, "2022.acl-long.285")] == ["2022.acl-long.285"]
    quoted = {paper.paper.id for paper in _found(corpus, encoder, "“rank fusion”")}
    assert quoted == {"notes/link-two", "notes/dutch"}
    assert len(_found(corpus, encoder, '"words that nobody wrote"')) > 2


def test_a_new_corpus_has_its_own_words(tmp_path: Path, encoder: Encoder) -> None:
    write_corpus(tmp_path, encoder, {make_paper("notes", "a", title="On Ferrets"): ["Ferrets sleep."]})
    former = Corpus.open(tmp_path, encoder)
    assert read_query(former, "wombatts").respelt == ()
    write_corpus(tmp_path, encoder, {make_paper("notes", "b", title="On Wombats"): ["Wombats sleep."]})
    assert read_query(former, "wombatts").respelt == ()
    assert read_query(Corpus.open(tmp_path, encoder), "wombatts").text == "wombats"


HOSTILE = st.text(max_size=60) | st.lists(
    st.sampled_from(
        [
            "Tom",
            "Sherborne,",
            "T.",
            "LinkBRET",
            "Link",
            "BERT",
            '"',
            "“",
            "2022",
            "ACL",
            "10.1/",
            "cs/",
            "/",
            "e\u0301",
            "\ud800",
        ]
    ),
    max_size=40,
).map(" ".join)


@given(text=HOSTILE)
@example(text="a" * 20_000)
@example(text="A. " * 7_000)
@example(text='"' * 20_000)
@example(text="xqzvk " * 3_000)
@example(text="Link BERT " * 2_000)
@example(text="10.1234/" * 2_000)
@example(text="https://" * 2_000)
@example(text="2104.08663 " * 2_000)
def test_any_text_is_read_in_bounded_time(corpus: Corpus, text: str) -> None:
    began = time.process_time()
    meant = read_query(corpus, text)
    assert time.process_time() - began < LONGEST_SECONDS
    assert not meant.respelt or meant.text
