"""Formulas on one line, as typed: (a+b)/c, x², √n, ∑ (i=1..n) z."""

import re
from collections.abc import Sequence

from corpus.markup.raised import lower_text, raise_text

_RAISED, _LOWERED = r"[⁰¹²³⁴-⁹⁺⁻ⁿⁱ]|\^(?:\w|\{[^{}]*\})", r"[₀-₉₊₋]|_(?:\w|\{[^{}]*\})"
_ATOM = re.compile(
    rf"(?:\d[\d.,]*+|(?:[^\W\d_][\u0300-\u036f]*+)++)['′″]*+(?:{_RAISED}|{_LOWERED})*+|[^\w\s][\u0300-\u036f]*+|"
)
_ENDS_RAISED = re.compile(rf"(?:{_RAISED})$")
_CLOSERS = {"(": ")", "[": "]", "{": "}", "|": "|", "‖": "‖", "⟨": "⟩", "⌊": "⌋", "⌈": "⌉"}
_ROOTS = {"": "√", "2": "√", "3": "∛", "4": "∜"}


def fraction(above: str, below: str) -> str:
    return f"{grouped(above)}/{grouped(below)}"


def root(text: str, degree: str = "") -> str:
    sign = _ROOTS.get(degree.strip(), f"{raise_text(degree)}√")
    return f"{sign}{grouped(text)}"


def with_scripts(base: str, below: str = "", above: str = "") -> str:
    """Return a base with its subscript and superscript."""
    plain = grouped(base)
    # x² with a raised 3 is not x²³.
    plain = f"({plain})" if above.strip() and _ENDS_RAISED.search(plain) else plain
    return f"{plain}{lower_text(below)}{raise_text(above)}"


def with_bounds(sign: str, below: str = "", above: str = "") -> str:
    """Return an operator such as a sum with its bounds, followed by a space."""
    bounds = " ".join(f"{below}..{above}".split()) if above.strip() else " ".join(below.split())
    return f" {sign} ({bounds}) " if bounds else f" {sign} "


def applied(function: str, argument: str) -> str:
    return (
        f"{function}{argument}" if argument.startswith(("(", "[", "{")) else f"{function.rstrip()} {argument}"
    )


def matrix(rows: Sequence[Sequence[str]]) -> str:
    return "; ".join(", ".join(cell.strip() for cell in row) for row in rows)


def accented(base: str, accent: str) -> str:
    """Return a single letter with an accent; longer bases stay as they are."""
    return f"{base}{accent}" if len(base.strip()) == 1 else base


def grouped(text: str) -> str:
    """Return a part of a formula in brackets unless it is one letter, number or bracketed."""
    text = text.strip()
    return text if _ATOM.fullmatch(text) or _is_bracketed(text) else f"({text})"


def _is_bracketed(text: str) -> bool:
    closer = _CLOSERS.get(text[:1])
    if closer is None or not text.endswith(closer) or len(text) < 2:
        return False
    if closer == text[0]:
        return closer not in text[1:-1]
    depth = 0
    for place, sign in enumerate(text):
        depth += (sign == text[0]) - (sign == closer)
        if depth == 0:
            return place == len(text) - 1
    return False
