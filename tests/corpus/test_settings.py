"""Settings as they are written by hand: what cannot be meant is said, and what is misspelt."""

import logging
from pathlib import Path

import pytest

from corpus.errors import CorpusError
from corpus.settings import read_settings


@pytest.mark.parametrize("place", ["9464", ":9464", "http://127.0.0.1:1", "127.0.0.1:0", "127.0.0.1:65536"])
def test_an_invalid_address_for_metrics_is_reported(monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    monkeypatch.setenv("PAPER_TRAIL_METRICS", place)
    with pytest.raises(CorpusError, match="PAPER_TRAIL_METRICS cannot be used: it has to be HOST:PORT"):
        read_settings()


@pytest.mark.parametrize("place", ["127.0.0.1:9464", "localhost:1", "[::1]:65535", ""])
def test_a_place_of_metrics_is_taken(monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    monkeypatch.setenv("PAPER_TRAIL_METRICS", place)
    assert read_settings().metrics == place


def test_a_folder_in_a_home_is_found_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PAPER_TRAIL_HOME", "~/papers")
    assert read_settings().home == tmp_path / "papers"


def test_fault_misspelt_settings_changed_nothing_without_a_word(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("PAPER_TRAIL_METRIC", "127.0.0.1:9464")
    monkeypatch.setenv("PAPER_TRAIL_ZEBRA", "canary")
    monkeypatch.setenv("PAPER_TRAIL_MODEL_CALLS", "3")
    with caplog.at_level(logging.WARNING):
        assert read_settings().model_calls == 3
        assert read_settings().metrics == ""
    assert caplog.messages == [
        "PAPER_TRAIL_METRIC is no setting of Paper Trail. Is PAPER_TRAIL_METRICS meant?",
        "PAPER_TRAIL_ZEBRA is no setting of Paper Trail. It changes nothing.",
    ]
