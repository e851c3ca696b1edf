"""Superscripts and subscripts in Unicode characters: 10⁶, not 106."""

import re

_SIGNS = "0123456789+-−–=()"
_RAISED_SIGNS, _LOWERED_SIGNS = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁻⁼⁽⁾", "₀₁₂₃₄₅₆₇₈₉₊₋₋₋₌₍₎"
_RAISED, _LOWERED = str.maketrans(_SIGNS, _RAISED_SIGNS), str.maketrans(_SIGNS, _LOWERED_SIGNS)
_LEVEL = str.maketrans(
    f"{_RAISED_SIGNS}ⁱⁿ{_LOWERED_SIGNS}", f"{_SIGNS}in{_SIGNS}".replace("−", "-").replace("–", "-")
)
_RUN = re.compile(f"(?P<raised>[{_RAISED_SIGNS}ⁱⁿ]+)|[{_LOWERED_SIGNS}]+")
# A formula that is a number with an exponent, or only a superscript or subscript: "$10^6$", "CO$_2$".
_TEX_FIGURE = re.compile(
    r"\$(?P<base>[+-]?\d[\d.,]*)?(?:\{\})?(?P<script>[\^_])(?:\{(?P<group>[+−-]?\d+)\}|(?P<digit>\d))\$"
)
# Used only for single letters: "ⁱ⁺¹" is hard to read.
_RAISED_LETTERS = str.maketrans("in", "ⁱⁿ")
# Superscripts by convention, which read the same on the line.
_ORDINALS = frozenset(("st", "nd", "rd", "th"))
_RAISED_ANYHOW = frozenset("*†‡§¶°′″®™©ªº⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁱⁿ")
_LOWERED_ANYHOW = frozenset("₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎")
_NAMED = {"tm": "™", "r": "®", "(r)": "®", "∘": "°", "◦": "°"}


def raise_text(text: str) -> str:
    """Return a superscript in Unicode if all of its characters exist there, else as "^{...}" or "^x".

    Ordinals ("th") and signs that are raised anyway ("*", "°") are unchanged.
    """
    text = " ".join(text.split())
    if text in _ORDINALS or _RAISED_ANYHOW.issuperset(text):
        return text
    if named := _NAMED.get(text.lower()):
        return named
    return _converted(text, _RAISED | _RAISED_LETTERS if len(text) == 1 else _RAISED, "^")


def lower_text(text: str) -> str:
    """Return a subscript in Unicode if all of its characters exist there, else as "_{...}" or "_x"."""
    text = " ".join(text.split())
    return text if _LOWERED_ANYHOW.issuperset(text) else _converted(text, _LOWERED, "_")


def _converted(text: str, table: dict[int, int], mark: str) -> str:
    if all(ord(sign) in table for sign in text):
        return text.translate(table)
    return f"{mark}{text}" if len(text) == 1 else f"{mark}{{{text}}}"


def plain_figures(text: str) -> str:
    """Return text with formulas of superscript or subscript numbers in Unicode: "CO$_2$" as CO₂."""

    def plain(formula: re.Match[str]) -> str:
        change = raise_text if formula["script"] == "^" else lower_text
        return (formula["base"] or "") + change(formula["group"] or formula["digit"])

    return _TEX_FIGURE.sub(plain, text) if "$" in text else text


def tex_figures(text: str) -> str:
    """Return text with Unicode superscripts and subscripts as TeX formulas: CO₂ as "CO$_{2}$"."""
    return _RUN.sub(lambda run: f"${'^' if run['raised'] else '_'}{{{run[0].translate(_LEVEL)}}}$", text)
