"""Thresholds mean the same for every encoder."""

import numpy as np
import pytest

from corpus.encoders.scale import BUNDLED_KNOTS, Scale, cosine_scales
from tests.shifted_encoder import ShiftedEncoder


def test_the_bundled_encoder_keeps_its_cosines_and_no_scale_changes_an_order(encoder) -> None:
    scales = cosine_scales(encoder)
    assert (scales.asked, scales.alike) == (Scale(), Scale())
    assert scales.asked(0.381) == 0.381
    scale = Scale((0.5, 0.52, 0.6, 0.61, 0.8, 0.85, 0.99))
    cosines = np.linspace(-0.5, 1.0, 50, dtype=np.float32)
    assert np.all(np.diff(scale(cosines)) >= 0)
    assert scale(0.6) == pytest.approx(BUNDLED_KNOTS[2])
    assert scale(1.0) == 1.0
    assert scale(None) is None


@pytest.mark.parametrize("shift", [0.3, 0.7])
def test_cosines_of_another_encoder_come_to_stand_where_the_bundled_ones_are(encoder, shift):
    scales = cosine_scales(ShiftedEncoder(encoder, shift))
    bundled = np.linspace(-0.1, 1.0, 23)
    for scale in (scales.asked, scales.alike):
        assert scale(shift + (1 - shift) * bundled) == pytest.approx(bundled, abs=2e-3)
        assert isinstance(scale(0.5), float)
