"""The network that is put together operation by operation, beside the same one in torch."""

from typing import Any

import numpy as np
import pytest

from corpus.encoders.base import bundled_path
from corpus.encoders.bert import PAIR_INPUTS, Shape, bert_network
from corpus.encoders.onnx import open_session
from corpus.encoders.pairs import EPSILON, HEADS, LAYERS, PairNetwork, bundled_weights
from corpus.errors import CorpusError

OUTPUTS = 3
PAIRS = [
    ("Which measure is used?", "We report nDCG@10 on four collections."),
    ("What is BM25?", "BM25 ranks passages by weighted words. " * 20),
    ("Why?", ""),
]


@pytest.fixture(scope="module")
def weights() -> dict[str, Any]:
    chance = np.random.default_rng(5)
    head = chance.normal(size=(OUTPUTS, 384)).astype(np.float32)
    return bundled_weights() | {"head.weight": head, "head.bias": np.ones(OUTPUTS, np.float32)}


def in_torch(weights: dict[str, Any], inputs: dict[str, Any], *, per_token: bool) -> Any:
    import torch  # noqa: PLC0415
    from transformers import BertModel  # noqa: PLC0415

    model = BertModel.from_pretrained(bundled_path(), add_pooling_layer=False).eval()
    ids, mask, sides = (torch.tensor(inputs[name]) for name in PAIR_INPUTS)
    with torch.no_grad():
        found = model(input_ids=ids, attention_mask=mask, token_type_ids=sides).last_hidden_state
    if not per_token:
        kept = mask.unsqueeze(-1).float()
        found = (found * kept).sum(1) / kept.sum(1)
    return found.numpy() @ weights["head.weight"].T + weights["head.bias"]


@pytest.mark.parametrize("per_token", [False, True])
def test_the_network_gives_what_torch_gives_but_for_rounding(
    weights: dict[str, Any], *, per_token: bool
) -> None:
    chance = np.random.default_rng(6)
    ids = chance.integers(1000, 20000, (8, 40))
    mask, sides = np.ones_like(ids), np.zeros_like(ids)
    mask[3, 25:], sides[:, 12:] = 0, 1
    inputs = dict(zip(PAIR_INPUTS, (ids, mask, sides), strict=True))
    network = bert_network(weights, Shape(LAYERS, HEADS, EPSILON), per_token=per_token)
    found = open_session(network, CorpusError("")).run(None, inputs)[0]
    wanted = in_torch(weights, inputs, per_token=per_token)
    kept = mask > 0 if per_token else slice(None)
    assert np.corrcoef(found[kept].ravel(), wanted[kept].ravel())[0, 1] > 0.97


def test_a_pair_is_read_alike_alone_and_among_longer_ones(weights: dict[str, Any]) -> None:
    network = PairNetwork(weights, longest=64)
    together = network.read(PAIRS)
    assert together.shape == (len(PAIRS), OUTPUTS)
    other = PairNetwork(weights, longest=64)  # which remembers nothing of these
    alone = np.vstack([other.read([pair]) for pair in PAIRS])
    # Texts encoded together share a scale: the numbers differ by its rounding.
    assert np.corrcoef(alone.ravel(), together.ravel())[0, 1] > 0.98
    assert network.read([]).shape == (0, OUTPUTS)


def test_tokens_are_known_by_their_start_and_long_questions_cut(weights: dict[str, Any]) -> None:
    network = PairNetwork(weights, longest=16, per_token=True)
    short, long = network.read_tokens([("Is it fast?", "BM25 ranks"), ("Why?", "passages " * 30)])
    assert short.numbers.shape == (11, OUTPUTS)  # with the three marks, "bm25" being three tokens
    assert [short.token_at(0, place) for place in (0, 3, 6, 4)] == [1, 2, 3, None]
    assert [short.token_at(1, place) for place in (0, 5)] == [6, 9]
    assert long.numbers.shape == (16, OUTPUTS) and long.token_at(1, 9 * 29) is None
    assert np.isfinite(PairNetwork(weights, longest=64).read([("≠ " * 300, "≈ " * 300)])).all()
    with pytest.raises(CorpusError, match="no network"):
        open_session(b"not a network", CorpusError("no network"))
