"""Correction of words that no text has to similar words of titles, also written as one word or two.

Precision comes first: everyday English words, and words that any text has, are not corrected.
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

# Shorter words have too many similar ones, except names such as "BRET".
SHORTEST_RESPELT, SHORTEST_NAME, LONGEST_RESPELT = 5, 4, 30
SHORTEST_PART, SHORTEST_PART_OF_NAME = 3, 1
# Limits, as each takes a search.
MOST_LOOKED_UP, MOST_CUTS = 8, 4
PHRASES_READ = 200
_BETWEEN_PARTS = re.compile(r"[\s-]")


@dataclass(frozen=True, slots=True)
class Respelling:
    """A word as the reader wrote it (`asked`), and its correction (`read`)."""

    asked: str
    read: str


@dataclass(frozen=True, slots=True)
class Spelling:
    """The corrections of a query's words, and their other spellings."""

    read: tuple[tuple[Span, Respelling], ...] = ()
    also: tuple[str, ...] = ()

    def applied(self, text: str, also: Iterable[tuple[Span, str]] = ()) -> str:
        """Return a text with the corrections, and with the spans of `also` replaced."""
        read = [(span, respelling.read) for span, respelling in self.read]
        for (start, end), word in sorted([*read, *also], reverse=True):
            text = text[:start] + word + text[end:]
        return text


def read_spelling(corpus: Corpus, text: str, words: Sequence[Word]) -> Spelling:
    """Correct the spelling of a query's words for a corpus."""
    read: dict[Span, Respelling] = {}
    also = []
    joined: set[Word] = set()
    for first, other in [*_joinable(corpus, text, words)][:MOST_LOOKED_UP]:
        if joined.isdisjoint((first, other)):
            joined |= {first, other}
            apart, together = text[first.start : other.end], _written(corpus, first.plain + other.plain)
            if _is_held(corpus, apart):
                also.append(together)
            else:
                read[first.start, other.end] = Respelling(apart, together)
    for word in _unknown(corpus, [word for word in words if word not in joined]):
        if near := _nearest_spelling(corpus, word):
            read[word.start, word.end] = Respelling(word.written, _written(corpus, near))
    return Spelling(tuple(sorted(read.items(), key=lambda entry: entry[0])), tuple(also))


def _written(corpus: Corpus, plain: str) -> str:
    """Return a word as titles capitalise it if they write it as a name."""
    return corpus.lexicon.title_names.get(plain, plain)


def _joinable(corpus: Corpus, text: str, words: Sequence[Word]) -> Iterator[tuple[Word, Word]]:
    """Yield adjacent words that together make a word of titles: "Link BERT"."""
    titles = corpus.lexicon.title_words
    for first, other in pairwise(words):
        is_name = first.has_inner_capitals or other.has_inner_capitals or other.is_in_capitals
        shortest = SHORTEST_NAME if is_name else SHORTEST_RESPELT
        if (
            (joined := first.plain + other.plain) in titles
            and shortest <= len(joined) <= LONGEST_RESPELT
            # Unlike "'s peak" ("speak").
            and (
                is_name
                or (
                    min(len(first.plain), len(other.plain)) > 1
                    and stop_words().isdisjoint((first.plain, other.plain))
                )
            )
            and _BETWEEN_PARTS.fullmatch(text[first.end : other.start])
        ):
            yield first, other


def _unknown(corpus: Corpus, words: Sequence[Word]) -> list[Word]:
    """Return the words that may be misspelt and that no text has."""
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
    """Return a word split in two as texts write it, else the title word one edit away, else None."""
    if apart := _taken_apart(corpus, word):
        return apart
    titles = corpus.lexicon.title_words
    near = {
        edited
        for edited in _one_slip_away(word.plain)
        if edited in titles and _may_be_meant(corpus, word, edited)
    }
    return max(near, key=lambda edited: (titles[edited], edited), default=None)


def _may_be_meant(corpus: Corpus, word: Word, near: str) -> bool:
    """Return False if the words may well be different: "ORFs" and "offs", "simplex" and "simple"."""
    if len(near) < SHORTEST_RESPELT:
        return False
    is_name = near in corpus.lexicon.title_names
    if word.has_inner_capitals:
        return is_name
    differs_in_ending = near[:-1] in (word.plain, word.plain[:-1]) or near == word.plain[:-1]
    return not differs_in_ending or (is_name and not is_english(near))


def _one_slip_away(plain: str) -> Iterator[str]:
    """Yield the words one edit away: a letter removed, added, changed or swapped with the next.

    The first letter is kept, as it is hardly ever wrong.
    """
    for index in range(1, len(plain) + 1):
        head, rest = plain[:index], plain[index:]
        if rest:
            yield head + rest[1:]
        if len(rest) > 1:
            yield head + rest[1] + rest[0] + rest[2:]
        for letter in ascii_lowercase + digits:
            yield head + letter + rest
            if rest:
                yield head + letter + rest[1:]


def _taken_apart(corpus: Corpus, word: Word) -> str | None:
    """Return the two words that texts write for a joined word: "link bert" for "LinkBERT"."""
    titles, plain = corpus.lexicon.title_words, word.plain
    least = SHORTEST_PART_OF_NAME if word.has_inner_capitals else SHORTEST_PART
    cuts = ((plain[:index], plain[index:]) for index in range(least, len(plain) - least + 1))
    known = [pair for pair in cuts if all(part in titles and part not in stop_words() for part in pair)]
    known.sort(key=lambda pair: -min(map(len, pair)))
    apart = (" ".join(pair) for pair in known[:MOST_CUTS])
    return next((phrase for phrase in apart if _is_held(corpus, phrase)), None)


def _is_held(corpus: Corpus, phrase: str) -> bool:
    return any(True for _ in corpus.holding(phrase, Scope(), PHRASES_READ))
