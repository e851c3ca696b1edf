"""What held-back queries find among the texts of their set."""

from collections.abc import Sequence
from typing import TypedDict

import torch

from training.fitting import in_short_numbers
from training.retriever.task import Example, SentenceReader

# `recall@k` is the share of queries of which a right text is among the first k.
Found = TypedDict("Found", {"queries": int, "texts": int, "recall@1": float, "recall@4": float, "mrr": float})


def measure_found(reader: SentenceReader, asked: Sequence[Example]) -> Found:
    """Return how well queries find their texts among all of them and their hard negatives."""
    texts = {key: text for one in asked for key, text in zip(one.keys, one.texts, strict=True)}
    keys = list(texts)
    reader.eval()
    with torch.no_grad(), in_short_numbers(reader):
        vectors = reader.read([*(one.query for one in asked), *texts.values()]).float()
    order = (vectors[: len(asked)] @ vectors[len(asked) :].T).argsort(dim=1, descending=True).tolist()
    firsts = [
        next(place for place, index in enumerate(ranked, start=1) if keys[index] in one.right)
        for one, ranked in zip(asked, order, strict=True)
    ]
    return {
        "queries": len(asked),
        "texts": len(keys),
        "recall@1": _mean([place <= 1 for place in firsts]),
        "recall@4": _mean([place <= 4 for place in firsts]),
        "mrr": _mean([1 / place for place in firsts]),
    }


def _mean(values: Sequence[float]) -> float:
    return round(sum(values) / len(values), 4)
