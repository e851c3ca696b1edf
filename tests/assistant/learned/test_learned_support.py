"""The support part through its door: a card, weights that fit or do not, and what is read of an answer."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from numpy.typing import NDArray

from assistant.checking.scorer import SupportReader, SupportScorer
from assistant.learned.parts import Card, LearnedError, LearnedPart
from assistant.learned.support import SUPPORT, open_support
from corpus.encoders.base import Encoder
from corpus.encoders.pairs import PairNetwork
from tests.learned_part import write_learned_part

EVIDENCE = (
    "The collection holds 225 queries.",
    "Dense retrieval compares vectors of queries and passages.",
    "It was made in 1999 and has not been changed since.",
)
SCALES = {
    "all": {"intercept": -2.0, "network": 0.5, "words_nearby": 4.0},
    "features": {"intercept": -1.0, "words_nearby": 4.0},
}


def part(folder: Path, **changes: Any) -> Path:
    return write_learned_part(folder, SUPPORT, **{"scales": SCALES} | changes)


class CountingNetwork:
    """Stands for a network, and remembers what it was given to read, call by call."""

    def __init__(self) -> None:
        self.calls: list[list[tuple[str, str]]] = []

    def read(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        self.calls.append(list(pairs))
        return np.full((len(pairs), 1), -1.0, np.float32)


def counting() -> tuple[CountingNetwork, LearnedPart]:
    network = CountingNetwork()
    card = Card(name="counting", trunk_sha256="", weights_sha256="", longest=64, scales=SCALES, provenance={})
    return network, LearnedPart(card, cast(PairNetwork, network))


def test_the_networks_number_joins_the_score(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, encoder: Encoder
) -> None:
    monkeypatch.setenv("PAPER_TRAIL_LEARNED", str(part(tmp_path / "learned")))
    scorer = SupportScorer(encoder)
    assert scorer.name == "support-test"
    claim = "Queries are compared by their vectors."
    (compared,) = scorer.reader().compare([claim], [EVIDENCE[1:2]])
    assert compared is not None
    (number,) = open_support().numbers([(claim, EVIDENCE[1])])
    assert compared.features["network"] == pytest.approx(max(-6.0, min(6.0, number)), abs=1e-3)


@pytest.mark.parametrize("change", [{"weights_sha256": "0" * 64}, {"trunk_sha256": "1" * 64}])
def test_where_the_network_does_not_fit_the_features_tell_and_the_name_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, encoder: Encoder, change: dict[str, str]
) -> None:
    monkeypatch.setenv("PAPER_TRAIL_LEARNED", str(part(tmp_path / "other", **change)))
    scorer = SupportScorer(encoder)
    assert scorer.name == "support-test without its network"
    right, wrong = scorer.score([EVIDENCE[1], "Penguins swim far."], [EVIDENCE, EVIDENCE])
    assert wrong < right


def test_a_folder_without_a_part_leaves_the_products_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = open_support().name
    monkeypatch.setenv("PAPER_TRAIL_LEARNED", str(tmp_path))
    assert open_support().name == own
    monkeypatch.setenv(
        "PAPER_TRAIL_LEARNED", str(part(tmp_path / "bare", scales={"all": {}}, weights_sha256="0" * 64))
    )
    with pytest.raises(LearnedError, match="no scale 'features'"):
        open_support()


def test_what_is_quoted_word_for_word_costs_no_reading(encoder: Encoder) -> None:
    network, learned = counting()
    reader = SupportReader(encoder, learned=learned)
    found = reader.weigh([EVIDENCE[0], "The collection holds 225 queries [2]."], [EVIDENCE, EVIDENCE])
    assert network.calls == []
    assert all(support.score > 0.9 for support in found)


def test_an_answer_is_read_at_once_and_each_pair_once(encoder: Encoder) -> None:
    network, learned = counting()
    reader = SupportReader(encoder, learned=learned)
    claims = ["It holds many queries.", "Vectors are compared.", "It holds many queries.", EVIDENCE[0]]
    reader.weigh(claims, [EVIDENCE] * len(claims))
    reader.weigh(claims[:1], [EVIDENCE])
    assert [len(call) for call in network.calls] == [2]


def test_a_denied_quotation_is_read(encoder: Encoder) -> None:
    network, learned = counting()
    evidence = ["Nobody would claim that dense retrieval compares vectors."]
    SupportReader(encoder, learned=learned).weigh(["Dense retrieval compares vectors."], [evidence])
    assert [len(call) for call in network.calls] == [1]
