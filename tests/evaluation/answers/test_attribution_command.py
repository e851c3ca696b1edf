"""The commands on attribution, on pairs made here and, where they lie beside the project, on real ones."""

import json
import random

import numpy as np
import pytest
from typer.testing import CliRunner

from assistant.checking.comparable_text import read_statement
from evaluation.__main__ import app
from evaluation.answers.attribution.agreement import calibration_error
from evaluation.answers.attribution.contrast import (
    change_comparison,
    change_name,
    change_negation,
    change_number,
    change_quantifier,
    change_unit,
    contrasts,
)
from evaluation.answers.attribution.pairs import (
    LabelledPair,
    Selection,
    evidence_sentences,
    groups,
    read_pairs,
)
from evaluation.input_files import EvaluationError

METHODS = ("Ranker", "Parser", "Tagger", "Reader", "Writer", "Indexer", "Linker", "Summariser")
PLACES = ("Cranfield", "Leipzig", "Dublin", "Utrecht", "Trento", "Aalborg", "Ghent", "Lyon")


def made_pairs() -> list[dict]:
    """Return pairs of two sets: each claim once with evidence that carries it, once with another's."""
    facts = [
        f"The {method} from {place} is faster than its rivals and reaches {60 + 3 * index}.5 points in tests."
        for index, (method, place) in enumerate(zip(METHODS, PLACES, strict=True))
    ]
    pairs = []
    for index, fact in enumerate(facts):
        name = "first" if index % 2 else "second"
        for label, shown in ((1, fact), (0, facts[(index + 3) % len(facts)])):
            evidence = f"We test system {index}{label}. {shown} Et al. is no end. Fig. 3 shows it."
            pairs.append({"set": name, "claim": fact, "references": [evidence], "label": label})
    return pairs


@pytest.fixture
def pairs_file(tmp_path):
    file = tmp_path / "pairs.jsonl"
    file.write_text("".join(json.dumps(pair) + "\n" for pair in made_pairs()), encoding="utf-8")
    return file


def run(*arguments: str) -> dict:
    result = CliRunner().invoke(app, [*arguments])
    assert result.exit_code == 0, result.output
    return json.loads(result.output.splitlines()[-1])


@pytest.mark.parametrize("option", [[], ["--cross-validate"]])
def test_the_last_line_holds_the_figures(pairs_file, option):
    figures = run("attribution", "--pairs", str(pairs_file), *option)
    assert {
        "auroc_overlap",
        "auroc_support",
        "balanced_accuracy",
        "ece",
        "sets",
        "contrast",
    } <= figures.keys()
    assert figures["auroc_support"] == 1.0
    assert set(figures["sets"]) == {"first", "second"}
    assert all(one["pairs"] == 8 for one in figures["sets"].values())
    assert set(figures["contrast"]) == {"number", "negation", "name", "comparison", "unit"}
    for kind in ("number", "negation", "name"):
        assert figures["contrast"][kind]["below_support"] == 1.0


def test_claims_of_unit_and_quantifier_are_changed():
    evidence = [read_statement("Most runs take 12 hours.")]
    assert change_unit("It takes 12 hours.", evidence, random.Random(0)) != "It takes 12 hours."
    assert change_unit("It takes hours.", evidence, random.Random(0)) is None
    assert change_quantifier("Most runs end.", random.Random(1)) in {"Few runs end.", "All runs end."}
    assert change_quantifier("It runs.", random.Random(0)) is None


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        ('{"claim": "a", "references": ["b"], "label": 1}\n', "must hold supported pairs"),
        ("{}\n", "line 1: claim: Field required"),
        ("\n[1]\n", "line 2"),
        ('{"claim": "a", "references": [], "label": 1}\n', "references"),
        ('{"claim": "a", "evidence": "b", "label": "maybe"}\n', "line 1: label"),
        ('{"claim": "a", "evidence": "b", "label": 2}\n', "line 1: label"),
        ('{"claim": "a", "evidence": "b", "label": true}\n', "line 1: label"),
        ('{"claim": "a", "evidence": 1, "label": 1}\n', "line 1: "),
    ],
)
def test_pairs_that_cannot_be_used_are_named(tmp_path, content, message):
    file = tmp_path / "pairs.jsonl"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(EvaluationError, match=message):
        read_pairs(file)
    result = CliRunner().invoke(app, ["attribution", "--pairs", str(file)])
    assert result.exit_code == 2


def named_pairs() -> list[dict]:
    """Return pairs of the other form: one text of evidence, labels in words, one set with all three."""
    verdicts = {1: "supported", 0: "not"}
    pairs = [
        {
            "set": pair["set"],
            "split": "test" if index < 8 else "dev",
            "claim": pair["claim"],
            "evidence": pair["references"][0],
            "label": verdicts[pair["label"]],
        }
        for index, pair in enumerate(made_pairs())
    ]
    return [*pairs, {**pairs[1], "set": "first", "label": "partial"}]


@pytest.fixture
def named_file(tmp_path):
    file = tmp_path / "named.jsonl"
    file.write_text("".join(json.dumps(pair) + "\n" for pair in named_pairs()), encoding="utf-8")
    return file


