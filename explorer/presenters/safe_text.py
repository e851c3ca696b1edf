"""Text of papers and models made safe for Markdown; it may reach st.markdown or a label only through here.

Everything is escaped; then only paragraphs, lists, bold, italics and links to the answer's own citations are
restored. What Streamlit replaces after parsing (addresses, e-mail, emoji and icon codes, arrows for "->") is
interrupted by an invisible joiner, as escaping has no effect on it.
"""

import re
import string
from collections.abc import Callable, Collection, Iterator, Sequence, Set
from itertools import count, pairwise

from corpus.language.stemming import stem
from corpus.text import one_line, seen, shortened

__all__ = [
    "answer_markdown",
    "escaped",
    "label_offsets",
    "marked_terms",
    "one_line",
    "shortened",
    "web_address",
]

JOINER = "\u2060"
UNCITED_MARK = "†"

_MARK = "\ue000"
# Each alternative begins with a single letter: twice as fast as ignoring case.
_DRAWN_AFTER_PARSING = re.compile(
    r":(?=\S)|@(?=[\w-]+\.[\w-])|w[wW]{2}(?=\.)|W[wW]{2}(?=\.)"
    r"|<(?<!\S<)(?=(?:-|->|=)(?!\S))|-(?<!\S-)(?=[->](?!\S))|>(?<!\S>)(?==(?!\S))|~(?<!\S~)(?==(?!\S))"
)
# The backslash first, as the escapes of the others contain it.
_PUNCTUATION = "\\" + string.punctuation.replace("\\", "")
_LABEL = re.compile(r"\[(?P<label>\d{1,3})\]")
_TOKEN = re.compile(
    rf"(?P<mark>{_MARK})"
    rf"|{_LABEL.pattern}"
    r"|\*\*(?P<strong>[^\s*](?:[^*\n]*[^\s*])?)\*\*"
    r"|(?<![\w*])\*(?P<emphasis>[^\s*](?:[^*\n]*[^\s*])?)\*(?![\w*])"
)
_BULLET = re.compile(r"\s*[-*•]\s+(?=\S)")
_NUMBERED = re.compile(r"\s*(\d{1,3})[.)]\s+(?=\S)")
_HEADING = re.compile(r"\s*#{1,6}\s+(?=\S)")


def escaped(text: str) -> str:
    """Return Markdown that shows `text` verbatim on one line; also for labels of widgets."""
    return _escaped(one_line(text))


def answer_markdown(
    text: str,
    message: int,
    known: Set[int],
    uncited_ends: Collection[int] = (),
    *,
    scores: Sequence[str] = (),
    linked: bool = True,
) -> str:
    """Return an answer as Markdown whose only links are the labels of `known` papers.

    The k-th known label of the text links to `#cite-<message>-<k>`; its link text is the label and the k-th
    of the `scores`, if there are any, in whose place the style sheet draws a bar. `uncited_ends` are offsets
    into the text after which the mark of an uncited sentence is inserted.
    """
    numbers = count(1)

    def link(label: int) -> str:
        if label not in known or not linked:
            return _escaped(f"[{label}]")
        number = next(numbers)
        score = f"*{_escaped(scores[number - 1])}*" if scores else ""
        return f"[\\[{label}\\]{score}](#cite-{message}-{number})"

    lines = _with_marks(text, uncited_ends).split("\n")
    return "\n".join(_blocks(lines, link))


def label_offsets(text: str, known: Set[int]) -> tuple[tuple[int, int], ...]:
    """Return (label, offset) of every known label in the order `answer_markdown` numbers them."""
    labels = ((int(match["label"]), match.start()) for match in _LABEL.finditer(text))
    return tuple((label, offset) for label, offset in labels if label in known)


def marked_terms(text: str, terms: Set[str]) -> str:
    """Return `text` on one line as Markdown, with the words whose stem is in `terms` in bold."""
    pieces = re.split(r"(\w+)", _joined(one_line(text)))
    return "".join(
        f"**{piece}**" if stem(piece.lower()) in terms else _with_backslashes(piece) for piece in pieces
    )


def web_address(url: str) -> str | None:
    """Return `url` if it is a plain http(s) address that may become a link, else None."""
    url = url.strip()
    return url if re.fullmatch(r"https?://[\w.-]+(?::\d+)?(?:[/?#][^\s<>\"'`\\^{}|]*)?", url) else None


def _escaped(text: str) -> str:
    return _with_backslashes(_joined(text))


def _with_backslashes(text: str) -> str:
    """Return the text with a backslash before each punctuation mark; eight times as fast as a pattern."""
    for sign in _PUNCTUATION:
        if sign in text:
            text = text.replace(sign, f"\\{sign}")
    return text


def _joined(text: str) -> str:
    """Return the text without invisible characters, and with a joiner inside addresses and codes."""
    return _DRAWN_AFTER_PARSING.sub(lambda match: match[0] + JOINER, seen(text).replace("\t", " "))


def _with_marks(text: str, ends: Collection[int]) -> str:
    """Return the text with the mark inserted at `ends`; a mark that was in the text becomes a space."""
    cuts = [0, *sorted(ends), len(text)]
    pieces = [text[start:end].replace(_MARK, " ") for start, end in pairwise(cuts)]
    return _MARK.join(pieces)


def _blocks(lines: list[str], link: Callable[[int], str]) -> Iterator[str]:
    """Yield Markdown lines, with a blank line where the kind of block changes."""
    previous = ""
    for line in lines:
        kind, start, content = _kind(line)
        if kind != previous or kind == "heading":
            yield ""
        previous = kind
        if kind:
            drawn = _inline(content, link).strip()
            bold = kind == "heading" and "*" not in content and drawn
            yield start + (f"**{drawn}**" if bold else drawn)


def _kind(line: str) -> tuple[str, str, str]:
    """Return the kind of a line ("" if blank), its Markdown prefix, and its content."""
    if not seen(line.replace(_MARK, " ")).strip():
        return "", "", ""
    if found := _BULLET.match(line):
        return "bullet", "- ", line[found.end() :]
    if found := _NUMBERED.match(line):
        return "numbered", f"{int(found[1])}. ", line[found.end() :]
    if found := _HEADING.match(line):
        return "heading", "", line[found.end() :]
    return "text", "", line


def _inline(text: str, link: Callable[[int], str]) -> str:
    parts, position = [], 0
    for match in _TOKEN.finditer(text):
        parts.append(_escaped(text[position : match.start()]))
        parts.append(_token(match, link))
        position = match.end()
    parts.append(_escaped(text[position:]))
    return "".join(parts)


def _token(match: re.Match[str], link: Callable[[int], str]) -> str:
    if match["mark"]:
        return f":gray[{UNCITED_MARK}]"
    if match["label"]:
        return link(int(match["label"]))
    if match["strong"]:
        return f"**{_inline(match['strong'], link)}**"
    return f"*{_inline(match['emphasis'], link)}*"
