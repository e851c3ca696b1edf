"""Claims close to their source's wording that exchange two words, a name, or the system of another paper."""

import re
from collections.abc import Callable, Sequence
from difflib import SequenceMatcher
from itertools import combinations, pairwise

from assistant.checking.comparable_text import read_statement, stem
from assistant.questions.vocabulary import content_words
from assistant.records import Evidence, LabelledPaper

_LEAST_ALIGNED = 0.5  # share of a claim's words that its source has in the same order
_MOST_WORDS = 24  # of a claim that are exchanged with each other
_LONGEST_CLAIM = 600  # characters
_TOKEN = re.compile(r"[^\W_](?:[\w-]*[^\W_])?")
_PASSIVE = re.compile(r"\b(?:is|are|was|were|be|been|being)\s(?:\w+\s)?\w+(?:ed|en|n|t)\sby\b", re.IGNORECASE)
_JOINS = frozenset({"and", "or", "with", "nor", "&", "versus", "vs"})


def names_another(claim: str, cited: Sequence[LabelledPaper], evidence: Evidence) -> bool:
    """Return True if a claim names the system of another paper that none of the cited papers mentions.

    A paper's system is the name before the colon of its title: "SummN: A Multi-Stage Framework ...".
    """
    labels = {paper.label for paper in cited}
    named = set(_tokens(claim[:_LONGEST_CLAIM]))
    others = {_system(paper) for paper in evidence.papers if paper.label not in labels} & named
    texts = [text for paper in cited for text in (paper.paper.title, *texts_of(paper))]
    return any(all(name not in _tokens(text) for text in texts) for name in others)


def _system(paper: LabelledPaper) -> str:
    head, colon, _ = paper.paper.title.partition(":")
    names = _tokens(head)
    return names[0] if colon and len(names) == 1 and _is_coined(names[0]) else ""


def texts_of(paper: LabelledPaper) -> list[str]:
    """Return the sentences of the passages that are given of a paper."""
    return [
        passage.sentence_text(index) for passage in paper.passages for index in range(len(passage.sentences))
    ]


def exchanges_words(claim: str, source: Sequence[str]) -> bool:
    """Return True if a claim is a sentence of its source with two words exchanged.

    That is if exchanging them back aligns more words with the source. Adjacent words do not count, nor
    sentences of which one is passive or compares in the other direction.
    """
    claim = claim[:_LONGEST_CLAIM]
    return not _PASSIVE.search(claim) and _nearest_is(claim, source, _has_exchanged)


def _has_exchanged(claim: str, text: str) -> bool:
    if _PASSIVE.search(text) or _directions(text) != _directions(claim):
        return False
    said, told = _words(claim), _words(text)
    content = set(map(stem, content_words(claim)))
    shared = [word for word in dict.fromkeys(said) if word in content and word in told][:_MOST_WORDS]
    before = aligned(said, told)
    for first, second in combinations(shared, 2):
        if not (_stand_together(said, first, second) or _stand_together(told, first, second)):
            other = {first: second, second: first}
            if aligned([other.get(word, word) for word in said], told) > before:
                return True
    return False


def _nearest_is(claim: str, source: Sequence[str], is_so: Callable[[str, str], bool]) -> bool:
    """Return True if `is_so` holds for the sentence best aligned with the claim; if tied, for all of them."""
    said, best, holds = _words(claim), 0, False
    for text in (text[: 2 * _LONGEST_CLAIM] for text in source):
        length = aligned(said, _words(text))
        if length >= max(best, _LEAST_ALIGNED * len(said), 1):
            holds = is_so(claim, text) and (holds or length > best)
            best = length
    return holds


def replaces_name(claim: str, source: Sequence[str]) -> bool:
    """Return True if a claim is a sentence of its source with a name replaced by another.

    "DPR joins the retriever to BART" of "RAG joins the retriever to BART".
    """
    return _nearest_is(claim[:_LONGEST_CLAIM], source, _has_other_name)


def _has_other_name(claim: str, text: str) -> bool:
    said, told = _tokens(claim), _tokens(text)
    matcher = SequenceMatcher(None, _words(claim), _words(text), autojunk=False)
    return any(
        change == "replace"
        and any(_is_coined(name) and name not in said for name in told[start:end])
        and any(_is_coined(name) for name in said[first:last])
        for change, first, last, start, end in matcher.get_opcodes()
    )


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(text)


def _words(text: str) -> list[str]:
    return [stem(token.lower()) for token in _tokens(text)]


def _is_coined(token: str) -> bool:
    """Return True for a name such as BERT, SummN or T5: capitals or digits behind its first letter."""
    has_more = any(letter.isupper() or letter.isdigit() for letter in token[1:])
    return has_more and any(letter.isalpha() for letter in token)


def _stand_together(tokens: Sequence[str], first: str, second: str) -> bool:
    """Return True if two words are adjacent, or have only "and" or the like between them."""
    places = [(place, token) for place, token in enumerate(tokens) if token in (first, second)]
    return any(
        word != other and all(token in _JOINS for token in tokens[start + 1 : end])
        for (start, word), (end, other) in pairwise(places)
    )


def _directions(text: str) -> frozenset[int]:
    return frozenset(read_statement(text).directions)


def aligned(said: Sequence[str], told: Sequence[str]) -> int:
    """Return the length of the longest common subsequence of two texts, in words."""
    before = [0] * (len(told) + 1)
    for word in said:
        row = [0]
        for index, other in enumerate(told):
            row.append(before[index] + 1 if word == other else max(before[index + 1], row[index]))
        before = row
    return before[-1]
