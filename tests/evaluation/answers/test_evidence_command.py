"""How high rankers place what answers a question: by hand, and by the command on small rows."""

from math import log

import pytest

from evaluation.answers.evidence.rankers import bm25
from evaluation.answers.evidence.ranking import first_places
from evaluation.answers.evidence.rows import EvidenceRow


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
