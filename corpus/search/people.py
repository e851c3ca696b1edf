"""The authors that a query names, by a whole name, by initials and family name, or by family name alone."""

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass
from itertools import pairwise

from corpus.language.stemming import stop_words
from corpus.search.query_words import Word, is_english
from corpus.store.corpus import Corpus

LONGEST_NAME, SHORTEST_FAMILY = 4, 3
# Names in a longer text are often citations.
_MOST_WORDS_OF_A_QUESTION = 40
# A word that is in more than one of this many titles is a subject, not a name.
_TITLES_PER_USUAL_WORD = 10_000
# Words before an author: "What did Smith write", "papers by Smith".
_BEFORE_AUTHORS = frozenset({"author", "authors", "by", "did", "do", "does", "dr", "prof", "professor"})
_BETWEEN_NAMES = re.compile(r"[\s.,'’-]{0,4}")


@dataclass(frozen=True, slots=True)
class People:
    """Named authors as the corpus writes them, and `namesakes` whom a family name alone may mean.

    `spelling` are the indices of the words that name them.
    """

    authors: tuple[str, ...] = ()
    namesakes: tuple[str, ...] = ()
    spelling: frozenset[int] = frozenset()


def find_people(corpus: Corpus, text: str, words: Sequence[Word], taken: Set[int]) -> People:
    """Return the authors that the words of a query name, without the words at indices `taken`."""
    names = _Names(corpus, text, words)
    authors: dict[str, None] = {}
    namesakes: dict[str, None] = {}
    spelling: set[int] = set()
    for index in range(len(words)):
        if index in spelling or not (length := names.length_at(index, taken)):
            continue
        is_sure = (length > 1 or len(words) == 1) and len(words) <= _MOST_WORDS_OF_A_QUESTION
        (authors if is_sure else namesakes).update(dict.fromkeys(names.called(index, length)))
        spelling.update(range(index, index + length))
    return People(tuple(authors), tuple(namesakes), frozenset(spelling))


class _Names:
    """Looks up words of a query as names of authors."""

    def __init__(self, corpus: Corpus, text: str, words: Sequence[Word]) -> None:
        self._corpus = corpus
        self._known = corpus.lexicon.authors
        self._titles = corpus.lexicon.title_words
        self._usual = max(1, corpus.count_papers() // _TITLES_PER_USUAL_WORD)
        self._text = text
        self._words = words
        subject = [word for word in words if word.plain not in stop_words()]
        self._is_title_case = all(word.is_capitalised for word in subject)

    def length_at(self, index: int, taken: Set[int]) -> int:
        """Return the length in words of the name that begins at `index`, 0 for none."""
        for length in range(min(LONGEST_NAME, len(self._words) - index), 0, -1):
            is_free = taken.isdisjoint(range(index, index + length))
            if is_free and self._may_be_name(index, length) and self.called(index, length):
                return length
        return 0

    def called(self, index: int, length: int) -> tuple[str, ...]:
        """Return the names of the authors that `length` words may mean."""
        plain = [word.plain for word in self._words[index : index + length]]
        return self._known.called(plain) or self._known.of_family(" ".join(plain))

    def _may_be_name(self, index: int, length: int) -> bool:
        words = self._words[index : index + length]
        gaps = (self._text[word.end : following.start] for word, following in pairwise(words))
        if not all(map(_BETWEEN_NAMES.fullmatch, gaps)):
            return False
        if length == len(self._words):
            return length > 1 or not self._is_usual(words[0])
        return self._may_be_family(index) if length == 1 else self._may_be_whole_name(words)

    def _may_be_whole_name(self, words: Sequence[Word]) -> bool:
        """Return False if the words are rather a phrase: "will long", or "Will Long" in title case."""
        small = [word for word in words if word.plain in stop_words() or len(word.plain) == 1]
        if any(not word.is_capitalised for word in small):
            return False
        is_written_so = all(word.is_capitalised for word in words) and not self._is_title_case
        return is_written_so or not all(map(self._is_usual, words))

    def _may_be_family(self, index: int) -> bool:
        """Return True if one word is certainly a family name: by its context, or as no text has it."""
        word, after = self._words[index], [word.plain for word in self._words[index + 1 : index + 3]]
        if len(word.plain) < SHORTEST_FAMILY or word.plain in stop_words():
            return False
        is_cited = after == ["et", "al"]
        if is_cited or (index and word.is_capitalised and self._words[index - 1].plain in _BEFORE_AUTHORS):
            return is_cited or not self._is_title_case
        is_name = not (word.is_in_capitals or word.plain in self._titles or is_english(word.plain))
        # The slowest test last.
        return is_name and bool(self.called(index, 1)) and not self._corpus.has_word(word.plain)

    def _is_usual(self, word: Word) -> bool:
        is_small = len(word.plain) == 1 or word.plain in stop_words()
        return is_small or self._titles.get(word.plain, 0) > self._usual
