"""The phrases of a question that may name its subject: the words between its function words."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from assistant.questions.vocabulary import vocabulary

_TOKEN = re.compile(r"[^\s,;:?!()\"“”„«»\[\]]+")
_EDGE = re.compile(r"^\W+|(?<![.…'’‘*_])[.…'’‘*_]++$")
_POSSESSIVE = re.compile(r"['’]s?$")
# Within a name: "National Air and Space Museum", "Bank of England".
_JOINING = frozenset({"of", "and", "&", "the", "de", "for"})
_ARTICLES = frozenset({"a", "an", "the"})
_AUXILIARIES = frozenset("do does did can could will would should may might must to".split())
_BEFORE_VERBS = frozenset("what which who to i we you not".split())
_PREDICATE = re.compile(r"^\w{3,}(?:ed|[^aeiou]ly)$")
_SUBJECT_WORDS = frozenset({"what", "who", "which"})
_COPULAS = frozenset("is are was were".split())
LONGEST = 7


@dataclass(frozen=True, slots=True)
class Token:
    """A word as it stands in a text, and in lower case."""

    start: int
    end: int
    text: str
    word: str


@dataclass(frozen=True, slots=True)
class Phrase:
    """A phrase as it stands in a text."""

    text: str
    start: int
    end: int
    is_name: bool


def is_subject(phrase: Phrase) -> bool:
    """Return True if a phrase names something: it is not just an aspect ("main types") or a number."""
    known = vocabulary()
    no_subjects = known.aspects | known.generic | known.judging
    return any(word not in no_subjects and not word.isdecimal() for word in phrase.text.lower().split())


def is_complete(phrase: Phrase) -> bool:
    """Return True if a phrase names a subject and not one of its parts ("training cost")."""
    known = vocabulary()
    head = phrase.text.lower().split()[-1]
    return is_subject(phrase) and (phrase.is_name or head not in known.aspects | known.generic)


def tokens(text: str) -> list[Token]:
    """Return the words of a text with their character offsets."""
    result = []
    for match in _TOKEN.finditer(text):
        bare = _EDGE.sub("", match[0])
        if bare:
            start = match.start() + match[0].index(bare)
            result.append(Token(start, start + len(bare), bare, bare.lower().replace("’", "'")))
    return result


def phrases(text: str) -> list[Phrase]:
    """Return the phrases of a text in their order."""
    words = tokens(text)
    return [_phrase(text, words, first, last) for first, last in _spans(text, words)]


def _spans(text: str, words: list[Token]) -> Iterator[tuple[int, int]]:
    """Yield the first and last word of each phrase."""
    first: int | None = None
    wants_verb = False
    for index, token in enumerate(words):
        if first is not None and (index - first >= LONGEST or not _follows(text, words, index)):
            yield from _trimmed(words, first, index - 1)
            first = None
        breaks = _breaks(words, index, first, wants_verb=wants_verb)
        if breaks and first is not None:
            yield from _trimmed(words, first, index - 1)
            first = None
        elif not breaks and first is None:
            first = index
        is_verb = breaks and token.word in vocabulary().verbs
        wants_verb = token.word in _AUXILIARIES or (wants_verb and not is_verb)
    if first is not None:
        last = len(words) - 1
        ends_in_predicate = last > first and (wants_verb or _is_judged(words, first))
        yield from _trimmed(words, first, last - ends_in_predicate)


def _is_judged(words: list[Token], first: int) -> bool:
    """Return True if the phrase's last word is a predicate: "Is a wolfhound hungry?"."""
    before = first - 1 - (first > 0 and words[first - 1].word in _ARTICLES)
    return before >= 0 and words[before].word in _COPULAS and words[0].word not in _SUBJECT_WORDS


def _trimmed(words: list[Token], first: int, last: int) -> Iterator[tuple[int, int]]:
    """Yield a span without judging and joining words at its edges, if anything is left."""
    judging = vocabulary().judging
    while first <= last and words[first].word in judging and words[first].text.islower():
        first += 1
    while first <= last and words[last].word in judging and words[last].text.islower():
        last -= 1
    while first <= last and words[last].word in _JOINING:
        last -= 1
    if first <= last:
        yield first, last


def _follows(text: str, words: list[Token], index: int) -> bool:
    """Return True if a word continues a phrase: "Darwin's theory", not "Darwin's limits"."""
    owner = _POSSESSIVE.search(words[index - 1].text) and words[index].word in vocabulary().aspects
    return not text[words[index - 1].end : words[index].start].strip() and not owner


def _breaks(words: list[Token], index: int, first: int | None, *, wants_verb: bool) -> bool:
    """Return True if a word belongs to no phrase, or ends the one begun at `first`."""
    known, token = vocabulary(), words[index]
    is_acronym = token.text.isupper() and len(token.text) > 1  # "US" is not "us"
    if not is_acronym and (token.word.removesuffix("'s") in known.function or token.word in known.frame):
        return not _joins_name(words, index, first)
    if not token.text.islower():
        return False
    if first is not None and _PREDICATE.search(token.word):
        return True
    if token.word not in known.verbs:
        return False
    before = words[index - 1].word if index else ""
    after = words[index + 1].word if index + 1 < len(words) else ""
    if first is not None and (wants_verb or after in known.pointing or after in _ARTICLES):
        return True
    return before in _BEFORE_VERBS or before in known.pointing


def _joins_name(words: list[Token], at: int, first: int | None) -> bool:
    if first is None or words[at].word not in _JOINING:
        return False
    rest = [token for token in words[at + 1 : at + 3] if token.word not in _ARTICLES]
    return words[at - 1].text[0].isupper() and bool(rest) and rest[0].text[0].isupper()


def _phrase(text: str, words: list[Token], first: int, last: int) -> Phrase:
    start, end = words[first].start, words[last].end
    # A capital at the beginning of the text marks no name.
    shown = (words[index].text if index else words[index].text[1:] for index in range(first, last + 1))
    is_name = any(letter.isupper() or letter.isdigit() for word in shown for letter in word)
    return Phrase(_POSSESSIVE.sub("", text[start:end]), start, end, is_name)
