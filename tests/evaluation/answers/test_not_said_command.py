"""The command on phrases that are not said: right ones, false alarms, and the papers that are held back."""

import pytest

from evaluation.answers.not_said import changed_spans, fold_of
from tests.evaluation.commands import figures, invoke, write_lines

SENTENCES = [
    "Hard negatives improve the recall of dense retrieval on English news articles in our experiments.",
    "The encoder has 22 million parameters and was trained on two GPUs for 12 hours.",
]
RIGHT = "The encoder has 22 million parameters and was trained for 12 hours."
ALARM = "Hard negatives improve the recall of dense retrieval on English news articles, as Anna found."


@pytest.fixture
def data(tmp_path):
    papers = [f"P{number}" for number in range(12)]
    abstracts = [
        {"paper": name, "title": "Negatives", "year": 2020, "sentences": SENTENCES} for name in papers
    ]
    write_lines(tmp_path / "questions" / "papers_abstracts.jsonl", *abstracts)
    claims = [
        {"paper": name, "claim": claim, "label": label, "type": kind}
        for name in papers
        for claim, label, kind in (
            (RIGHT, "supported", "paraphrase"),
            (ALARM, "supported", "near"),
            (f"{RIGHT[:-1]} in Prague.", "partial", "partial"),
        )
    ]
    twins = [
        {"paper": name, "claim": twin, "label": "not", "type": kind, "twin_of": RIGHT}
        for name in papers
        for twin, kind in ((RIGHT.replace("12", "9"), "number"), (RIGHT.replace("has", "saves"), "swap"))
    ]
    write_lines(tmp_path / "support" / "paper_claims.jsonl", *claims)
    write_lines(tmp_path / "support" / "paper_claim_twins.jsonl", *twins)
    return tmp_path


def test_right_phrases_and_false_alarms_are_counted(data):
    measured = figures("not-said", "--data", data)
    held = figures("not-said", "--data", data, "--part", "held")
    count = {"claims": 12 - held["claims"] // 5}
    assert 0 < held["claims"] < measured["claims"] == 5 * count["claims"]
    kinds = measured["kinds"]
    assert kinds["twin: number"] == {
        **count, "with_phrase": count["claims"], "phrases": count["claims"], "right": count["claims"],
        "precision": 1.0, "recall": 1.0,
    }  # fmt: skip
    assert (kinds["twin: swap"]["with_phrase"], kinds["twin: swap"]["recall"]) == (0, 0.0)
    assert (kinds["supported: near"]["precision"], kinds["supported: paraphrase"]["phrases"]) == (0.0, 0)
    assert (kinds["partial: partial"]["phrases"], kinds["partial: partial"]["right"]) == (
        count["claims"],
        None,
    )
    assert (measured["precision"], measured["recall"]) == (0.5, 0.5)


def test_labelled_pairs_are_counted_by_verdict(data, tmp_path):
    pairs = write_lines(
        tmp_path / "pairs.jsonl",
        {
            "claim": f"{RIGHT[:-1]} in Prague [3].",
            "references": [" ".join(SENTENCES)],
            "label": 0,
            "set": "a",
        },
        {"claim": f"{RIGHT[:-1]} [3].", "references": [" ".join(SENTENCES)], "label": 1, "set": "a"},
    )
    found = figures("not-said", "--data", data, "--pairs", pairs)["pairs"]
    assert found == {
        "a, not": {"claims": 1, "with_phrase": 1, "share": 1.0},
        "a, supported": {"claims": 1, "with_phrase": 0, "share": 0.0},
    }


def test_the_phrases_are_printed_when_asked_for(data):
    assert "in Prague |" in invoke("not-said", "--data", data, "--show").stdout


def test_the_changed_words_of_a_twin_are_found_and_papers_fall_into_folds():
    before, after = "It has 12 layers, not six.", "It has nine layers and not six."
    assert [after[start:end] for start, end in changed_spans(before, after)] == ["nine", "and"]
    assert {fold_of(f"P{at}") for at in range(60)} == set(range(5))
