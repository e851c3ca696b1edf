"""ROUGE with several references, and ROUGE-K by its definition, worked by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.input_files import EvaluationError
from evaluation.rouge import METRICS, find_keywords, highest_rouge1, mean_scores, rouge_k, score_text

WORDS = st.sampled_from(
    "deep neural nets learn the of we propose multi-task parsing , . ( ) 12 % don't".split()
)
TEXTS = st.lists(WORDS, max_size=14).map(" ".join)


@pytest.mark.parametrize(
    ("texts", "keywords"),
    [
        # The longest run that both share, once, and no part of it again.
        (["Deep neural parsing of letters", "We do deep neural parsing"], ("deep neural pars",)),
        # A stop word is taken out after the windows are cut, so five words share four.
        (["the smell of old letters sorted", "The smell of old letters."], ("smell old letter",)),
        # Which is why other stop words between the same two do not part them, but more of them do.
        (["smell of letters", "smell in letters"], ("smell letter",)),
        (["smell of letters", "letters with a smell"], ("letter", "smell")),
        # What stands in one text alone is no keyword, however often; in two of three it is one.
        (["smell smell", "letters"], ()),
        (["smell", "letters", "The letters"], ("letter",)),
        # Words of another form are the same word; a word with a hyphen is one.
        (["multi-task learning", "Multi-task learners"], ("multitask",)),
        (["multi-task parser", "multi task parsing"], ()),
        (["sorting letters", "sorted letter"], ("sort letter",)),
        # Stop words, the authors' own among them, in any form; marks other than theirs are words.
        (["We propose, in this paper, the use", "proposes (using) papers."], ()),
        (["12 % more", "12% of all"], ("12 %",)),
        (["", ""], ()),
    ],
)
def test_keywords_are_what_texts_share(texts: list[str], keywords: tuple[str, ...]) -> None:
    assert find_keywords(texts) == keywords


def test_no_keyword_is_longer_than_ten_words() -> None:
    text = " ".join(f"word{number}x" for number in range(12))
    assert [len(keyword.split()) for keyword in find_keywords([text, text])] == [10, 2]


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
    assert rouge_k(text, ("deep neural pars", "smell")) == pytest.approx(share)


def test_a_reference_without_a_title_has_no_keywords() -> None:
    with pytest.raises(EvaluationError, match="needs a reference and a title"):
        find_keywords(["one text"])
    with pytest.raises(EvaluationError):
        score_text("a text", [], "title")


def test_the_title_is_one_of_the_texts_that_share() -> None:
    scores = score_text("Letters are sorted", ["Old letters smell"], "Smelling letters").mean
    assert scores["rougeK"] == pytest.approx(50)


def test_without_keywords_there_is_no_rouge_k_and_the_mean_is_over_the_others() -> None:
    without = score_text("smell", ["smell"], "letters").mean
    assert "rougeK" not in without
    assert without["rouge1"] == pytest.approx(100)
    both = mean_scores([without, score_text("smell", ["old smell"], "a smell").mean])
    assert both["rougeK"] == pytest.approx(100)
    assert both["rouge1"] == pytest.approx((100 + 200 / 3) / 2)
    assert "rougeK" not in mean_scores([without])


def test_the_closest_reference_gives_all_its_figures() -> None:
    # The first shares three words in another order, the second two in a row.
    scores = score_text("old letters smell", ["smell letters old", "old letters"], "a title")
    assert scores.highest["rouge1"] == pytest.approx(100)
    assert scores.highest["rouge2"] == 0
    assert scores.mean["rouge1"] == pytest.approx((100 + 80) / 2)
    assert scores.mean["rouge2"] == pytest.approx((0 + 200 / 3) / 2)


@given(TEXTS, st.lists(TEXTS, min_size=1, max_size=3), TEXTS)
def test_scores_are_shares(text: str, references: list[str], title: str) -> None:
    scores = score_text(text, references, title)
    for rule in (scores.highest, scores.mean):
        assert set(rule) <= set(METRICS)
        assert all(0 <= value <= 100 + 1e-9 for value in rule.values())
    assert scores.mean["rouge1"] <= scores.highest["rouge1"] + 1e-9
    assert scores.highest["rouge1"] == pytest.approx(highest_rouge1(text, references))


@given(TEXTS, TEXTS)
def test_the_reference_has_all_its_keywords(reference: str, title: str) -> None:
    scores = score_text(reference, [reference], title).highest
    assert scores.get("rougeK", 100) == pytest.approx(100)


@given(
    st.permutations(
        ["deep neural nets", "nets of letters learn deep", "deep nets learn", "letters , neural nets"]
    )
)
def test_the_order_of_the_texts_does_not_matter(texts: list[str]) -> None:
    assert find_keywords(texts) == find_keywords(sorted(texts))


@given(TEXTS, TEXTS)
def test_keywords_share_no_word(one: str, other: str) -> None:
    words = [word for keyword in find_keywords([one, other]) for word in set(keyword.split())]
    assert len(words) == len(set(words))
