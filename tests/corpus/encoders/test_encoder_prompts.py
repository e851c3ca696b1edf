"""Prompts that an encoder was trained with come before its texts, wherever they are said."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from sentence_transformers import SentenceTransformer

from corpus.encoder_choice import open_encoder
from corpus.encoders.base import SentenceEncoder
from corpus.encoders.prompts import prompts_to_add
from corpus.settings import Settings
from tests.tiny_encoder import save_tiny_encoder

SEARCHING = "Represent this sentence for searching relevant passages: "
NOTHING = {"query": "", "document": ""}


@pytest.mark.parametrize(
    ("name", "prompts", "query", "passage"),
    [
        ("e5-small-v2", None, "query: ", "passage: "),
        ("E5-Small-v2", {}, "query: ", "passage: "),
        ("snowflake-arctic-embed-xs", None, SEARCHING, ""),
        ("bge-small-en-v1.5", None, SEARCHING, ""),
        ("e5-small-v2", {"query": "find: "}, "find: ", ""),
        ("e5-small-v2", {"document": "text: "}, "", "text: "),
        ("another", {"query": "ask: ", "passage": "page: "}, "ask: ", "page: "),
        ("another", {"query": "ask: ", "document": "text: ", "passage": "page: "}, "ask: ", "text: "),
        ("another", None, "", ""),
    ],
)
def test_texts_are_encoded_behind_their_prompts(
    tmp_path: Path, name: str, prompts: Mapping[str, str] | None, query: str, passage: str
) -> None:
    folder = save_tiny_encoder(tmp_path / name, prompts)
    bare = SentenceTransformer(str(folder), device="cpu")
    encoder = SentenceEncoder(str(folder))
    expected = bare.encode([f"{query}cats", f"{passage}cats"], prompt="", normalize_embeddings=True)
    assert encoder.encode_query("cats") == pytest.approx(expected[0], abs=1e-6)
    assert encoder.encode_passages(["cats"])[0] == pytest.approx(expected[1], abs=1e-6)


def test_weights_count_as_others_with_prompts_that_we_add(tmp_path: Path) -> None:
    first = SentenceEncoder(str(save_tiny_encoder(tmp_path / "any" / "e5-small-v2")))
    second = SentenceEncoder(str(save_tiny_encoder(tmp_path / "any" / "plain")))
    own = SentenceEncoder(str(save_tiny_encoder(tmp_path / "own", {"query": "query: "})))
    assert first.sha256 != second.sha256 == own.sha256


def test_the_accelerated_encoder_has_them_too(tmp_path: Path) -> None:
    name = str(save_tiny_encoder(tmp_path / "e5-small-v2"))
    settings = Settings(home=tmp_path / "home", encoder=name, encoder_runtime="onnx-int8")
    accelerated = open_encoder(settings)
    bare = SentenceTransformer(name, device="cpu")
    told = bare.encode(["cats", "query: cats", "passage: cats"], prompt="", normalize_embeddings=True)
    assert int(np.argmax(told @ accelerated.encode_query("cats"))) == 1
    assert int(np.argmax(told @ accelerated.encode_passages(["cats"])[0])) == 2


@pytest.mark.parametrize("name", ["intfloat/e5-small-v2", "BAAI/bge-small-en-v1.5", "/models/e5-base/"])
def test_an_encoder_is_known_by_the_last_part_of_its_name(name: str) -> None:
    assert prompts_to_add(name, NOTHING)["query"]


@pytest.mark.parametrize("name", ["", "e5-small-v2/other", "all-MiniLM-L6-v2", "someone/e5-small-v2-tuned"])
def test_any_other_gets_nothing(name: str) -> None:
    assert prompts_to_add(name, NOTHING) == {}
