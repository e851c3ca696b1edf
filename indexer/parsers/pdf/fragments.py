"""The words of a page as fragments of lines, without running heads, feet and page numbers."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from corpus.pdf.pages import PdfPage
from corpus.pdf.words import Word

_BANNER = re.compile(
    r"proceedings of|©|copyright|\(c\) ?\d{4}|all rights reserved|association for computational linguistics"
    r"|\bissn\b|\bisbn\b|creative commons|licensed under|work is licensed|arxiv:\d|preprint|downloaded from"
    r"|permission to make digital|https?://|\bdoi\b|page \d|\bvol\.|under review|accepted (?:at|for|to)",
    re.IGNORECASE,
)
_PAGE_NUMBER = re.compile(
    r"\W*(?:page\s*)?(?:\d{1,5}|[ivxlc]{1,6}|[A-Z]-?\d{1,3})(?:\s*(?:of|/)\s*\d{1,4})?\W*", re.IGNORECASE
)
LABEL = re.compile(r"\[?\(?(?:\d{1,3}|[a-z])[.)\]]{1,2}|[•‣◦▪●■–—-]|\d{1,2}(?:\.\d{1,2}){1,3}\.?")
_MARGIN = 0.1
LEAST_GUTTER = 7.0


@dataclass(slots=True)
class Fragment:
    """Consecutive words of the file on one line without a wide gap.

    `parts` are the indices of words after a gap that may separate two columns.
    """

    words: list[Word]
    left: float
    right: float
    top: float
    bottom: float
    baseline: float
    parts: list[int]


def fragments_of(words: Iterable[Word]) -> list[Fragment]:
    shown = [word for word in words if word.upright and word.size > 0]
    if not shown:
        return []
    ends = (np.flatnonzero(~_follow(shown)) + 1).tolist()
    return [fragment_of(shown[start:end]) for start, end in pairwise((0, *ends, len(shown)))]


def _follow(words: Sequence[Word]) -> NDArray[np.bool_]:
    """Flag the words, from the second on, that continue the line of the previous without a wide gap."""
    columns = list(zip(*words, strict=True))[1:7]
    left, top, right, bottom, _, sizes = (np.array(column) for column in columns)
    size, height, gap = np.maximum(sizes[:-1], sizes[1:]), bottom - top, left[1:] - right[:-1]
    overlap = np.minimum(bottom[:-1], bottom[1:]) - np.maximum(top[:-1], top[1:])
    on_line = overlap > 0.4 * np.minimum(height[:-1], height[1:])
    near: NDArray[np.bool_] = on_line & (-0.5 * size < gap) & (gap < 3.5 * size)
    for index in np.flatnonzero(near & (gap >= 1.5 * size)).tolist():
        near[index] = LABEL.fullmatch(words[index].text) is not None
    return near


def fragment_of(words: list[Word]) -> Fragment:
    texts, lefts, tops, rights, bottoms, baselines, sizes, *_ = zip(*words, strict=True)
    # The baseline of the largest word, of several the longest, of these the first.
    *_, place = max(zip(sizes, map(len, texts), range(0, -len(words), -1), strict=True))
    gaps = enumerate(zip(rights, lefts[1:], strict=False), 1)
    parts = [place for place, (end, start) in gaps if start - end >= LEAST_GUTTER]
    return Fragment(words, min(lefts), max(rights), min(tops), max(bottoms), baselines[-place], parts)


def has_figure(text: str) -> bool:
    return not text.isalpha() and any(map(str.isdigit, text))


def _text(fragment: Fragment) -> str:
    return " ".join(word.text for word in fragment.words)


def without_artifacts(pages: list[list[Fragment]], sizes: Sequence[PdfPage]) -> list[list[Fragment]]:
    """Drop page numbers, banners, and outermost lines that several pages repeat."""
    keys = [
        {id(f): _edge_key(f, page) for f in _edge_rows(fragments)}
        for fragments, page in zip(pages, sizes, strict=True)
    ]
    repeats = Counter(key for of_page in keys for key in set(of_page.values()) if key[0])
    least = 2 if len(pages) < 6 else 3
    return [
        [
            fragment
            for fragment in fragments
            if id(fragment) not in of_page
            or not (repeats[of_page[id(fragment)]] >= least or _is_artifact(fragment, page))
        ]
        for fragments, page, of_page in zip(pages, sizes, keys, strict=True)
    ]


def _edge_key(fragment: Fragment, page: PdfPage) -> tuple[str, int]:
    """Return the text and height by which running heads recur; "" for numbers of tables."""
    text, height = _text(fragment).lower(), round(fragment.baseline / 12)
    if any(map(str.isalpha, text)):
        # Facing pages have the number before or after the running title.
        return re.sub(r"\d+", "#", re.sub(r"^\d+ | \d+$", "", text)), height
    # Numbers of tables may be at the same height, but only page numbers grow with the pages.
    number = re.fullmatch(r"\W*(\d{1,5})\W*", text)
    return f"# {int(number[1]) - page.number}" if number else "", height


def _edge_rows(fragments: list[Fragment]) -> list[Fragment]:
    """Return the fragments on the three outermost rows at the top and at the bottom."""
    edge: list[Fragment] = []
    for backwards in (False, True):
        rows: list[float] = []
        for fragment in sorted(fragments, key=lambda f: f.baseline, reverse=backwards):
            if not rows or abs(fragment.baseline - rows[-1]) > 4:
                rows.append(fragment.baseline)
            if len(rows) > 3:
                break
            edge.append(fragment)
    return edge


def _is_artifact(fragment: Fragment, page: PdfPage) -> bool:
    text = _text(fragment)
    top, bottom = _MARGIN * page.height, (1 - _MARGIN) * page.height
    if fragment.bottom >= top and fragment.top <= bottom:
        return False
    if _PAGE_NUMBER.fullmatch(text):
        return True
    return _BANNER.search(text) is not None and (page.number == 1 or fragment.bottom < top)
