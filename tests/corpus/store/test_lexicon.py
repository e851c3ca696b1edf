"""The lexicon: words, names and venues, the same in Arrow as in Python."""

import sys
import unicodedata
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.encoders.base import Encoder
from corpus.records import Author
from corpus.store.corpus import Corpus, Identifiers
from corpus.store.lexicon import plain_text, plain_words
from tests.small_corpus import HOSTILE_IDS, make_paper, write_corpus

# The scripts of paper descriptions; each implementation splits other scripts in its own way.
LATIN = st.characters(max_codepoint=0x24F, exclude_categories=("Cs",))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("LinkBERT: Pretraining", ["linkbert", "pretraining"]),
        ("Müller-Lüdenscheidt", ["muller", "ludenscheidt"]),
        ("e\u0301tude n° ２", ["etude", "n", "2"]),
        ("O'Connor_x", ["o", "connor", "x"]),
        ("", []),
        ("日本語", ["日本語"]),
    ],
)
def test_words_are_looked_up_in_one_form(text: str, expected: list[str]) -> None:
    assert plain_words(text) == expected


def test_a_word_is_of_the_letters_and_digits_of_every_script() -> None:
    """By Unicode's categories: L and N are of words, M is left out, all else separates."""
    written = {"L": 1, "N": 1, "M": 0}
    for code in (*range(0x3000), *range(0x3000, sys.maxunicode, 97)):
        folded = unicodedata.normalize("NFD", unicodedata.normalize("NFKC", chr(code)).lower())
        kinds = [unicodedata.category(character)[0] for character in folded]
        expected = sum(written.get(kind, 0) for kind in kinds)
        assert len("".join(plain_words(f"a{chr(code)}b"))) == 2 + expected, hex(code)
        assert len(plain_words(f"a{chr(code)}b")) == 1 or not set(kinds) <= written.keys(), hex(code)


@given(text=st.text(LATIN, max_size=40))
def test_arrow_and_python_agree_on_words(text: str) -> None:
    assert plain_text(pa.chunked_array([[text]]))[0].as_py().split() == plain_words(text)


def test_a_corpus_without_papers_names_nothing(tmp_path: Path, encoder: Encoder) -> None:
    write_corpus(tmp_path, encoder, {make_paper("notes", "a", title="?"): ["Cats."]})
    lexicon = Corpus.open(tmp_path, encoder).lexicon
    assert (lexicon.title_words, lexicon.title_names, lexicon.venues) == ({}, {}, {})
    assert (lexicon.authors.called(["tom", "cat"]), lexicon.authors.of_family("cat")) == ((), ())


def test_names_are_found_among_many(tmp_path: Path, encoder: Encoder) -> None:
    people = tuple(
        Author(f"{given} Q.", family) for given in "ABCDE" for family in ("Wu", "Wang", "van Wijk")
    )
    suffixed = Author.from_parts("Flo Q.", "Fen", "van", "Jr.")
    paper = replace(make_paper("notes", "a"), authors=(*people, Author("", "The Group"), suffixed))
    write_corpus(tmp_path, encoder, {paper: ["Cats."]})
    authors = Corpus.open(tmp_path, encoder).lexicon.authors
    assert authors.called(["b", "wang"]) == ("B Q. Wang",)
    assert authors.called(["van", "wijk", "berta", "quentin"]) == ("B Q. van Wijk",)
    assert authors.called(["b", "r", "wang"]) == ()
    assert len(authors.of_family("wu")) == 5
    assert authors.has_family("van wijk")
    assert authors.called(["flo", "van", "fen"]) == authors.of_family("van fen") == (suffixed.name,)
    assert not authors.has_family("wa")


@pytest.mark.parametrize("hostile", HOSTILE_IDS)
def test_an_id_is_never_read_as_a_condition(tmp_path: Path, encoder: Encoder, hostile: str) -> None:
    write_corpus(tmp_path, encoder, {make_paper("notes", "a"): ["Cats."]})
    assert Corpus.open(tmp_path, encoder).identified(Identifiers((hostile,), (hostile,), (hostile,))) == set()
