"""Raised and lowered figures keep their value in plain text."""

import pytest

from corpus.markup.raised import lower_text, plain_figures, raise_text, tex_figures


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


@pytest.mark.parametrize(
    ("tex", "plain", "typeset"),
    [
        ("$10^6$ of CO$_2$", "10⁶ of CO₂", "10$^{6}$ of CO$_{2}$"),
        ("$1.5^{-3}$, $^{14}$C, ${}^{2}$H", "1.5⁻³, ¹⁴C, ²H", "1.5$^{-3}$, $^{14}$C, $^{2}$H"),
        ("$x^2$ at $5 or $6^$", "$x^2$ at $5 or $6^$", "$x^2$ at $5 or $6^$"),
    ],
)
def test_numbers_in_formulas(tex: str, plain: str, typeset: str) -> None:
    assert plain_figures(tex) == plain
    assert tex_figures(plain) == typeset


def test_fault_a_power_of_ten_became_another_number() -> None:
    """A reader took "10<sup>6</sup>" for 106."""
    assert "10" + raise_text("6") == "10⁶"
    assert "CO" + lower_text("2") == "CO₂"
