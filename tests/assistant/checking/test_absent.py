"""Numbers and names that the cited text lacks keep a claim below the bar of support."""

import pytest

from assistant.checking.absent import is_absent
from assistant.checking.citations import check_sentences
from assistant.checking.scorer import SupportScorer, capped
from assistant.checking.support import SupportCheck
from assistant.records import Evidence
from corpus.encoders.base import Encoder
from tests.assistant.checking.test_citations import make_paper

CITED = (
    "ColBERTv2 establishes state-of-the-art quality, reaching 39.7 MRR@10 on MS MARCO.",
    "It reduces the space footprint of late interaction models by 6-10x against COVID-19 baselines.",
    "Retrieval-Augmented Generation was studied by American researchers in two thousand papers.",
)


@pytest.mark.parametrize(
    "claim",
    [
        "ColBERTv2 reaches 45.1 MRR@10 on MS MARCO.",
        "ColBERTv2 reaches 397 MRR@10.",
        "In 2019, late interaction was studied.",
        "Late interaction was first studied in Leipzig.",
        "The footprint was reduced by Omar Khattab and others.",
    ],
)
def test_a_number_or_name_from_nowhere_is_seen(claim):
    assert is_absent(claim, CITED)


@pytest.mark.parametrize(
    "claim",
    [
        "ColBERTv2 reaches about 40 MRR@10 on MS MARCO.",
        "It reaches 39.7 with one model.",
        "Results on COVID-19 and GPT-4 differ.",
        "They studied 2,000 papers.",
        "The work of America's researchers covers RAG.",
        "Late interaction reduces the footprint 10x.",
        "Spaces shrink. Footprints are small.",
        "1. Late interaction is studied.",
        "Late Interaction Models Shrink In Leipzig And Dublin",
        "",
    ],
)
def test_what_stands_there_in_another_form_is_not_taken_for_absent(claim):
    assert not is_absent(claim, CITED)


def test_a_wrong_number_beside_the_right_words_scored_as_supported(encoder: Encoder):
    claims = [f"ColBERTv2 reaches {number} MRR@10 on MS MARCO." for number in ("39.7", "45.1")]
    right, wrong = SupportScorer(encoder).score(claims, [CITED, CITED])
    assert wrong < 0.5 < right


def test_entailment_does_not_lift_a_claim_over_the_cap(encoder: Encoder):
    class Sure:
        name = "sure"

        def probabilities(self, claims, texts):
            return [1.0] * len(claims)

    (score,) = SupportScorer(encoder, Sure()).score(["ColBERTv2 reaches 45.1 MRR@10."], [CITED])
    assert score < 0.5


def test_the_likelier_of_two_capped_claims_still_scores_higher():
    scores = [capped(score, {"nowhere": 1.0}) for score in (0.1, 0.45, 0.7, 0.99)]
    assert scores == sorted(set(scores))
    assert scores[0] == 0.1
    assert scores[-1] < 0.5
    assert capped(0.99, {"nowhere": 0.0}) == 0.99


def test_a_paper_is_cited_by_its_year_and_authors(encoder: Encoder):
    evidence = Evidence((make_paper(1, "Late interaction models shrink the space footprint of an index."),))
    check = SupportCheck(evidence, SupportScorer(encoder))
    found = []
    for year in (2022, 1874):
        text = f"In {year}, late interaction models shrink the space footprint of an index [1]."
        (sentence,) = check.weigh(check_sentences(text, evidence)).sentences
        found.append(sentence.support or 0.0)
    assert found[1] < 0.5 < found[0]
