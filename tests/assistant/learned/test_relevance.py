"""The relevance part through its door: a card, weights that fit or do not, and shares."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from assistant.learned.parts import SHIPPED, LearnedError, read_card
from assistant.learned.relevance import RELEVANCE, open_relevance
from corpus.encoders.base import Encoder
from tests.learned_part import write_learned_part

QUESTION = "How many queries does the collection have?"
TEXTS = ["The collection has 225 queries.", "Dense retrieval compares vectors.", "It was made in 1999."]


SCALES = {
    "all": {"intercept": -1.0, "network": 0.1, "share": 2.0},
    "features": {"intercept": -1.0, "share": 2.0},
}


def part(folder: Path, **changes: Any) -> Path:
    return write_learned_part(folder, RELEVANCE, **{"scales": SCALES} | changes)


def score(encoder: Encoder, texts: Sequence[str], question: str = QUESTION) -> list[float]:
    asked, vectors = encoder.encode_query(question), encoder.encode_passages(texts)
    return open_relevance().score(question, texts, [""] * len(texts), asked, vectors)


@pytest.fixture
def learned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = part(tmp_path / "learned")
    monkeypatch.setenv("PAPER_TRAIL_LEARNED", str(folder))
    return folder


def test_shares_are_told_of_every_text_and_alike_for_two_visitors(learned: Path, encoder: Encoder) -> None:
    assert open_relevance().name == "relevance-test"
    shares = score(encoder, TEXTS)
    assert max(shares) == shares[0]
    assert all(0 <= share <= 1 for share in shares)
    with ThreadPoolExecutor(2) as visitors:
        assert list(visitors.map(lambda _: score(encoder, TEXTS), range(4))) == [shares] * 4
    assert score(encoder, []) == []


@pytest.mark.parametrize("question", ["", "?", "\x00", "the of", "≠" * 5000, "a " * 3000])
def test_any_question_and_text_get_a_share(learned: Path, encoder: Encoder, question: str) -> None:
    shares = score(encoder, ["", "\x00", "≈" * 5000, *TEXTS], question)
    assert all(0 <= share <= 1 for share in shares)


def test_weights_that_are_not_the_cards_are_not_used(
    tmp_path: Path, encoder: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = part(tmp_path / "changed", weights_sha256="0" * 64)
    monkeypatch.setenv("PAPER_TRAIL_LEARNED", str(folder))
    assert open_relevance().name == "relevance-test without its network"
    shares = score(encoder, TEXTS)
    assert max(shares) == shares[0]


def test_a_part_for_another_encoder_is_told_by_its_features(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("PAPER_TRAIL_LEARNED", str(part(tmp_path / "other", trunk_sha256="1" * 64)))
    assert open_relevance().name == "relevance-test without its network"
    assert "another encoder" in caplog.text


def test_a_folder_without_a_part_leaves_the_products_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PAPER_TRAIL_LEARNED", str(tmp_path))
    assert open_relevance().name == read_card(RELEVANCE, SHIPPED).name
    with pytest.raises(LearnedError, match="cannot be read"):
        read_card(RELEVANCE, tmp_path)
    (tmp_path / f"{RELEVANCE}.json").write_text("{}", encoding="utf-8")
    with pytest.raises(LearnedError, match="not the card"):
        read_card(RELEVANCE, tmp_path)
