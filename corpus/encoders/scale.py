"""Scales that map the cosines of other encoders to those of the bundled one, for which thresholds are set.

The sorted cosines of sample pairs of sentences are matched with those of the bundled encoder; values between
are interpolated. The mapping is monotonic, so no order changes.
"""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from corpus.encoders.base import BUNDLED_SHA256, Encoder, Vectors

# Averaged, so that a knot does not depend on a single pair.
PAIRS_PER_KNOT = 4
# The bundled encoder's own knots; both its runtimes agree to about 0.01.
BUNDLED_KNOTS = (0.001, 0.044, 0.199, 0.397, 0.534, 0.675, 0.892)
Cosines = TypeVar("Cosines", float, float | None, Vectors)


@dataclass(frozen=True, slots=True)
class Scale:
    """Maps an encoder's cosines to the bundled one's scale; without knots it changes nothing."""

    knots: tuple[float, ...] = ()

    def __call__(self, cosines: Cosines) -> Cosines:
        if cosines is None or not self.knots:
            return cosines
        own, bundled = _with_ends(self.knots), _with_ends(BUNDLED_KNOTS)
        scaled = np.interp(cosines, own, bundled)
        return float(scaled) if isinstance(cosines, float) else scaled.astype(np.float32)


@dataclass(frozen=True, slots=True)
class CosineScales:
    """The scales of an encoder: `asked` for a query and a passage, `alike` for two passages."""

    asked: Scale = Scale()
    alike: Scale = Scale()


@lru_cache(maxsize=4)
def cosine_scales(encoder: Encoder) -> CosineScales:
    """Return the scales of an encoder, measured once; raises CorpusError if it cannot be loaded."""
    if encoder.sha256 == BUNDLED_SHA256:
        return CosineScales()
    firsts, seconds = zip(*_pairs(), strict=True)
    passages = encoder.encode_passages(seconds)
    queries = np.stack([encoder.encode_query(text) for text in firsts])
    return CosineScales(
        Scale(_knots(queries, passages)), Scale(_knots(encoder.encode_passages(firsts), passages))
    )


def _knots(firsts: Vectors, seconds: Vectors) -> tuple[float, ...]:
    cosines = np.sort(np.sum(firsts * seconds, axis=1, dtype=np.float64))
    return tuple(cosines.reshape(-1, PAIRS_PER_KNOT).mean(axis=1).tolist())


def _with_ends(knots: Sequence[float]) -> NDArray[np.float64]:
    """Return the knots with 1 as the upper end, and 1 reflected at the lowest knot as the lower."""
    return np.asarray([2 * knots[0] - 1.0, *knots, 1.0])


@cache
def _pairs() -> tuple[tuple[str, str], ...]:
    file = tomllib.loads(Path(__file__).with_name("scale.toml").read_text(encoding="utf-8"))
    lines = file["pairs"].strip().splitlines()
    return tuple((first, second) for first, _, second in (line.partition(" | ") for line in lines))
