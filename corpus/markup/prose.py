"""Titles, abstracts and notes with HTML, JATS or MathML in them as plain text.

An HTML parser would take "a<b and c>d" for a tag. Here a tag must have a known name, attributes with values
and, except for breaks, a closing partner; everything else is text.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from html import unescape
from typing import NamedTuple

from corpus.markup.formulas import FORMULA_ELEMENTS, VOID_FORMULA_ELEMENTS, linear_formula
from corpus.markup.raised import lower_text, plain_figures, raise_text
from corpus.text import storable

_TAG = re.compile(
    r"<(/?)((?:jats|mml|m|ce|html|xhtml):)?([a-z][a-z0-9-]*)((?:\s[^<>]*)?)(/?)>", re.IGNORECASE
)
_ATTRIBUTES = re.compile(r"(?:\s+[\w:.-]+\s*=\s*(?:\"[^\"]*\"|'[^']*'|[^\s\"'=]+))*\s*/?")
# Entities end with a semicolon: "Q&A" and "x&lt1" contain none; "&lt 5" is a common error.
_ENTITY = re.compile(
    r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});|&(?:amp|lt|gt|nbsp|quot)(?=\s)"
)
# Some exports escape text twice, a few three times.
_MOST_ESCAPES = 3
# Elements that are nested deeper are ignored.
_DEEPEST = 40

_PHRASES = frozenset(
    "a abbr acronym alternatives b bdi bdo big bold center cite code del dfn em email ext-link font i "
    "inline-formula ins italic kbd mark monospace named-content nocase overline roman samp sans-serif sc "
    "scp small span strike strong styled-content tex-math tt u underline uri var xref".split()
)
_BLOCKS = frozenset(
    "abstract article blockquote body br caption dd def-item def-list disp-formula disp-quote div dl dt "
    "figcaption figure footer h1 h2 h3 h4 h5 h6 header hr html label li list list-item ol p pre sec section "
    "table tbody thead title tr trans-abstract ul".split()
)
_CELLS = frozenset(("td", "th"))
# Elements that are often not closed.
_LOOSE = frozenset("br dd dt hr li p td th tr".split())
_VOID = frozenset(("br", "hr", "img", "input", "wbr", "graphic", "inline-graphic"))
_UNSEEN = frozenset(("annotation", "annotation-xml", "head", "script", "style"))
_FRAMES: dict[str, Callable[[str], str]] = {
    "sup": raise_text,
    "superscript": raise_text,
    "sub": lower_text,
    "inf": lower_text,
    "subscript": lower_text,
    "q": lambda text: f"“{text}”",
    # Dropped only if there is the same formula in MathML.
    "tex-math": lambda _: "",
    **dict.fromkeys(_UNSEEN, lambda _: ""),
}
_KNOWN = _PHRASES | _BLOCKS | _CELLS | _VOID | _FRAMES.keys() | FORMULA_ELEMENTS


class _Tag(NamedTuple):
    start: int
    end: int
    name: str
    is_closing: bool
    is_empty: bool


@dataclass(slots=True)
class _Frame:
    """An open element whose text is converted when it closes; `parts` are the texts of its children."""

    name: str
    parts: list[str] = field(default_factory=list)

    def close(self) -> str:
        if self.name in FORMULA_ELEMENTS:
            return linear_formula(self.name, self.parts)
        text = "".join(self.parts)
        return _FRAMES[self.name](text) if self.name else text


def plain_markup(text: str) -> str:
    r"""Return the text of a title, abstract or note without markup and escapes, a line for each block.

    "10<sup>6</sup>" and "$10^6$" become 10⁶. Text that is not markup stays: "p<0.05 for n>30".
    """
    for _ in range(_MOST_ESCAPES):
        before = text
        # Some publishers write \documentclass and packages before each formula.
        head, *rest = text.replace(r"\end{document}", "").split(r"\documentclass")
        preambles = (part.partition(r"\begin{document}") for part in rest)
        text = head + "".join(
            body if begin else rf"\documentclass{start}" for start, begin, body in preambles
        )
        if "<" in text or "&" in text:
            head, *rest = text.replace("<![CDATA[", "").replace("]]>", "").split("<!--")
            comments = (part.partition("-->") for part in rest)
            text = head + "".join(after if end else f"<!--{comment}" for comment, end, after in comments)
            text = _without_markup(text)
        if text == before:
            break
    lines = (" ".join(line.split()) for line in storable(plain_figures(text)).split("\n"))
    return "\n".join(filter(None, lines))


def _without_markup(text: str) -> str:
    tags = tuple(_tags(text))
    framed = _FRAMES.keys() | FORMULA_ELEMENTS
    if not {"alternatives", "math"} <= {tag.name for tag in tags}:
        framed -= {"tex-math"}
    frames, position = [_Frame("")], 0
    opened: Counter[str] = Counter()
    for tag in tags:
        frames[-1].parts.append(_unescaped(text[position : tag.start]))
        position = tag.end
        if tag.name in _BLOCKS:
            frames[-1].parts.append("\n")
        elif tag.name in _CELLS or tag.name == "mspace":
            frames[-1].parts.append(" ")
        elif tag.name not in framed or tag.is_empty:
            continue
        elif tag.is_closing:
            while opened[tag.name]:
                name = _close_last(frames)
                opened[name] -= 1
                if name == tag.name:
                    break
        elif len(frames) < _DEEPEST:
            frames.append(_Frame(tag.name))
            opened[tag.name] += 1
    frames[-1].parts.append(_unescaped(text[position:]))
    while len(frames) > 1:
        _close_last(frames)
    return frames[0].close()


def _close_last(frames: list[_Frame]) -> str:
    last = frames.pop()
    frames[-1].parts.append(last.close())
    return last.name


def _tags(text: str) -> Iterator[_Tag]:
    """Yield the tags of a text, without text that only looks like a tag."""
    candidates = []
    for match in _TAG.finditer(text):
        name = match[3].lower()
        if (match[2] or name in _KNOWN) and _ATTRIBUTES.fullmatch(match[4]):
            is_void = name in _VOID or name in VOID_FORMULA_ELEMENTS
            is_empty = bool(match[5]) or match[4].endswith("/") or is_void
            candidates.append(_Tag(match.start(), match.end(), name, bool(match[1]), is_empty))
    paired = _paired(candidates)
    for number, tag in enumerate(candidates):
        if tag.is_empty or number in paired or _stands_alone(tag, text):
            yield tag


def _paired(tags: Sequence[_Tag]) -> set[int]:
    opened: dict[str, list[int]] = {}
    paired = set()
    for number, tag in enumerate(tags):
        if tag.is_empty:
            continue
        if not tag.is_closing:
            opened.setdefault(tag.name, []).append(number)
        elif opened.get(tag.name):
            paired |= {number, opened[tag.name].pop()}
    return paired


def _stands_alone(tag: _Tag, text: str) -> bool:
    """Return True if a tag without a partner is markup, not mathematics ("a<b>c") or a word ("the <b> tag").

    An unclosed superscript keeps its tag, as its number would read differently without it.
    """
    before, behind = text[max(0, tag.start - 1) : tag.start], text[tag.end : tag.end + 1]
    if tag.name == "p" and not tag.is_closing:
        following = text[tag.end : tag.end + 80].lstrip()[:1]
        is_prose = following.islower() or following.isdigit()
        return not (is_prose and text[max(0, tag.start - 80) : tag.start].rstrip()[-1:].isalnum())
    if tag.name in _LOOSE:
        return True
    if tag.name not in _PHRASES:
        return False
    if tag.is_closing:
        return bool(before) and not before.isspace()
    return bool(behind) and not behind.isspace() and not before.isalnum()


def _unescaped(text: str) -> str:
    return (
        _ENTITY.sub(lambda entity: unescape(entity[0].removesuffix(";") + ";"), text) if "&" in text else text
    )
