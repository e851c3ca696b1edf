"""Words read as the corpus spells them: what no text has, a title may have nearly, joined or apart.

Precision comes first. Everyday English is left alone, and so is every word that any text has.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from string import ascii_lowercase, digits

from corpus.language.stemming import stop_words
from corpus.records import Scope
from corpus.search.query_words import Span, Word, is_english
from corpus.search.together import each
from corpus.store.corpus import Corpus

# Shorter words have too many neighbours, but for names such as "BRET".
SHORTEST_RESPELT, SHORTEST_NAME, LONGEST_RESPELT = 5, 4, 30
SHORTEST_PART, SHORTEST_PART_OF_NAME = 3, 1
# Each is a search of its own.
MOST_LOOKED_UP, MOST_CUTS = 8, 4
PHRASES_READ = 200
_BETWEEN_PARTS = re.compile(r"[\s-]")


@dataclass(frozen=True, slots=True)
class Respelling:
    """A word as the reader wrote it, and as it was read."""

    asked: str
    read: str


@dataclass(frozen=True, slots=True)
class Spelling:
    """The corrections of a query's words, and their other spellings."""

    read: tuple[tuple[Span, Respelling], ...] = ()
    also: tuple[str, ...] = ()

    def applied(self, text: str, also: Iterable[tuple[Span, str]] = ()) -> str:
        """Return a text with the words as they were read, and further spans replaced."""
        read = [(span, respelling.read) for span, respelling in self.read]
        for (start, end), word in sorted([*read, *also], reverse=True):
            text = text[:start] + word + text[end:]
        return text


def read_spelling(corpus: Corpus, text: str, words: Sequence[Word]) -> Spelling:
    """Correct the spelling of a query's words for a corpus."""
    read: dict[Span, Respelling] = {}
    also = []
    joined: set[Word] = set()
    for one, other in [*_joinable(corpus, text, words)][:MOST_LOOKED_UP]:
        if joined.isdisjoint((one, other)):
            joined |= {one, other}
            apart, together = text[one.start : other.end], _written(corpus, one.plain + other.plain)
            if _is_held(corpus, apart):
                also.append(together)
            else:
                read[one.start, other.end] = Respelling(apart, together)
    for word in _unknown(corpus, [word for word in words if word not in joined]):
        if near := _nearest_spelling(corpus, word):
            read[word.start, word.end] = Respelling(word.written, _written(corpus, near))
    return Spelling(tuple(sorted(read.items(), key=lambda entry: entry[0])), tuple(also))


def _written(corpus: Corpus, plain: str) -> str:
    """Return a word as titles write it, where they write it as a name."""
    return corpus.lexicon.title_names.get(plain, plain)


def _joinable(corpus: Corpus, text: str, words: Sequence[Word]) -> Iterator[tuple[Word, Word]]:
    """Yield the neighbours that together make a title word: "Link BERT"."""
    titles = corpus.lexicon.title_words
    for one, other in pairwise(words):
        is_name = one.has_inner_capitals or other.has_inner_capitals or other.is_in_capitals
        shortest = SHORTEST_NAME if is_name else SHORTEST_RESPELT
        if (
            (joined := one.plain + other.plain) in titles
            and shortest <= len(joined) <= LONGEST_RESPELT
            and (is_name or _are_parts(one.plain, other.plain))
            and _BETWEEN_PARTS.fullmatch(text[one.end : other.start])
        ):
            yield one, other


def _are_parts(one: str, other: str) -> bool:
    """Return True if two words may be one that was taken apart, unlike "'s peak" ("speak")."""
    return min(len(one), len(other)) > 1 and stop_words().isdisjoint((one, other))


def _unknown(corpus: Corpus, words: Sequence[Word]) -> list[Word]:
    """Return the words that may be misspelt: no text has them."""
    unusual = [word for word in words if _may_be_misspelt(corpus, word)][:MOST_LOOKED_UP]
    known = each(corpus.has_word, [word.plain for word in unusual])
    return [word for word, is_known in zip(unusual, known, strict=True) if not is_known]


def _may_be_misspelt(corpus: Corpus, word: Word) -> bool:
    shortest = SHORTEST_NAME if word.has_inner_capitals else SHORTEST_RESPELT
    return (
        shortest <= len(word.plain) <= LONGEST_RESPELT
        and word.plain.isascii()
        and word.plain.isalpha()
        and word.plain not in corpus.lexicon.title_words
        and not is_english(word.plain)
        and not corpus.lexicon.authors.has_family(word.plain)
    )


def _nearest_spelling(corpus: Corpus, word: Word) -> str | None:
    """Return a word taken apart as the texts have it, or else the title word one slip away."""
    if apart := _taken_apart(corpus, word):
        return apart
    titles = corpus.lexicon.title_words
    near = {one for one in _one_slip_away(word.plain) if one in titles and _may_be_meant(corpus, word, one)}
    return max(near, key=lambda one: (titles[one], one), default=None)


def _may_be_meant(corpus: Corpus, word: Word, near: str) -> bool:
    """Return True unless a word may well be another: "ORFs" are not offs, nor is a simplex simple."""
    if len(near) < SHORTEST_RESPELT:
        return False
    is_name = near in corpus.lexicon.title_names
    if word.has_inner_capitals:
        return is_name
    differs_in_ending = near[:-1] in (word.plain, word.plain[:-1]) or near == word.plain[:-1]
    return not differs_in_ending or (is_name and not is_english(near))


def _one_slip_away(plain: str) -> Iterator[str]:
    """Yield the words one edit away: a letter left out, put in, changed or swapped with the next.

    The first letter is hardly ever the wrong one.
    """
    for at in range(1, len(plain) + 1):
        head, rest = plain[:at], plain[at:]
        if rest:
            yield head + rest[1:]
        if len(rest) > 1:
            yield head + rest[1] + rest[0] + rest[2:]
        for letter in ascii_lowercase + digits:
            yield head + letter + rest
            if rest:
                yield head + letter + rest[1:]


def _taken_apart(corpus: Corpus, word: Word) -> str | None:
    """Return the two words that the texts write for one: "link bert" for "LinkBERT"."""
    titles, plain = corpus.lexicon.title_words, word.plain
    least = SHORTEST_PART_OF_NAME if word.has_inner_capitals else SHORTEST_PART
    cuts = ((plain[:at], plain[at:]) for at in range(least, len(plain) - least + 1))
    known = [pair for pair in cuts if all(part in titles and part not in stop_words() for part in pair)]
    known.sort(key=lambda pair: -min(map(len, pair)))
    apart = (" ".join(pair) for pair in known[:MOST_CUTS])
    return next((one for one in apart if _is_held(corpus, one)), None)


def _is_held(corpus: Corpus, phrase: str) -> bool:
    return any(True for _ in corpus.holding(phrase, Scope(), PHRASES_READ))
