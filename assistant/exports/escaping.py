"""Foreign text made harmless in exported HTML, Markdown, LaTeX and spreadsheets."""

import re
from html import escape

from markupsafe import Markup

from corpus.text import storable

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|!~$&])")
_LINE_START = re.compile(r"^(\d*)([-+=]|(?<=\d)[.)])")
# Invisible characters, and those that reorder the text around them.
_INVISIBLE = re.compile("[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
_PLAIN_ADDRESS = re.compile(r"https?://[^\s<>\"'`\\^{}|/][^\s<>\"'`\\^{}|]*", re.IGNORECASE)
_TEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "`": r"\textasciigrave{}",
    # After the end of a table row "[" would begin its argument; in a command's argument "]" would end it.
    "[": "{[}",
    "]": "{]}",
}
_TEX_SPECIAL = re.compile("[" + re.escape("".join(_TEX)) + "]")
_DASHES = re.compile("-(?=-)")
# The start of a formula in a spreadsheet, in full and half width.
_FORMULA = re.compile(r"\s*[=+\-@＝＋－＠]")
_ADDRESS = re.compile(r"(?<=\w)(?=://|@[\w-]+\.\w)|(?<=\bwww)(?=\.)", re.IGNORECASE)


def markup(ready: str) -> Markup:
    """Mark text as safe for a template; it must be escaped, checked, or ours."""
    return Markup(ready)  # noqa: S704 - the one place


def escaped(text: str) -> str:
    """Return foreign text on one line with Markdown's special characters escaped."""
    line = on_one_line(text)
    plain = _LINE_START.sub(r"\1\\\2", _SPECIAL.sub(r"\\\1", line))
    return _ADDRESS.sub(r"\\", plain)


def quoted(text: str) -> Markup:
    """Return foreign text as a block quotation of Markdown."""
    lines = (f"> {escaped(line)}" for line in storable(text).splitlines() if line.strip())
    return markup("\n".join(lines))


def fenced(text: str) -> Markup:
    """Return foreign text as a code block of Markdown whose fence is longer than any in it."""
    text = storable(text)
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return markup(f"{fence}text\n{text}\n{fence}")


def on_one_line(text: str) -> str:
    """Return foreign text on one line, without characters that cannot be stored."""
    return " ".join(storable(text).split())


def visible(text: str) -> str:
    """Return foreign text with invisible characters spelled out."""
    return storable(_INVISIBLE.sub(lambda mark: f"\\u{ord(mark[0]):04x}", text))


def in_html(text: str) -> str:
    """Return foreign text as HTML, with invisible characters spelled out."""
    return escape(visible(text))


def is_web_address(address: str) -> bool:
    """Return True if an address is a plain http or https URL, which may be linked."""
    return _PLAIN_ADDRESS.fullmatch(address) is not None


def in_latex(text: str) -> str:
    """Return foreign text on one line as LaTeX that typesets it and does nothing else.

    Unicode is kept: lualatex and xelatex support it, pdflatex as far as its fonts do.
    """
    line = _TEX_SPECIAL.sub(lambda special: _TEX[special[0]], " ".join(visible(text).split()))
    # TeX makes one longer dash of two.
    return _DASHES.sub("-{}", line)


def in_latex_comment(text: str) -> Markup:
    """Return foreign text as a LaTeX comment of one line."""
    return markup(f"% {' '.join(visible(text).split())}".rstrip())


def in_spreadsheet(text: str) -> str:
    """Return foreign text on one line for a spreadsheet's cell, never as a formula."""
    line = on_one_line(text)
    return f"'{line}" if _FORMULA.match(line) else line
