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


def formula_text(element: Any, run_text: Callable[[Any], str]) -> str:
    """Return a formula, or a part of one, on one line; `run_text` reads its runs."""

    def text(part: Any) -> str:
        return "" if part is None else "".join(written(child) for child in part)

    def of(parent: Any, name: str) -> str:
        return text(parent.find(f"{M}{name}"))

    def written(part: Any) -> str:
        name = str(part.tag).removeprefix(M)
        if part.tag == f"{M}r":
            return run_text(part)
        if part.tag in _LEFT_OUT or name.endswith("Pr"):
            return ""
        construct = _CONSTRUCTS.get(name)
        return construct(part, of, text) if construct else text(part)

    return written(element) if element.tag not in FORMULAS else text(element)


_Of = Callable[[Any, str], str]
_Text = Callable[[Any], str]


def _fraction(part: Any, of: _Of, _: _Text) -> str:
    if _value(part, "fPr/type") == "noBar":
        return f"{of(part, 'num')} choose {of(part, 'den')}"
    return fraction(of(part, "num"), of(part, "den"))


def _scripts(part: Any, of: _Of, _: _Text) -> str:
    return with_scripts(of(part, "e"), of(part, "sub"), of(part, "sup"))


def _scripts_before(part: Any, of: _Of, _: _Text) -> str:
    return f"{with_scripts('', of(part, 'sub'), of(part, 'sup'))}{of(part, 'e')}"


def _root(part: Any, of: _Of, _: _Text) -> str:
    return root(of(part, "e"), of(part, "deg"))


def _large_operator(part: Any, of: _Of, _: _Text) -> str:
    sign = _value(part, "naryPr/chr", _DEFAULT_OPERATOR)
    return f"{with_bounds(sign, of(part, 'sub'), of(part, 'sup'))}{of(part, 'e').strip()}"


def _delimited(part: Any, _: _Of, text: _Text) -> str:
    opener, closer = _value(part, "dPr/begChr", "("), _value(part, "dPr/endChr", ")")
    separator = _value(part, "dPr/sepChr", "|")
    return f"{opener}{separator.join(text(inner) for inner in part.iterfind(f'{M}e'))}{closer}"


def _function(part: Any, of: _Of, _: _Text) -> str:
    return applied(of(part, "fName"), of(part, "e"))


def _limit_below(part: Any, of: _Of, _: _Text) -> str:
    return with_bounds(of(part, "e"), of(part, "lim"))


def _limit_above(part: Any, of: _Of, _: _Text) -> str:
    return with_scripts(of(part, "e"), "", of(part, "lim"))


def _accent(part: Any, of: _Of, _: _Text) -> str:
    sign = _value(part, "accPr/chr", _DEFAULT_ACCENT)
    return accented(of(part, "e"), _ACCENTS.get(sign, sign))


def _bar(part: Any, of: _Of, _: _Text) -> str:
    return accented(of(part, "e"), _OVERLINE if _value(part, "barPr/pos", "top") == "top" else _UNDERLINE)


def _phantom(part: Any, of: _Of, _: _Text) -> str:
    return "" if _value(part, "phantPr/show", "1") in ("0", "off", "false") else of(part, "e")


def _matrix(part: Any, _: _Of, text: _Text) -> str:
    rows = [[text(cell) for cell in row.iterfind(f"{M}e")] for row in part.iterfind(f"{M}mr")]
    inside = str(getattr(part.getparent(), "tag", "")) == f"{M}e"
    is_delimited = inside and str(part.getparent().getparent().tag) == f"{M}d"
    return matrix(rows) if is_delimited else f"[{matrix(rows)}]"


def _equations(part: Any, _: _Of, text: _Text) -> str:
    return "; ".join(text(row).replace("&", "") for row in part.iterfind(f"{M}e"))


_CONSTRUCTS: dict[str, Callable[[Any, _Of, _Text], str]] = {
    "f": _fraction,
    "sSup": _scripts,
    "sSub": _scripts,
    "sSubSup": _scripts,
    "sPre": _scripts_before,
    "rad": _root,
    "nary": _large_operator,
    "d": _delimited,
    "func": _function,
    "limLow": _limit_below,
    "limUpp": _limit_above,
    "acc": _accent,
    "bar": _bar,
    "phant": _phantom,
    "m": _matrix,
    "eqArr": _equations,
}


def _value(part: Any, path: str, default: str = "") -> str:
    """Return the value of a property, which may be empty, or `default` where it is not there."""
    found = part.find("/".join(f"{M}{name}" for name in path.split("/")))
    return default if found is None else str(found.get(f"{M}val", default if path.endswith("pos") else ""))
