"""Raised and lowered text in plain characters: 10 with a raised 6 is 10⁶, not 106."""

_SIGNS = "0123456789+-−–=()"
_RAISED = str.maketrans(_SIGNS, "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁻⁼⁽⁾")
_LOWERED = str.maketrans(_SIGNS, "₀₁₂₃₄₅₆₇₈₉₊₋₋₋₌₍₎")
# Used alone: "ⁱ⁺¹" is hard to read.
_RAISED_LETTERS = str.maketrans("in", "ⁱⁿ")
# Raised by convention: these read the same on the line.
_ORDINALS = frozenset(("st", "nd", "rd", "th"))
_RAISED_ANYHOW = frozenset("*†‡§¶°′″®™©ªº⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁱⁿ")
_LOWERED_ANYHOW = frozenset("₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎")
_NAMED = {"tm": "™", "r": "®", "(r)": "®", "∘": "°", "◦": "°"}


def raise_text(text: str) -> str:
    """Return raised text as Unicode superscripts where all of it has them, else as "^{...}" or "^x".

    Ordinals ("th") and signs that are raised anyhow ("*", "°") stay as they are.
    """
    text = " ".join(text.split())
    if text in _ORDINALS or _RAISED_ANYHOW.issuperset(text):
        return text
    if named := _NAMED.get(text.lower()):
        return named
    return _converted(text, _RAISED | _RAISED_LETTERS if len(text) == 1 else _RAISED, "^")


def lower_text(text: str) -> str:
    """Return lowered text as Unicode subscripts where all of it has them, else as "_{...}" or "_x"."""
    text = " ".join(text.split())
    return text if _LOWERED_ANYHOW.issuperset(text) else _converted(text, _LOWERED, "_")


def _converted(text: str, table: dict[int, int], mark: str) -> str:
    if all(ord(sign) in table for sign in text):
        return text.translate(table)
    return f"{mark}{text}" if len(text) == 1 else f"{mark}{{{text}}}"
