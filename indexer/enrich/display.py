"""Sentences as they are shown by themselves: without what ties them to their place in a paper."""

import re
from collections.abc import Iterable

_CITED = re.compile(
    r"\s*\([^()]*(?:\b(?:19|20)\d\d[a-z]?\b|\bet al\b)[^()]*\)"
    r"|\s*\[\s*\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*\s*\]"
    r"|\s*\(\s*(?:see\s+)?(?:Section|Sect?\.|Figure|Fig\.|Table|Appendix|§)[^()]*\)"
)
_SPACES = re.compile(r"\s+")


class Trimmer:
    """Takes openings such as "However," and citations in brackets off sentences, and changes nothing else."""

    def __init__(self, openings: Iterable[str], before_we: Iterable[str]) -> None:
        self._opening = re.compile(
            rf"(?:{_any_of(openings)})\s*,\s*|(?:{_any_of(before_we)})\s+(?=we\b)", re.IGNORECASE
        )

    def trim(self, sentence: str) -> str:
        text = _CITED.sub("", _SPACES.sub(" ", sentence)).strip()
        while (found := self._opening.match(text)) and found.end() < len(text):
            text = text[found.end() :]
        # A name such as "word2vec" or "eBay" keeps its case.
        first = text.split(" ", 1)[0]
        return text[:1].upper() + text[1:] if first.isalpha() and first.islower() else text


def _any_of(phrases: Iterable[str]) -> str:
    return "|".join(re.escape(phrase).replace(r"\ ", r"\s+") for phrase in sorted(phrases, key=len)[::-1])
