"""Finds the phrases of a claim that its evidence does not say.

Absent numbers and names always count. Other absent words count only if they are few among words that the
evidence has in the same order: a claim that is reworded throughout may say the same.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np

from assistant.checking.absent import Cited, name_absent, number_absent, read_cited, word_stands
from assistant.checking.comparable_text import read_statement, word_lists
from assistant.checking.features import strip_references
from assistant.checking.mending.roles import aligned
from assistant.checking.phrases.candidates import Word, group_words, phrase_span, read_words
from assistant.checking.thresholds import thresholds
from corpus.encoders.base import Encoder
from corpus.encoders.scale import cosine_scales
from corpus.text import write_out_numbers

LONGEST_CLAIM, LONGEST_TEXT = 1000, 2000
CLOSE = 4  # sentences of the evidence that are compared word by word
MOST_CAPITALS = 2  # of a name; one with more, such as "BiLSTM", may be written out in a text
SHORTEST_NAME = 4
_GROUPING = re.compile(r"[$€£,.]")
_OPENING = re.compile(r"[.!?:;(\"“”]")


@dataclass(frozen=True, slots=True)
class UnsaidPhrase:
    """A phrase of a claim that its evidence does not say, with its character offsets."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Text:
    """A text of the evidence, read."""

    words: tuple[Word, ...]
    stems: frozenset[str]
    scopes: frozenset[str]
    numbers: frozenset[str]
    joined: str


def find_unsaid_phrases(
    claim: str, evidence_texts: Sequence[str], encoder: Encoder
) -> tuple[UnsaidPhrase, ...]:
    """Return the phrases of a claim that no text of its evidence says, in order; () for a quotation.

    The texts should be sentences: long texts align with any claim by chance. Raises CorpusError if the
    encoder is not available.
    """
    if len(claim) > LONGEST_CLAIM:
        claim = claim[:LONGEST_CLAIM].rpartition(" ")[0]
    words = read_words(claim)
    texts = [_read_text(strip_references(text)[:LONGEST_TEXT]) for text in evidence_texts]
    if not words or not any(text.words for text in texts) or _is_quoted(words, texts):
        return ()
    cited = read_cited(tuple(evidence_texts))
    absent = _absent(claim, words, texts, cited)
    missing = {index for index, word in enumerate(words) if _is_missing(word, texts, cited)}
    named = absent | _surely_missing(claim, words, missing | absent, texts, encoder)
    spans = (phrase_span(claim, words, first, last) for first, last in group_words(claim, words, named))
    return tuple(UnsaidPhrase(claim[start:end], start, end) for start, end in _joined(spans))


@lru_cache(maxsize=2048)
def _read_text(text: str) -> _Text:
    words = tuple(read_words(text))
    return _Text(
        words,
        stems=frozenset(word.stem for word in words),
        scopes=frozenset(word.scope for word in words),
        numbers=frozenset(_digits(word.text) for word in words if word.lower[0].isdigit()),
        joined=_in_a_row(words),
    )


def _in_a_row(words: Sequence[Word]) -> str:
    return f" {' '.join(word.lower for word in words)} "


def _is_quoted(words: Sequence[Word], texts: Sequence[_Text]) -> bool:
    claim_text = _in_a_row(words)
    return any(claim_text in text.joined for text in texts)


def _absent(claim: str, words: Sequence[Word], texts: Sequence[_Text], cited: Cited) -> set[int]:
    """Return the indices of words that are absent numbers or parts of absent names."""
    known = frozenset[str]().union(*(text.numbers for text in texts))
    numbers = {_digits(number) for number in number_absent(claim, cited)} - known
    names = {part for name in name_absent(claim, cited) for part in name.split()}
    names.update(name for name in _proper_names(claim, words) if not word_stands(name, cited))
    return {index for index, word in enumerate(words) if word.text in names or _digits(word.text) in numbers}