def test_labels_in_words_are_read_and_partial_counts_as_not(named_file):
    figures = run("attribution", "--pairs", str(named_file))
    assert (figures["pairs"], figures["supported"]) == (17, 8)
    assert figures["auroc_support"] == 1.0
    # Two of three labels are told apart; what is supported in part scores as what is not.
    assert 0.5 < figures["sets"]["first"]["macro_f1"] < 0.7
    assert figures["sets"]["second"]["macro_f1"] is None


@pytest.mark.parametrize(
    ("options", "sets", "pairs"),
    [
        (["--set", "first"], {"first"}, 9),
        (["--set", "first", "--set", "second"], {"first", "second"}, 17),
        (["--split", "dev"], {"first", "second"}, 8),
        (["--set", "second", "--split", "test"], {"second"}, 4),
        (["--sample", "6"], {"first", "second"}, 12),
        (["--sample", "100"], {"first", "second"}, 17),
    ],
)
def test_sets_splits_and_samples_are_selected(named_file, options, sets, pairs):
    figures = run("attribution", "--pairs", str(named_file), *options)
    assert (set(figures["sets"]), figures["pairs"]) == (sets, pairs)


def test_a_sample_is_the_same_every_time_and_in_every_selection(named_file):
    alone = read_pairs(named_file, Selection(sets=("first",), sample=6))
    both = read_pairs(named_file, Selection(sample=6))
    assert alone == tuple(pair for pair in both if pair.set == "first")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--set", "third"], "no pair of the set 'third', only of: first, second"),
        (["--split", "train"], "no pair of the split 'train', only of: dev, test"),
        (["--sample", "1", "--set", "second"], "must hold supported pairs"),
    ],
)
def test_a_selection_of_nothing_is_said(named_file, options, message):
    result = CliRunner().invoke(app, ["attribution", "--pairs", str(named_file), *options])
    assert result.exit_code == 2
    assert message in result.stderr


@pytest.mark.parametrize(
    ("option", "message"), [("--cross-validate", "at least 5 groups"), ("--across-sets", "two sets")]
)
def test_too_few_pairs_to_hold_some_back_are_named(tmp_path, option, message):
    file = tmp_path / "pairs.jsonl"
    lines = [{"claim": "It ranks.", "references": ["It ranks."], "label": label} for label in (0, 1)]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    result = CliRunner().invoke(app, ["attribution", "--pairs", str(file), option])
    assert result.exit_code == 2
    assert message in result.output


def test_one_long_document_is_split_into_sentences():
    document = (
        "We follow Smith et al. in this. See Fig. 3 [2].\n\nIt costs 1.5 days.Then it ends. https://x.org/a"
    )
    assert evidence_sentences([document, "Another."]) == (
        "We follow Smith et al. in this.",
        "See Fig. 3 .",
        "It costs 1.5 days.",
        "Then it ends.",
        "Another.",
    )


def test_pairs_of_one_question_or_claim_or_reference_stay_together():
    def pair(claim: str, reference: str, question: str = "") -> LabelledPair:
        return LabelledPair(claim=claim, references=(reference,), label=1, question=question)

    found = groups([pair("a", "1", "q"), pair("b", "2", "q"), pair("b", "3"), pair("c", "3"), pair("d", "4")])
    assert len(set(found[:4])) == 1
    assert found[4] not in found[:4]


EVIDENCE = [
    read_statement(text) for text in ("The Ranker reaches 91.2 F1 in 2019 without BM25.", "It is 5 % better.")
]


@pytest.mark.parametrize("seed", range(5))
def test_a_changed_number_stands_nowhere_in_the_evidence(seed):
    changed = change_number("The Ranker reaches 91.2 F1.", EVIDENCE, random.Random(seed))
    assert changed is not None
    assert changed != "The Ranker reaches 91.2 F1."
    (number, *_) = read_statement(changed).numbers
    assert not any(number.says(other) for one in EVIDENCE for other in one.numbers)
    assert change_number("The Ranker has 77 layers.", EVIDENCE, random.Random(seed)) is None


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


def test_a_name_is_swapped_for_one_that_is_not_in_the_evidence():
    changed = change_name("In 2019 the Ranker won.", EVIDENCE, ["BM25", "Ranker", "Parser"], random.Random(0))
    assert changed == "In 2019 the Parser won."
    assert change_name("In 2019 the Reader won.", EVIDENCE, ["Parser"], random.Random(0)) is None


@pytest.mark.parametrize(
    ("claim", "changed"),
    [
        ("It is faster.", "It is slower."),
        ("Higher is better.", "Lower is better."),
        ("It ranks.", None),
    ],
)
def test_a_comparison_is_reversed(claim, changed):
    assert change_comparison(claim, random.Random(1)) == changed


def test_contrasts_are_the_same_every_time_and_made_of_supported_claims_alone():
    pairs = [LabelledPair.model_validate(pair) for pair in made_pairs()]
    found = contrasts(pairs)
    assert found == contrasts(pairs)
    assert all(pairs[one.pair].label == 1 and one.claim != pairs[one.pair].claim for one in found)


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
    figures = run("attribution", "--pairs", str(file))
    assert figures["auroc_support"] > figures["auroc_overlap"] + 0.05
