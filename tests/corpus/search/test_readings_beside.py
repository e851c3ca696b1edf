"""Readings beside each other, and what is read of texts that may hold a phrase."""

from pathlib import Path

import pytest

from corpus.encoders.base import Encoder
from corpus.records import Scope
from corpus.search.together import each, together
from corpus.store.corpus import Corpus
from tests import small_corpus

# More than there are threads beside.
MANY = 40
PHRASE = "gentle reordering"


def test_what_runs_beside_may_run_something_beside_itself_whoever_else_does() -> None:
    def nested(number: int) -> tuple[int, list[int]]:
        return together(lambda: number, lambda: each(lambda start: start + number, range(3)))

    assert each(nested, range(MANY)) == [(number, [number, number + 1, number + 2]) for number in range(MANY)]


@pytest.mark.parametrize("limit", [5, 200])
def test_a_phrase_is_found_behind_separate_words(limit: int, tmp_path: Path, encoder: Encoder) -> None:
    apart = ["reordering that is gentle"] * MANY
    whole = [f"{PHRASE} {'of other words that say little ' * 10}"] * 2
    papers = {small_corpus.make_paper("notes", "one"): apart, small_corpus.make_paper("notes", "two"): whole}
    small_corpus.write_corpus(tmp_path, encoder, papers)
    corpus = Corpus.open(tmp_path, encoder)
    ranked = [match.paper_id for match in corpus.matching(PHRASE, Scope(), MANY)]
    assert ranked == ["notes/one"] * MANY
    behind = ["notes/two"] * 2 if limit > MANY else []
    assert [passage.paper_id for passage in corpus.holding(PHRASE, Scope(), limit)] == behind
    assert [passage.paper_id for passage in corpus.holding("gentle", Scope(), limit)] == [
        *ranked[:limit],
        *behind,
    ]
