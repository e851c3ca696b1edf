"""Queries with abbreviations: both forms of a term find the same papers."""

from dataclasses import replace
from pathlib import Path

import pytest

from corpus.encoders.base import Encoder
from corpus.records import Scope
from corpus.search.hybrid import search
from corpus.search.query import read_query
from corpus.store.corpus import Corpus
from tests.small_corpus import make_paper, write_corpus

LONG, SHORT = "word sense disambiguation", "WSD"
TEXTS = {
    "glosses": "Word sense disambiguation (WSD) chooses among the glosses of a dictionary.",
    "graphs": "We use graphs for word sense disambiguation (WSD).",
    "long": "Word sense disambiguation needs a large inventory.",
    "short": "Systems of WSD are compared on old and new texts.",
    "waves": "Waves of sound are dispersed by wood in different ways.",
    "sensors": "Sensors report the weather, and words do not help.",
    "parsers": "A parser of trees, the BIT parser (BIT: binary inside transformer), is presented.",
}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory, encoder: Encoder) -> Corpus:
    path: Path = tmp_path_factory.mktemp("abbreviated")
    papers = {
        replace(make_paper("notes", key, title=f"Notes on {key}"), abstract=text): [text]
        for key, text in TEXTS.items()
    }
    write_corpus(path, encoder, papers)
    return Corpus.open(path, encoder)


@pytest.mark.parametrize("query", [LONG, SHORT, "wsd", f"What is {SHORT}?", f"What is {LONG}?"])
def test_either_form_finds_papers_with_the_other(corpus: Corpus, encoder: Encoder, query: str) -> None:
    found = search(corpus, encoder, query, Scope(), papers=4, passages_per_paper=1)
    assert {hits.paper.id.partition("/")[2] for hits in found} == {"glosses", "graphs", "long", "short"}
    assert all(hits.hits[0].lexical for hits in found)
    assert all(0 <= hits.score <= 1 for hits in found)


@pytest.mark.parametrize(
    ("query", "in_full", "in_other_forms"),
    [
        ("Does WSD need glosses?", f"Does {LONG} need glosses?", f"Does {LONG} need glosses?"),
        (f"Does {LONG} need glosses?", "", "Does WSD need glosses?"),
        ("Does BIT parse?", "", ""),  # spelt out by one paper: its own name
        ("wood and sensors", "", ""),
    ],
)
def test_abbreviations_are_expanded(corpus: Corpus, query: str, in_full: str, in_other_forms: str) -> None:
    meant = read_query(corpus, query)
    assert (meant.text, meant.in_full, meant.in_other_forms) == (query, in_full, in_other_forms)
    assert [short for short, _ in meant.abbreviations] == ([SHORT] if in_other_forms else [])


def test_the_readers_own_words_are_left_as_they_are(corpus: Corpus) -> None:
    meant = read_query(corpus, "Does WSD need glosses?", verbatim=True)
    assert (meant.abbreviations, meant.in_full, meant.in_other_forms) == ((), "", "")
