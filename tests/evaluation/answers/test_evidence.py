"""Rankers of what answers a question: places by hand, and rows of the real sets."""

from math import log

import pytest

from evaluation.answers.evidence import EvidenceRow, bm25, first_places
from tests.evaluation.commands import figures


@pytest.mark.parametrize(
    ("scores", "relevant", "places"),
    [
        ([3.0, 2.0, 1.0], [0], {1: 1.0}),
        ([3.0, 2.0, 1.0], [2], {3: 1.0}),
        ([3.0, 2.0, 1.0], [2, 1], {2: 1.0}),
        ([1.0, 1.0], [0], {1: 1 / 2, 2: 1 / 2}),
        ([0.0, 0.0, 0.0, 0.0], [1], {1: 1 / 4, 2: 1 / 4, 3: 1 / 4, 4: 1 / 4}),
        ([2.0, 1.0, 1.0, 1.0], [1, 2], {2: 2 / 3, 3: 1 / 3}),
        ([1.0, 1.0], [0, 1, 1], {1: 1.0}),
    ],
)
def test_ties_leave_the_first_place_to_chance(scores, relevant, places):
    assert first_places(scores, relevant) == pytest.approx(places)


def asked(question: str, *candidates: str) -> EvidenceRow:
    return EvidenceRow(question=question, candidates=candidates, relevant=())


def test_bm25_prefers_rare_words_repeated_words_and_short_texts():
    def best(question: str, *candidates: str) -> int:
        scores = bm25(asked(question, *candidates))
        return scores.index(max(scores))

    assert best("ranking with SPLADE", "ranking papers", "SPLADE papers", "ranking tables") == 1
    assert best("ranking", "ranking and rankings", "ranking or parsing") == 0
    assert best("ranking", "ranking long documents of many pages", "ranking documents") == 1
    # One of two texts has the word, and is twice as long as the mean.
    by_hand = log(2) * 2.2 / (1 + 1.2 * (0.25 + 0.75 * 2))
    assert bm25(asked("What is the cost?", "It is the one.", "Costs rose.")) == [0.0, pytest.approx(by_hand)]
    assert bm25(asked("What is it?", "It is.", "")) == [0.0, 0.0]


NAMES = "qasper-sentences qasper-paragraphs clapnq covidqa evidence-inference qed wikiqa".split()


def test_the_real_sets_have_the_counts_they_were_made_with(shared, tmp_path):
    options = [part for name in NAMES for part in ("--set", name)]
    counts = figures("evidence-sets", "--data", shared / "data", "--out", tmp_path / "rows.jsonl", *options)
    assert [counts[name]["rows"] for name in NAMES] == [1203, 1473, 296, 1380, 420, 1021, 1242]
    assert counts["clapnq"]["unanswerable"] == 147
