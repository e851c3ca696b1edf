"""HTML made of elements, so that foreign text cannot become markup: what is not an element is escaped."""

import re
from html import escape

from corpus.text import storable

# Marks that reorder the text round them, and that no reader can see.
_INVISIBLE = re.compile("[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
_ALONE = frozenset({"meta"})
_PLAIN_ADDRESS = re.compile(r"https?://[^\s<>\"'`\\^{}|/][^\s<>\"'`\\^{}|]*", re.IGNORECASE)


class Element(str):
    """Markup of ours; every other string is text."""

    __slots__ = ()


def text(foreign: str) -> Element:
    """Return foreign text as HTML, marks that cannot be seen made visible."""
    shown = _INVISIBLE.sub(lambda mark: f"\\u{ord(mark[0]):04x}", storable(foreign))
    return Element(escape(shown))


def element(tag: str, /, *children: str, **attributes: str) -> Element:
    """Return an element; `class_` and `http_equiv` name the attributes "class" and "http-equiv"."""
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{text(value)}"' for key, value in attributes.items() if value
    )
    if tag in _ALONE:
        return Element(f"<{tag}{given}>")
    return Element(f"<{tag}{given}>{joined(*children)}</{tag}>")


def joined(*children: str) -> Element:
    """Return elements and texts as they follow each other."""
    return Element("".join(child if isinstance(child, Element) else text(child) for child in children))


def link(address: str, label: str) -> Element:
    """Return a link to a page of the web; of what is no plain address of one, the label alone."""
    if not _PLAIN_ADDRESS.fullmatch(address):
        return text(label)
    return element("a", label, href=address, rel="noreferrer noopener", target="_blank")