def _digits(number: str) -> str:
    """Return a number without group separators and currency, such as the point in the German "5.000"."""
    return _GROUPING.sub("", write_out_numbers(number))


def _proper_names(claim: str, words: Sequence[Word]) -> Iterator[str]:
    """Yield capitalised words within sentences that are no abbreviations: "Arabic", "ConceptNet"."""
    for before, word in pairwise(words):
        opens = _OPENING.search(claim, before.end, word.start)
        capitals = sum(letter.isupper() for letter in word.text)
        is_name = word.text[0].isupper() and 1 <= capitals <= MOST_CAPITALS and word.text.isalpha()
        if is_name and not opens and word.tells and len(word.text) >= SHORTEST_NAME:
            yield word.text


def _is_missing(word: Word, texts: Sequence[_Text], cited: Cited) -> bool:
    """Return True if no text has a word in any form; for a scope word, no word of the same scope."""
    if word.scope:
        return not any(word.scope in text.scopes for text in texts)
    if not word.counts or any(word.stem in text.stems for text in texts):
        return False
    if numbers := read_statement(word.text).numbers:
        return not any(numbers[0].says(other) for other in cited.numbers)
    return not word_stands(word.text, cited)


def _surely_missing(
    claim: str, words: Sequence[Word], missing: Collection[int], texts: Sequence[_Text], encoder: Encoder
) -> set[int]:
    """Return the indices of missing words in runs amid words that a text has in the same order."""
    bars = thresholds().unsaid
    runs = [
        (first, last)
        for first, last in group_words(claim, words, missing)
        if any(words[index].tells for index in range(first, last + 1) if index in missing)
    ]
    within = {index for first, last in runs for index in range(first, last + 1)}
    around = [word.stem for index, word in enumerate(words) if index not in within]
    if not runs or len(runs) > bars.runs or len(within) > bars.share * len(words):
        return set()
    close = sorted(texts, key=lambda text: -len(text.stems.intersection(around)))[:CLOSE]
    in_order = max(aligned(around, [word.stem for word in text.words]) for text in close)
    is_scope = len(runs) == 1 and any(words[index].scope for index in within.intersection(missing))
    if in_order < max(bars.least, (bars.scope if is_scope else bars.context) * len(around)):
        return set()
    unlike = within.intersection(missing) - _alike(words, missing, close, encoder)
    surely = set[int]()
    for first, last in group_words(claim, words, unlike):
        chosen = [index for index in range(first, last + 1) if index in unlike]
        is_alone = len(chosen) == 1 and _is_ordinary(words[chosen[0]])
        if any(words[index].tells for index in chosen) and (
            not is_alone or in_order >= bars.alone * len(around)
        ):
            surely.update(chosen)
    return surely


def _is_ordinary(word: Word) -> bool:
    """Return True for a word in small letters that is no number and does not widen or narrow a statement."""
    return word.text.islower() and not word.scope and word.lower not in word_lists().numbers


def _alike(
    words: Sequence[Word], missing: Collection[int], texts: Sequence[_Text], encoder: Encoder
) -> set[int]:
    """Return the indices of missing words that are close in meaning to a word of the texts."""
    ordinary = [index for index in missing if not words[index].scope and not words[index].lower[0].isdigit()]
    known = list(dict.fromkeys(word.lower for text in texts for word in text.words if word.counts))
    if not ordinary or not known:
        return set()
    vectors = encoder.encode_passages([*(words[index].lower for index in ordinary), *known])
    cosines = cosine_scales(encoder).alike(vectors[: len(ordinary)] @ vectors[len(ordinary) :].T)
    nearest = np.max(cosines, axis=1)
    return {index for index, near in zip(ordinary, nearest, strict=True) if near >= thresholds().unsaid.alike}


def _joined(spans: Iterator[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the spans in order, overlapping ones merged."""
    merged: list[tuple[int, int]] = []
    for start, end in spans:
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
