"""MathML as text on one line: superscripts as 10⁶, fractions with a slash."""

import unicodedata
from collections.abc import Callable, Sequence

from corpus.markup.raised import lower_text, raise_text

VOID_FORMULA_ELEMENTS = frozenset(("mspace", "mprescripts", "none"))
_ACCENTS = {
    "^": "\u0302", "ˆ": "\u0302", "~": "\u0303", "˜": "\u0303", "∼": "\u0303", "¯": "\u0304", "‾": "\u0304",
    "ˉ": "\u0304", "―": "\u0304", "_": "\u0304", "˙": "\u0307", ".": "\u0307", "¨": "\u0308", "→": "\u20d7",
}  # fmt: skip


def linear_formula(element: str, children: Sequence[str]) -> str:
    """Return a MathML element as text on one line; `children` are the texts of its children."""
    parts = [child if child.isspace() and element == "mtext" else child.strip() for child in children]
    parts = [part for part in parts if part]
    build, count = _BUILT.get(element, (_row, -1))
    return build(*parts) if len(parts) == count else _row(*parts)


def _row(*parts: str) -> str:
    """Join the parts of a formula, with a space after words: "log n"."""
    row = ""
    for part in parts:
        is_word = any(len(letters) > 1 and letters.isalpha() for letters in (row[-2:], part[:2]))
        row += f" {part}" if is_word and row[-1:].isalpha() and part[0].isalnum() else part
    return row


def _over(base: str, mark: str) -> str:
    if accent := _ACCENTS.get(mark):
        return unicodedata.normalize("NFC", base + accent) if len(base) == 1 else f"{base}{mark}"
    return base + raise_text(mark)


def _bracketed(text: str) -> str:
    return text if len(text) == 1 or text.isdigit() else f"({text})"


_BUILT: dict[str, tuple[Callable[..., str], int]] = {
    "mfrac": (lambda above, below: f"{_bracketed(above)}/{_bracketed(below)}", 2),
    "mover": (_over, 2),
    "mroot": (lambda base, index: f"{raise_text(index)}√{_bracketed(base)}", 2),
    "msqrt": (lambda base: f"√{_bracketed(base)}", 1),
    "msub": (lambda base, low: base + lower_text(low), 2),
    "msubsup": (lambda base, low, high: base + lower_text(low) + raise_text(high), 3),
    "msup": (lambda base, high: base + raise_text(high), 2),
    "munder": (lambda base, low: base + lower_text(low), 2),
    "munderover": (lambda base, low, high: base + lower_text(low) + raise_text(high), 3),
}
FORMULA_ELEMENTS = (
    frozenset(
        "math menclose merror mfenced mi mmultiscripts mn mo mpadded mphantom mrow ms mstyle mtable mtd "
        "mtext mtr semantics".split()
    )
    | _BUILT.keys()
    | VOID_FORMULA_ELEMENTS
)
