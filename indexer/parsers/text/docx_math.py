"""Formulas of Word (OMML) on one line."""

from collections.abc import Callable
from typing import Any

from indexer.parsers.text.docx_hidden import M, W
from indexer.parsers.text.formulas import (
    accented,
    applied,
    fraction,
    matrix,
    root,
    with_bounds,
    with_scripts,
)

FORMULAS = frozenset((f"{M}oMath", f"{M}oMathPara"))

_LEFT_OUT = frozenset((f"{W}del", f"{W}moveFrom", f"{W}rPr"))
_DEFAULT_ACCENT, _OVERLINE, _UNDERLINE = "\u0302", "\u0305", "\u0332"
_DEFAULT_OPERATOR = "∫"
_ACCENTS = {
    "^": "\u0302",
    "~": "\u0303",
    "¯": "\u0304",
    "‾": "\u0305",
    "ˆ": "\u0302",
    "˜": "\u0303",
    "→": "\u20d7",
}


_OF_PARTS: dict[str, Callable[[Callable[[str], str]], str]] = {
    **dict.fromkeys(("sSup", "sSub", "sSubSup"), lambda of: with_scripts(of("e"), of("sub"), of("sup"))),
    "sPre": lambda of: f"{with_scripts('', of('sub'), of('sup'))}{of('e')}",
    "rad": lambda of: root(of("e"), of("deg")),
    "func": lambda of: applied(of("fName"), of("e")),
    "limLow": lambda of: with_bounds(of("e"), of("lim")),
    "limUpp": lambda of: with_scripts(of("e"), "", of("lim")),
}
"""Constructs whose text depends on their named parts alone."""


def formula_text(element: Any, run_text: Callable[[Any], str]) -> str:
    """Return a formula, or a part of one, on one line; `run_text` reads its runs."""

    def text(part: Any) -> str:
        return "" if part is None else "".join(written(child) for child in part)

    def written(part: Any) -> str:
        name = str(part.tag).removeprefix(M)
        if part.tag == f"{M}r":
            return run_text(part)
        if part.tag in _LEFT_OUT or name.endswith("Pr"):
            return ""
        return _construct(name, part, text)

    return written(element) if element.tag not in FORMULAS else text(element)


def _construct(name: str, part: Any, text: Callable[[Any], str]) -> str:
    """Return the text of one construct; that of its parts is returned by `text`."""

    def of(child: str) -> str:
        return text(part.find(f"{M}{child}"))

    match name:
        case "f" if _value(part, "fPr/type") == "noBar":
            line = f"{of('num')} choose {of('den')}"
        case "f":
            line = fraction(of("num"), of("den"))
        case "nary":
            sign = _value(part, "naryPr/chr", _DEFAULT_OPERATOR)
            line = f"{with_bounds(sign, of('sub'), of('sup'))}{of('e').strip()}"
        case "d":
            opener, closer = _value(part, "dPr/begChr", "("), _value(part, "dPr/endChr", ")")
            separator = _value(part, "dPr/sepChr", "|")
            line = f"{opener}{separator.join(map(text, part.iterfind(f'{M}e')))}{closer}"
        case "acc":
            sign = _value(part, "accPr/chr", _DEFAULT_ACCENT)
            line = accented(of("e"), _ACCENTS.get(sign, sign))
        case "bar":
            line = accented(of("e"), _OVERLINE if _value(part, "barPr/pos", "top") == "top" else _UNDERLINE)
        case "phant":
            line = "" if _value(part, "phantPr/show", "1") in ("0", "off", "false") else of("e")
        case "m":
            rows = [[text(cell) for cell in row.iterfind(f"{M}e")] for row in part.iterfind(f"{M}mr")]
            inside = str(getattr(part.getparent(), "tag", "")) == f"{M}e"
            is_delimited = inside and str(part.getparent().getparent().tag) == f"{M}d"
            line = matrix(rows) if is_delimited else f"[{matrix(rows)}]"
        case "eqArr":
            line = "; ".join(text(row).replace("&", "") for row in part.iterfind(f"{M}e"))
        case _:
            line = _OF_PARTS[name](of) if name in _OF_PARTS else text(part)
    return line


def _value(part: Any, path: str, default: str = "") -> str:
    """Return the value of a property, which may be empty, or `default` where it is not there."""
    element = part.find("/".join(f"{M}{name}" for name in path.split("/")))
    return (
        default if element is None else str(element.get(f"{M}val", default if path.endswith("pos") else ""))
    )
