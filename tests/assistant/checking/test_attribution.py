import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer

from assistant.checking.citations import resolve_citation
from assistant.checking.overlap import best_sentence, likeness, overlap_word, score_attribution
from assistant.wording import describe_score
from corpus.text import words
from explorer.components.score_bar import format_score
from tests.assistant.checking.test_citations import make_paper

SOURCE = "The model reaches 91.2 F1 on the test set and does not use external data."


# Words of other scripts count with us alone (test_other_scripts.py), if they have two letters or more.
TEXTS = st.text(max_size=60).filter(
    lambda text: all(word[0] <= "\u02af" or len(word) == 1 for word in words(text))
)
SENTENCES = st.lists(
    st.sampled_from(["Parsers", "parsers", "read", "91.2", "don't", "naïve", "İ", "\u212a", "σ(α)", "ﬁne"])
).map(" ".join)


@given(TEXTS | SENTENCES, TEXTS | SENTENCES)
def test_overlap_and_likeness_are_rouge_scores_own(claim, evidence):
    expected = RougeScorer(["rouge1"]).score(target=evidence, prediction=claim)["rouge1"]
    assert score_attribution(claim, evidence) == expected.precision
    assert likeness(claim, evidence) == expected.fmeasure
    assert 0 <= expected.precision <= 1


@pytest.mark.parametrize(
    ("claim", "overlap"),
    [
        (SOURCE, 1.0),
        ("The model does use external data.", 1.0),
        ("The model reaches 17.5 F1 on the set.", 7 / 9),
        ("Penguins swim.", 0.0),
        ("", 0.0),
    ],
)
def test_overlap_is_blind_to_negation_and_nearly_so_to_numbers(claim, overlap):
    assert score_attribution(claim, SOURCE) == pytest.approx(overlap)


@pytest.mark.parametrize(
    ("overlap", "word"),
    [
        (0.0, "weak"),
        (0.29999, "weak"),
        (0.30, "partial"),
        (0.64999, "partial"),
        (0.65, "strong"),
        (1.0, "strong"),
    ],
)
def test_truthreaders_bars_stand_at_030_and_065(overlap, word):
    assert overlap_word(overlap) == word


def test_a_long_sentence_does_not_win_by_its_length():
    long = (
        "Among many other things that were tried, the parser reads trees, charts, tables and lists of words."
    )
    assert best_sentence("The parser reads trees.", [long, "The parser reads trees."]) == (1, 1.0)
    assert best_sentence("The parser reads trees.", []) == (0, 0.0)


@given(st.permutations(range(5)))
def test_a_citation_leads_to_the_sentence_that_carries_it_wherever_it_stands(order):
    texts = [
        f"Passage {name} speaks about {name} alone. It ends." for name in ("rain", "snow", "hail", "fog")
    ]
    texts.append("Nothing here. Our parser needs two days of training on one card. It ends.")
    paper = make_paper(3, *(texts[index] for index in order))
    citation = resolve_citation(3, "The parser trains for two days on one card.", paper)
    assert citation.evidence == "Our parser needs two days of training on one card."
    assert citation.passage_id == f"p3#{order.index(4)}"
    assert citation.sentence == 1
    assert citation.support is None


def test_overlap_is_taken_over_the_whole_passage_not_over_one_sentence():
    paper = make_paper(1, "The parser is fast. Its training takes days.")
    citation = resolve_citation(1, "The parser is fast and its training takes days.", paper)
    assert citation.overlap == pytest.approx(8 / 9)


@pytest.mark.parametrize(
    ("support", "said"), [(0.34999, "0.34 weak"), (0.6499, "0.64 partial"), (0.8178, "0.81 strong")]
)
def test_a_score_reads_alike_on_screens_in_files_and_terminals(support, said):
    assert describe_score("support", support) == f"support {said}"
    assert format_score(support) == said
