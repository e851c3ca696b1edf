"""Sentences in shorter forms: what is cut, what is never cut, and that nothing else changes."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.enrich.data_file import read_data
from indexer.enrich.shorten import Shortener, ShorteningWords

SHORTENER = Shortener(read_data("tldr", ShorteningWords))
WORDS = """
we show that our model does not learn, which is good (see 3) [12] and only if it fails; to address this, by
using 12.5% of 1,000 letters: n't never without unless using results demonstrate However, Although the — - , .
? $x$ “a”
""".split()
SENTENCES = st.one_of(st.lists(st.sampled_from(WORDS), max_size=40).map(" ".join), st.text(max_size=60))


def forms(sentence: str) -> dict[tuple[str, str], str]:
    return {(form.head, form.tail): form.text for form in SHORTENER.forms(sentence)}


def words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text.lower())


@pytest.mark.parametrize(
    ("sentence", "shortened"),
    [
        ("We show that old letters smell of roses and lavender.", "Old letters smell of roses and lavender."),
        (
            "Our experiments on five corpora demonstrate that eBay letters smell of old roses.",
            "eBay letters smell of old roses.",
        ),
        (
            "To address this, we sort all letters by their smell.",
            "We sort all letters by their smell.",
        ),
        (
            "We sort all old letters by their smell, which is quick.",
            "We sort all old letters by their smell.",
        ),
        (
            "We sort all old letters by 12.5%, achieving 1,000 sorted letters.",
            "We sort all old letters by 12.5%.",
        ),
        (
            "We sort all old letters by smell: roses come first.",
            "We sort all old letters by smell.",
        ),
        (
            "We sort all old letters by smell — a new order.",
            "We sort all old letters by smell.",
        ),
    ],
)
def test_what_leads_to_a_claim_and_what_trails_it_is_cut(sentence: str, shortened: str) -> None:
    assert shortened in forms(sentence).values()


@pytest.mark.parametrize(
    "sentence",
    [
        # Denied, doubted, of others, only aimed at, or leaning on what was said before.
        "We do not find that old letters smell of roses.",
        "We could not show that old letters smell of roses.",
        "We may show that old letters smell of roses.",
        "We aim to show that old letters smell of roses.",
        "Previous work and our results show that old letters smell of roses.",
        "They show that old letters smell of roses and lavender.",
        "We show that it smells of roses and lavender.",
        # A condition limits the claim.
        "If letters are old, we sort all of them by smell.",
        "Letters are sorted by their smell, but they are not read.",
        "Letters are sorted well by their smell, while roses are only if old.",
        "Letters are sorted not only by smell, using roses as well.",
        # A subject and its verb, a list, a formula, a clause that waits for its main clause.
        "Our model of old letters here, which is small, sorts them.",
        "We want the sorting of letters, reading, and writing of more.",
        "We map all old letters by $f: X$ to their smell.",
        "Although very many letters are old, using them is good.",
        "Our three claims about letters are: first they smell; second they are old.",
        "Do old letters smell of old roses, which are red?",
    ],
)
def test_a_cut_that_would_change_the_claim_is_not_made(sentence: str) -> None:
    assert list(forms(sentence).values()) == [sentence]


@pytest.mark.parametrize(
    ("sentence", "bare"),
    [
        ("Neural networks (NNs) sort (Smell et al., 2019) letters [3, 4].", "Neural networks sort letters."),
        ("We extend results of (Smell, 2019) and [3].", "We extend results of (Smell, 2019) and [3]."),
        ("It works (but not on roses).", "It works (but not on roses)."),
        ("The map f(x) is (semi-)learned.", "The map f(x) is (semi-)learned."),
        ("In (1), (2) letters smell (.", "In (1), (2) letters smell (."),
        ("(Old) letters smell.", "(Old) letters smell."),
    ],
)
def test_brackets_go_where_neither_grammar_nor_meaning_needs_them(sentence: str, bare: str) -> None:
    assert SHORTENER.without_brackets(sentence) == bare


@given(SENTENCES)
def test_a_form_has_words_of_the_sentence_in_their_order(sentence: str) -> None:
    for form in SHORTENER.forms(sentence):
        rest = iter(words(sentence))
        assert all(word in rest for word in words(form.text))
        assert form.text.strip()


@given(SENTENCES)
def test_what_is_kept_is_one_span_with_its_negations_and_numbers(sentence: str) -> None:
    whole, *shorter = [f" {' '.join(form.text.lower().split())} " for form in SHORTENER.forms(sentence)] or [
        ""
    ]
    for form in shorter:
        assert form.strip().rstrip(".!?") in whole


@given(SENTENCES)
def test_what_is_cut_off_denies_nothing_and_limits_nothing(sentence: str) -> None:
    whole = SHORTENER.without_brackets(sentence).lower().split()
    for form in SHORTENER.forms(sentence):
        size = len(form.text.split())
        if form.head == "whole":
            behind = {word.strip(",.;:?") for word in whole[size:]}
            assert not behind & {"if", "unless", "except", "only", "but", "although", "however"}
        if (form.head, form.tail) == ("report", "whole"):
            before = {word.strip(",.;:?") for word in whole[: len(whole) - size]}
            assert not before & {"not", "never", "n't", "without", "may", "to", "they", "previous"}
