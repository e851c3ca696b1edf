"""Raised and lowered figures keep their value in plain text."""

import pytest

from corpus.markup import lower_text, raise_text


@pytest.mark.parametrize(
    ("text", "raised"),
    [
        ("6", "⁶"),
        ("-3", "⁻³"),
        ("−12", "⁻¹²"),
        ("2+", "²⁺"),
        (" 137 ", "¹³⁷"),
        ("n", "ⁿ"),
        ("i+1", "^{i+1}"),
        ("x", "^x"),
        ("-1.5", "^{-1.5}"),
        ("1, 2", "^{1, 2}"),
        ("a b\nc", "^{a b c}"),
        ("th", "th"),
        ("*", "*"),
        ("∘", "°"),
        ("TM", "™"),
        ("²", "²"),
        ("", ""),
        ("  ", ""),
    ],
)
def test_raised_text(text: str, raised: str) -> None:
    assert raise_text(text) == raised


@pytest.mark.parametrize(
    ("text", "lowered"),
    [
        ("2", "₂"),
        ("10", "₁₀"),
        ("n-1", "_{n-1}"),
        ("i", "_i"),
        ("max", "_{max}"),
        ("Ω", "_Ω"),
        ("₂", "₂"),
        ("", ""),
    ],
)
def test_lowered_text(text: str, lowered: str) -> None:
    assert lower_text(text) == lowered


def test_fault_a_power_of_ten_became_another_number() -> None:
    """A reader took "10<sup>6</sup>" for 106."""
    assert "10" + raise_text("6") == "10⁶"
    assert "CO" + lower_text("2") == "CO₂"
