import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.checking.overlap import score_attribution, support_word
from assistant.checking.scorer import NOWHERE, SupportScorer, support_weights
from corpus.encoders.base import Encoder
from tests.counting_encoder import CountingEncoder

SOURCE = "The model reaches 91.2 F1 on the test set and does not use external data."
EVIDENCE = [
    "We describe a parser for scientific text.",
    SOURCE,
    "Training takes three days on a single card in our lab.",
]


@pytest.fixture(scope="module")
def scorer(encoder: Encoder) -> SupportScorer:
    return SupportScorer(encoder)


def support(scorer: SupportScorer, *claims: str) -> list[float]:
    return scorer.score(claims, [EVIDENCE] * len(claims))


def test_truthreader_gave_a_dropped_negation_full_marks(scorer):
    dropped = "The model reaches 91.2 F1 on the test set and does use external data."
    right, wrong = support(scorer, SOURCE, dropped)
    assert score_attribution(dropped, SOURCE) == 1.0
    assert wrong < right - 0.1


def test_truthreader_showed_a_wrong_number_in_blue(scorer):
    claim, wrong_number = (f"The model reaches {number} F1 on the set." for number in (91.2, 17.5))
    right, wrong = support(scorer, claim, wrong_number)
    assert score_attribution(wrong_number, SOURCE) >= 0.7
    assert wrong < right - 0.2


@pytest.mark.parametrize("claim", ["10⁶ litres and loses 3 × 10⁻³", "1,000,000 litres and loses 0.003"])
def test_fault_a_power_of_ten_was_no_number_of_its_own_source(scorer, claim):
    said = "The reservoir holds {} of it each day in summer."
    evidence = [said.format("10⁶ litres and loses 3 × 10⁻³")]
    right, wrong = scorer.score(
        [said.format(claim), said.format("106 litres and loses 3 × 10⁻³")], [evidence, evidence]
    )
    assert right > 0.9 and wrong < 0.5


def test_truthreader_preferred_a_wrong_number_to_a_fair_paraphrase(scorer):
    paraphrase = "On the test data, the system attains an F1 of 91.2 without any external data."
    wrong_number = "The model reaches 17.5 F1 on the set."
    fair, wrong = support(scorer, paraphrase, wrong_number)
    assert score_attribution(paraphrase, SOURCE) < score_attribution(wrong_number, SOURCE)
    assert fair > wrong + 0.1


@pytest.mark.parametrize(
    ("original", "changed"),
    [
        ("Training takes three days on a single card.", "Training takes nine days on a single card."),
        ("Training takes three days on a single card.", "Training takes not three days on a single card."),
        ("The parser reads scientific text.", "The Cranfield reads scientific text."),
        ("It reaches 91.2 F1.", "It reaches 91.3 F1."),
    ],
)
def test_what_is_changed_scores_lower(scorer, original, changed):
    right, wrong = support(scorer, original, changed)
    assert wrong < right


def test_a_number_that_stands_elsewhere_in_the_evidence_is_still_wrong(scorer):
    evidence = [
        "Training takes three days on a single card.",
        "A single training run takes a card for days and days.",
        "On a single card, training is what takes most days.",
        "The single card for training takes the place of a server.",
        "Flat 7 is cold.",
    ]
    claims = [f"Training takes {number} days on a single card." for number in (3, 7)]
    right, wrong = scorer.score(claims, [evidence, evidence])
    assert wrong < right - 0.05


def test_the_best_sentence_is_found_wherever_it_stands(scorer):
    for turn in range(3):
        evidence = EVIDENCE[turn:] + EVIDENCE[:turn]
        (found,) = scorer.reader().weigh(["It takes three days to train on one card."], [evidence])
        assert found.sentence is not None
        assert evidence[found.sentence].startswith("Training takes three days")


def test_nothing_supports_nothing(scorer):
    assert scorer.score(["", "A claim.", "?!"], [EVIDENCE, [], EVIDENCE]) == [0.0, 0.0, 0.0]
    assert scorer.score([], []) == []
    assert scorer.score(["A claim."], [["", "—"]]) == [0.0]


def test_labels_and_addresses_are_not_part_of_a_claim(scorer):
    plain, labelled = support(scorer, SOURCE, f"{SOURCE} [12] https://example.org/91")
    assert labelled == pytest.approx(plain, abs=1e-6)


def test_an_answer_encodes_each_text_once(encoder):
    counting = CountingEncoder(encoder)
    reader = SupportScorer(counting).reader()
    reader.weigh([SOURCE, "Training takes days."], [EVIDENCE, EVIDENCE])
    assert sorted(counting.texts) == sorted({*EVIDENCE, "Training takes days."})
    reader.weigh(["Training takes days."], [EVIDENCE])
    assert len(counting.texts) == len(EVIDENCE) + 1


def test_an_endless_claim_and_endless_evidence_are_read_in_part(scorer):
    (score,) = scorer.score(["word " * 30_000], [["term " * 30_000, *["Rain fell."] * 5_000]])
    assert 0 <= score <= 1


@given(st.text(max_size=60), st.lists(st.text(max_size=60), max_size=4))
@settings(max_examples=40)
def test_any_claim_gets_a_score_between_none_and_full(scorer, claim, evidence):
    (found,) = scorer.reader().weigh([claim], [evidence])
    assert 0 <= found.score <= 1
    assert found.sentence is None or 0 <= found.sentence < len(evidence)


def test_the_weights_say_what_they_were_trained_on(scorer):
    weights = support_weights()
    assert weights.name == scorer.name
    assert {
        "recipe",
        "judged",
        "made",
        "scaled_on",
        "licences",
        "other_sets_only",
    } <= weights.provenance.keys()


def test_the_weights_and_the_features_are_the_same(scorer):
    (compared,) = scorer.reader().compare([SOURCE], [EVIDENCE])
    assert compared is not None
    assert set(compared.features) == {*support_weights().weights, NOWHERE}


@pytest.mark.parametrize(
    ("score", "word"), [(0.0, "weak"), (0.349, "weak"), (0.35, "partial"), (0.65, "strong"), (1.0, "strong")]
)
def test_a_support_score_has_a_word(score, word):
    assert support_word(score) == word
