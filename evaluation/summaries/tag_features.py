"""What the classifier of sentences looks at, neutral to the style of citing."""

import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack

from evaluation.summaries.citation_style import CITE, CitingSentence, neutral

Matrix = NDArray[np.float64]
# Paragraphs, each with its sentences.
Paragraphs = Sequence[Sequence[str]]

BUCKETS = 8192
# How much words count together beside single features, and a sentence's meaning.
WORDS_WEIGHT, MEANING_WEIGHT = 8.0, 4.0
OPENING = 8
_WORD = re.compile(r"\w+(?:[-'’]\w+)*|[(),:;%?]")
_FIRST_PERSON = frozenset("we our us ours".split())
_HERE = frozenset("paper work study article".split())
# What a summary for readers calls the work that a paper would call its own.
_PROPOSED = re.compile(
    r"\b(?:the (?:work )?(?:proposed|described|planned)(?: (?:work|approach|method|system|study|here))*"
    r"|your (?:description|work|proposal|approach)|the description)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class PlacedSentence:
    """A sentence with its tokens, its place in its paragraph, and its paragraph's in the text.

    `works` is how many works it cites that the sentence before does not, `works_before` what that cites so;
    None of a paragraph's first.
    """

    citing: CitingSentence
    tokens: tuple[str, ...]
    place: int
    length: int
    paragraph: int
    paragraphs: int
    works_before: int | None

    @property
    def works(self) -> int:
        return len(self.citing.fresh)

    @property
    def cites(self) -> tuple[int, ...]:
        """Where among the tokens the citations stand."""
        return tuple(index for index, token in enumerate(self.tokens) if token == CITE)


def place_sentences(paragraphs: Paragraphs) -> tuple[PlacedSentence, ...]:
    """Return all sentences of a text, one after the other."""
    placed: list[PlacedSentence] = []
    for number, paragraph in enumerate(paragraphs):
        for place, sentence in enumerate(paragraph):
            last = placed[-1] if place else None
            before = last.citing.cited if last else frozenset[str]()
            citing = neutral(_PROPOSED.sub("our work", sentence), before)
            placed.append(
                PlacedSentence(
                    citing=citing,
                    tokens=tuple(_token(word) for word in _WORD.findall(citing.text)),
                    place=place,
                    length=len(paragraph),
                    paragraph=number,
                    paragraphs=len(paragraphs),
                    works_before=last.works if last else None,
                )
            )
    return tuple(placed)


def _token(word: str) -> str:
    if word == CITE:
        return word
    return "0" if word[0].isdigit() else word.lower()


def feature_rows(sentences: Sequence[PlacedSentence], vectors: Matrix) -> csr_matrix:
    """Return a row for each sentence: its signs and its neighbours', its words, its meaning."""
    signs = np.array([_signs(one) for one in sentences], dtype=np.float64)
    before, after = _neighbours(sentences, signs)
    return hstack([signs, before, after, _words(sentences), MEANING_WEIGHT * vectors], format="csr")


def _words(sentences: Sequence[PlacedSentence]) -> csr_matrix:
    """Return what words each sentence has, by their hashes; a long one's count less each."""
    held = [sorted({zlib.crc32(gram.encode()) % BUCKETS for gram in _grams(one)}) for one in sentences]
    ends = np.cumsum([0, *(len(buckets) for buckets in held)])
    numbers = [WORDS_WEIGHT / len(buckets) ** 0.5 for buckets in held for _ in buckets]
    columns = [bucket for buckets in held for bucket in buckets]
    return csr_matrix((numbers, columns, ends), shape=(len(sentences), BUCKETS))


def _neighbours(sentences: Sequence[PlacedSentence], signs: Matrix) -> tuple[Matrix, Matrix]:
    """Return the signs of the sentence before and of the one after, zeros at a paragraph's edges."""
    before, after = np.zeros_like(signs), np.zeros_like(signs)
    for index, one in enumerate(sentences):
        if one.place > 0:
            before[index] = signs[index - 1]
        if one.place < one.length - 1:
            after[index] = signs[index + 1]
    return before, after


def _signs(one: PlacedSentence) -> list[float]:
    return [*_citing_signs(one), *_wording_signs(one), *_place_signs(one)]


def _citing_signs(one: PlacedSentence) -> list[float]:
    works, cites = one.works, one.cites
    return [
        *(float(works == count) for count in range(3)),
        float(works > 2),
        min(works, 8) / 4,
        float(not cites),
        float(len(cites) == 1),
        float(len(cites) > 1),
        min(len(cites), 6) / 3,
        float(cites[:1] == (0,)),
        *(float(found) for found in _where(one)),
    ]


def _where(one: PlacedSentence) -> tuple[bool, bool, bool]:
    """Return True if citations stand near the beginning, at the end, and between."""
    cites, last = one.cites, len(one.tokens) - 1
    return (
        bool(cites) and cites[0] < 5,
        bool(cites) and cites[-1] >= last - 1,
        any(4 < place < last - 1 for place in cites),
    )


def _wording_signs(one: PlacedSentence) -> list[float]:
    tokens, text = one.tokens, one.citing.text
    first = tokens[0] if tokens else ""
    return [
        float(bool(_FIRST_PERSON.intersection(tokens))),
        float(first in _FIRST_PERSON),
        float(bool(_FIRST_PERSON.intersection(tokens[:4]))),
        float(first in ("they", "their")),
        float(first in ("it", "its", "this", "these", "the")),
        float(any(left == "this" and right in _HERE for left, right in pairwise(tokens))),
        float(np.log1p(max(1, len(tokens)))) - 3,
        float(len(tokens) < 6),
        float(len(tokens) > 45),
        float(text[:1].islower()),
        float(not text.endswith((".", "?", "!"))),
    ]


def _place_signs(one: PlacedSentence) -> list[float]:
    return [
        float(one.place == 0),
        float(one.place == 1),
        float(one.place == one.length - 1),
        float(one.length == 1),
        one.place / one.length,
        min(one.length, 15) / 10,
        float(one.paragraph == 0),
        float(one.paragraph == one.paragraphs - 1),
        (one.paragraph + 1) / one.paragraphs,
        float(one.paragraphs == 1),
    ]


def _grams(one: PlacedSentence) -> list[str]:
    """Return words and pairs of words, and words beside how many works are cited, here and just before."""
    tokens = one.tokens
    works, cites = min(one.works, 3), min(len(one.cites), 3)
    before = "none" if one.works_before is None else str(min(one.works_before, 2))
    own = bool(_FIRST_PERSON.intersection(tokens))
    where = "".join(str(int(found)) for found in _where(one))
    return [
        *tokens,
        *(f"{left} {right}" for left, right in pairwise(tokens)),
        *(f"^{token}" for token in tokens[:1]),
        f"^^{' '.join(tokens[:2])}",
        *(f"{min(works, 2)} works {token}" for token in tokens),
        *(f"after {before} {token}" for token in tokens[:OPENING]),
        f"{works} works {cites} places",
        f"{works} works {where}",
        f"{works} works {where} {own} {cites}",
        f"{works} works {own}",
        f"after {before} {works} works {where} {own}",
    ]
