"""The two sides that a question compares, read from its words."""

import re

from assistant.questions.names import says_name, squashed
from assistant.questions.perspective import without_perspective
from assistant.questions.vocabulary import stems, vocabulary
from corpus.language.stemming import holds, spelt_as, stem
from corpus.text import words

_WORD = r"[^\s,;:?!]{1,40}"
_SIDE = rf"{_WORD}(?: {_WORD}){{0,9}}?"
_END = r"(?= (?:on|for|in|when|at|with|by|as|regarding|concerning|in terms of)\b| ?[,;:?!]|\.?$)"
_A, _B = rf"(?:the |an? )?(?P<a>{_SIDE})", rf"(?:the |an? )?(?P<b>{_SIDE})"
_HOW = r"^\W*(?:and |but )?(?:how|in what (?:way|ways|respects?)|in which (?:way|ways|respects?)) "
_COMPARED = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\bdifferences? between {_A} and {_B}{_END}",
        rf"\bwhat (?:sets|distinguishes|separates) {_A} (?:apart )?from {_B}{_END}",
        rf"{_HOW}(?:do|does|did|is|are) {_A} (?:and|or) {_B} (?:differ|compare|relate)\b",
        rf"{_HOW}(?:do|does|did|is|are) {_A} (?:differ|differs|different) from {_B}{_END}",
        rf"{_HOW}(?:do|does|did|is|are) {_A} (?:compared?|relates?|related) (?:with|to|against) {_B}{_END}",
        rf"^\W*(?:please |can you )?(?:compare|contrast) {_A} (?:and|with|to|against) {_B}{_END}",
        rf"^\W*(?:what about |how about )?{_A} (?:versus|vs\.?) {_B}{_END}",
        rf"\bcomparison (?:between|of) {_A} (?:and|with|to) {_B}{_END}",
        rf"\bwhat do {_A} and {_B} have in common\b",
    )
)


# Stems of the words that ask for a comparison.
_COMPARING = frozenset(stem(word) for word in ("differ", "compare", "contrast", "common", "vs", "versus"))


def says_side(text: str, side: str) -> bool:
    """Return True if a text says all words of one side, joined, hyphenated or apart."""
    held = spelt_as(side, text, stems(text))
    return says_name(text, squashed(side)) or all(holds(held, word) for word in stems(side))


def is_open_comparison(question: str) -> bool:
    """Return True if a question asks only how two things compare, without an aspect."""
    line = " ".join(without_perspective(question).split())
    match = next(filter(None, (pattern.search(line) for pattern in _COMPARED)), None)
    if match is None or line != question.strip():
        return False
    return stems(f"{line[: match.start()]} {line[match.end() :]}") <= _COMPARING


def compared(question: str) -> tuple[str, str] | None:
    """Return the two things that a question compares, in its words; None if it does not name two."""
    line = " ".join(without_perspective(question).split())
    for pattern in _COMPARED:
        if match := pattern.search(line):
            sides = match["a"].strip(" ."), match["b"].strip(" .")
            return None if any(vocabulary().pointing.issuperset(words(side)) for side in sides) else sides
    return None
