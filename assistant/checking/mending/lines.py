"""Lines of a draft in a standard form: the sentence, then its label, without a title before it."""

import re
from itertools import islice

from assistant.records import Evidence
from corpus.text import words

LABELS = re.compile(r"(?<!\s)\s*+\[\d{1,3}\??\](?:[\s,;]{0,3}\[\d{1,3}\??\])*")
# Where a label goes: before the last full stop of a line.
END_OF_LINE = re.compile(r"(?<=[^\s.!?:;,])(?=[.!?:;,]?[*_)\"”’]{0,3}\s*\Z)")
_BULLET = re.compile(r"[ \t]*(?:(?:[-*+•]|\d{1,2}[.)])[ \t]+)?")
_PAPER = re.compile(r"\**\[?paper (\d{1,3})\]?\**[ \t]*[:.–—-][ \t]*", re.IGNORECASE)
_SEPARATOR = re.compile(r"[*_”\"’']{0,4}(?::[*_”\"’']{0,4}| [-–—]) ")
_YEAR = re.compile(r"\(?\b(?:19|20)\d\d\b\)?")
_LEAST_WORDS = 3  # words of a line after a title
MOST_SEPARATORS = 5  # separators that are tried: titles may contain colons


def plain_lines(text: str, evidence: Evidence) -> str:
    """Return a text without "Paper 3:" or a title at the beginning of lines.

    The paper's label moves to the end of the line, also if all lines begin with labels.
    """
    lines = text.splitlines()
    written = [line for line in lines if line.strip()]
    is_list = len(written) > 1
    is_labelled = is_list and all(LABELS.match(line) for line in written)
    return "\n".join(
        _plain(line, evidence, is_list=is_list, is_labelled=is_labelled) if line.strip() else line
        for line in lines
    )


def _plain(line: str, evidence: Evidence, *, is_list: bool, is_labelled: bool) -> str:
    bullet = _BULLET.match(line)
    lead = bullet[0] if bullet else ""
    body, labels = line[len(lead) :], ""
    if numbered := _PAPER.match(body):
        label = int(numbered[1])
        labels = f"[{label}]" if evidence.paper(label) else ""
        body = body[numbered.end() :]
    elif opening := LABELS.match(body):
        labels, body = opening[0].strip(), body[opening.end() :].lstrip(" :-–—")
    titled = _behind_title(body, evidence)
    if titled:
        body, labels = titled[1], labels or f"[{titled[0]}]"
    if not (numbered or titled or (is_labelled and labels)):
        return line
    lead = lead or ("- " if is_list else "")
    if LABELS.search(body) or not words(body):
        return f"{lead}{body}"
    end = END_OF_LINE.search(body)
    position = end.start() if end else len(body)
    return f"{lead}{body[:position]}{f' {labels}' if labels else ''}{body[position:]}"


def _behind_title(line: str, evidence: Evidence) -> tuple[int, str] | None:
    """Return the label of the paper whose title heads a line, and the rest of the line; None without one."""
    titles = {_without_year(paper.paper.title): paper.label for paper in evidence.papers}
    short = {_without_year(paper.paper.title.partition(":")[0]): paper for paper in evidence.papers}
    for separator in islice(_SEPARATOR.finditer(line), MOST_SEPARATORS):
        head, behind = LABELS.sub("", line[: separator.start()]), line[separator.end() :].strip()
        head_words = _without_year(head)
        label = titles.get(head_words)
        if label is None and (paper := short.get(head_words)):
            title = _without_year(paper.paper.title)
            goes_on = (*head_words, *_without_year(behind))[: len(title)] == title
            label = None if goes_on else paper.label
        if head_words and label is not None and len(words(LABELS.sub("", behind))) >= _LEAST_WORDS:
            return label, behind
    return None


def _without_year(title: str) -> tuple[str, ...]:
    return tuple(words(_YEAR.sub("", title)))
