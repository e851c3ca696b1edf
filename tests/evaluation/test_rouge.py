"""ROUGE with several references, and ROUGE-K by its definition, worked by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.rouge import METRICS, find_keywords, highest_rouge1, rouge_k, score_text

WORDS = st.sampled_from(
    "deep neural nets learn the of we propose multi-task parsing , . ( ) 12 % don't".split()
)
TEXTS = st.lists(WORDS, max_size=14).map(" ".join)


@pytest.mark.parametrize(
    ("texts", "keywords"),
    [
        # The longest run that both share, once, and no part of it again.
        (["Deep neural parsing of letters", "We do deep neural parsing"], ("deep neural parse",)),
        # A stop word is taken out after the windows are cut, so five words share four.
        (["the smell of old letters sorted", "The smell of old letters."], ("smell old letter",)),
        # Other stop words between the same two words make no other keyword; more stop words do.
        (["smell of letters", "smell in letters"], ("smell letter",)),
        (["smell of letters", "letters with a smell"], ("letter", "smell")),
        # A keyword occurs in more than one text: in one alone is too few, in two of three is enough.
        (["smell smell", "letters"], ()),
        (["smell", "letters", "The letters"], ("letter",)),
        # Words of another form are the same word; a word with a hyphen is one.
        (["multi-task learning", "Multi-task learners"], ("multi-task",)),
        (["multi-task parser", "multi task parsing"], ()),
        (["sorting letters", "sorted letter"], ("sort letter",)),
        # Lemmas, not stems: irregular forms are one word, words of one root are several.
        (["better models", "a good model"], ("good model",)),
        (["generates relations", "relational generation"], ()),
        # Stop words, the authors' own among them, in any form; marks other than theirs are words.
        (["We propose, in this paper, the use", "proposes (using) papers."], ()),
        (["12 % more", "12% of all"], ("12 %",)),
        (["", ""], ()),
    ],
)
def test_keywords_are_what_texts_share(texts: list[str], keywords: tuple[str, ...]) -> None:
    assert find_keywords(texts) == keywords


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("Deep neural parsing by smell", 100),
        ("deep, neural and the parsing, with smells", 100),  # what lies between is marks and stop words
        ("Neural deep parsing", 0),
        ("The smell.", 50),
        ("Smellier than deep neural parsing", 100),  # part of a longer word too, as in the authors' program
        ("", 0),
    ],
)
def test_rouge_k_is_the_share_of_keywords_in_the_text(text: str, share: float) -> None:
    assert rouge_k(text, ("deep neural parse", "smell")) == pytest.approx(share)


def test_the_closest_reference_gives_all_its_figures() -> None:
    # The first shares three words in another order, the second two in a row.
    scores = score_text("old letters smell", ["smell letters old", "old letters"], "a title")
    assert scores["rouge1"] == pytest.approx(100)
    assert scores["rouge2"] == 0


@given(TEXTS, st.lists(TEXTS, min_size=1, max_size=3), TEXTS)
def test_scores_are_shares(text: str, references: list[str], title: str) -> None:
    scores = score_text(text, references, title)
    assert set(scores) <= set(METRICS)
    assert all(0 <= value <= 100 + 1e-9 for value in scores.values())
    assert scores["rouge1"] == pytest.approx(highest_rouge1(text, references))
