"""The contrast of text with its background."""

import pytest

from corpus.contrast import BLACK, WHITE, Colour, blend, contrast, is_seen


@pytest.mark.parametrize(
    ("colour", "background", "ratio"),
    [
        (BLACK, WHITE, 21.0),
        (WHITE, BLACK, 21.0),
        ((119, 119, 119), WHITE, 4.478),
        ((255, 0, 0), WHITE, 3.998),
    ],
)
def test_contrast_is_the_ratio_of_wcag(colour: Colour, background: Colour, ratio: float) -> None:
    assert contrast(colour, background) == pytest.approx(ratio, abs=0.001)


@pytest.mark.parametrize(
    ("colour", "background", "seen"),
    [
        ((231, 231, 231), WHITE, False),
        ((225, 225, 225), WHITE, True),
        ((20, 20, 20), BLACK, False),
        ((40, 40, 40), BLACK, True),
        ((255, 255, 0), WHITE, True),
        ((255, 255, 220), WHITE, False),
    ],
)
def test_text_is_seen_by_its_contrast_or_its_hue(colour: Colour, background: Colour, seen: bool) -> None:
    assert is_seen(colour, background) == seen


def test_what_is_half_opaque_takes_half_of_what_is_behind() -> None:
    assert blend(BLACK, WHITE, 0.5) == (127.5, 127.5, 127.5)
