"""The contrast of a colour with the colour behind it."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

Colour = tuple[float, float, float]
"""Red, green and blue, 0..255."""

BLACK: Colour = (0, 0, 0)
WHITE: Colour = (255, 255, 255)
LEAST_CONTRAST = 1.25
"""Text with a lower contrast ratio cannot be seen: on white, grey paler than 90 %."""
NEAR_COLOUR = 64
"""Colours that differ by more in red, green or blue are told apart by their hue, as yellow on white."""

_PARTS = np.array([0.2126, 0.7152, 0.0722])


def contrast(colour: ArrayLike, background: ArrayLike) -> NDArray[np.float64]:
    """Return the contrast ratio of two colours, 1..21 (WCAG 2.2, "contrast ratio"); the last axis is RGB."""
    lighter, darker = _luminance(colour) + 0.05, _luminance(background) + 0.05
    return np.asarray(np.maximum(lighter, darker) / np.minimum(lighter, darker))


def is_seen(colour: ArrayLike, background: ArrayLike) -> NDArray[np.bool_]:
    """Return True if text of a colour can be told from its background; the last axis is RGB."""
    difference = np.abs(np.subtract(colour, background, dtype=float)).max(axis=-1)
    return np.asarray((contrast(colour, background) >= LEAST_CONTRAST) | (difference > NEAR_COLOUR))


def blend(colour: Sequence[float], background: Sequence[float], opacity: float) -> Colour:
    """Return the colour that shows where `colour` is painted with an opacity of 0..1."""
    red, green, blue = (
        opacity * above + (1 - opacity) * below for above, below in zip(colour, background, strict=True)
    )
    return red, green, blue


def _luminance(colour: ArrayLike) -> NDArray[np.float64]:
    share = np.clip(np.asarray(colour, float) / 255, 0, 1)
    linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    return np.asarray(linear @ _PARTS)
