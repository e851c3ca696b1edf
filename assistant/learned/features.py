"""Features of whether a text answers a question, without a network: words, cosine, form."""

import math
import re
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from corpus.encoders.base import Vectors
from corpus.language.bm25 import Bm25, terms_of
from corpus.text import words

_QUANTITY = re.compile(
    r"\bhow\s+(?:many|much|large|big|long|old|often|fast|well)\b|\bwhat\s+(?:\w+\s+)?(?:size|number|percentage|year|"
    r"score|accuracy|f1|bleu)\b",
    re.IGNORECASE,
)
_REASON = re.compile(r"^\W*(?:why|how)\b", re.IGNORECASE)
_GIVES_REASON = re.compile(
    r"\b(?:because|since|due|therefore|thus|by|using|via|so that|in order)\b", re.IGNORECASE
)
_LEANS = frozenset("this these that those it they he she such its their here there however".split())


def relevance_features(
    question: str, texts: Sequence[str], asked: Vectors, vectors: Vectors
) -> dict[str, list[float]]:
    """Return the features of each text by name, (n,) each.

    `asked` and `vectors` are the unit vectors of question and texts. Some features are relative to the best
    of the texts.
    """
    ranking = Bm25(texts)
    terms = dict.fromkeys(terms_of(question))
    rarity = {term: ranking.rarity(term) for term in terms}
    whole = sum(rarity.values()) or 1.0
    shares = [sum(rarity[term] for term in terms if term in held) / whole for held in map(set, ranking.terms)]
    cosine = (vectors @ asked).tolist()
    return {
        "bm25": _to_best(ranking.scores(question)),
        "share": shares,
        "share_to_best": [share - max(shares) for share in shares],
        "cosine": cosine,
        "cosine_to_best": [value - max(cosine) for value in cosine],
        "cosine_to_mean": [value - float(np.mean(cosine)) for value in cosine],
        "together": [_pairs_held(list(terms), held) for held in ranking.terms],
        "length": [math.log1p(len(held)) for held in ranking.terms],
        "leans": [float(words(text)[:1] != [] and words(text)[0] in _LEANS) for text in texts],
        "number": [_agrees(_QUANTITY.search(question), any(map(str.isdigit, text))) for text in texts],
        "reason": [_agrees(_REASON.search(question), _GIVES_REASON.search(text)) for text in texts],
        "texts": [math.log1p(len(texts))] * len(texts),
    }


def _to_best(scores: Sequence[float]) -> list[float]:
    best = max(scores) or 1.0
    return [score / best for score in scores]


def _pairs_held(terms: Sequence[str], said: Sequence[str]) -> float:
    """Return the share of neighbouring words of the question that are neighbours in the text too."""
    pairs = set(pairwise(terms))
    return len(pairs & set(pairwise(said))) / len(pairs) if pairs else 0.0


def _agrees(asked: object, given: object) -> float:
    return float(bool(asked) and bool(given))
