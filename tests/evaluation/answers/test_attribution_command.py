"""The commands on attribution, on pairs made here and, where they lie beside the project, on real ones."""

import random

import numpy as np
import pytest

from assistant.checking.comparable_text import read_statement
from evaluation.answers.attribution import LabelledPair, calibration_error, groups
from tests.evaluation.commands import figures
from training.claims import change_negation, change_quantifier, change_unit


def test_claims_of_unit_and_quantifier_are_changed():
    evidence = [read_statement("Most runs take 12 hours.")]
    assert change_unit("It takes 12 hours.", evidence, random.Random(0)) != "It takes 12 hours."
    assert change_unit("It takes hours.", evidence, random.Random(0)) is None
    assert change_quantifier("Most runs end.", random.Random(1)) in {"Few runs end.", "All runs end."}
    assert change_quantifier("It runs.", random.Random(0)) is None


def test_pairs_of_one_question_or_claim_or_reference_stay_together():
    def pair(claim: str, reference: str, question: str = "") -> LabelledPair:
        return LabelledPair(claim=claim, references=(reference,), label=1, question=question)

    found = groups([pair("a", "1", "q"), pair("b", "2", "q"), pair("b", "3"), pair("c", "3"), pair("d", "4")])
    assert len(set(found[:4])) == 1
    assert found[4] not in found[:4]


@pytest.mark.parametrize(
    ("claim", "changed"),
    [
        ("The Ranker is fast.", "The Ranker is not fast."),
        ("It doesn't need labels.", "It does need labels."),
        ("It cannot use labels.", "It can use labels."),
        ("It never needs labels.", "It needs labels."),
        ("The ranking works.", None),
        ("It does not need heat.", None),
    ],
)
def test_a_negation_is_put_in_or_dropped_where_the_evidence_denies_the_same(claim, changed):
    evidence = [read_statement("It works without labels.")]
    assert change_negation(claim, evidence, random.Random(0)) == changed


def test_calibration_is_perfect_where_scores_are_shares():
    labels = np.array([1, 0, 1, 0])
    assert calibration_error(labels, np.array([0.5, 0.5, 0.5, 0.5])) == 0.0
    assert calibration_error(labels, np.array([1.0, 0.0, 1.0, 0.0])) == 0.0
    assert calibration_error(labels, np.array([0.0, 1.0, 0.0, 1.0])) == 1.0


@pytest.mark.long
def test_the_shipped_weights_beat_overlap_on_real_pairs(shared, tmp_path):
    lines = (shared / "data/attribution/pairs.jsonl").read_text(encoding="utf-8").splitlines()
    file = tmp_path / "some.jsonl"
    short = [line for line in lines if len(line) < 2_000]
    file.write_text("\n".join(random.Random(0).sample(short, 60)), encoding="utf-8")
    found = figures("attribution", "--pairs", file)
    assert found["auroc_support"] > found["auroc_overlap"] + 0.05
