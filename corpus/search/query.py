"""How a query is understood: the papers, people, venues and years it names, and its words as spelt here.

Nothing is guessed where the corpus can be asked: a name is an author's, a word is read as another only where
no text has it, where it is no everyday English, and where a title has the other one.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from string import ascii_lowercase, digits

from corpus.encoders import ordinary_words
from corpus.language import stem, stop_words
from corpus.records import Scope
from corpus.store import Corpus, Identifiers, plain_words
from corpus.text import storable

# A query is read as far as this; what comes after is searched for as it stands.
LONGEST_READ, MOST_WORDS, LONGEST_WORD = 2_000, 64, 30
# Shorter words have too many neighbours, but for names such as "BRET".
SHORTEST_RESPELT, SHORTEST_NAME, SHORTEST_PART, SHORTEST_FAMILY = 5, 4, 3, 3
MOST_LOOKED_UP, MOST_IDENTIFIERS, MOST_PHRASES, MOST_CUTS = 8, 8, 4, 3
LONGEST_PERSON, LONGEST_VENUE = 4, 12
PHRASES_READ = 200
# A word that stands in more titles, of so many, is about something and names nobody.
_TITLES_PER_USUAL_WORD = 10_000

_WORD = re.compile(r"[^\W_]+")
_QUOTED = re.compile(r"[\"“”]([^\"“”]{2,200})[\"“”]")
_ADDRESS = r"(?:\bhttps?://[\w.-]{1,60}/(?:abs/|pdf/|html/|papers/)?)?"
_ANTHOLOGY = re.compile(
    _ADDRESS + r"\b(\d{4}\.[a-z0-9_]{1,40}-[a-z0-9]{1,20}\.\d{1,5}|[A-Z]\d{2}-\d{4})\b(?:\.pdf|/)?",
    re.ASCII | re.IGNORECASE,
)
_ARXIV = re.compile(
    _ADDRESS + r"(?:\barxiv[:.]\s?)?(?<!\d)(\d{4}\.\d{4,5}|\b[a-z-]{2,20}(?:\.[a-z]{2})?/\d{7})(?:v\d{1,3})?"
    r"(?:\.pdf)?(?!\w)",
    re.ASCII | re.IGNORECASE,
)
_DOI = re.compile(_ADDRESS + r"(?:\bdoi:\s?)?\b(10\.\d{4,9}/[^\s\"<>]{1,200})", re.IGNORECASE)
_OWN = re.compile(r"(?<!\S)[^\s/]{1,80}/\S{1,120}(?!\S)")
_BETWEEN_NAMES = re.compile(r"[\s.,'’-]{0,4}")
_BETWEEN_PARTS = re.compile(r"[\s-]")
_YEAR = re.compile(r"(?:19|20)\d\d")
_BESIDE_IDENTIFIERS = frozenset({"acl", "anthology", "arxiv", "doi", "id", "paper"})


@dataclass(frozen=True, slots=True)
class Respelling:
    """A word as the reader wrote it, and as it was read."""

    asked: str
    read: str


@dataclass(frozen=True, slots=True)
class Query:
    """A query as it is understood.

    `text` has the words as they were read; `also` are further spellings of what it has ("LinkBERT" for "Link
    BERT"). `papers` are the ids of papers it identifies, `authors` and `venues` those it names, as the corpus
    writes them, `phrases` what it quotes. `is_only_names`: nothing is asked but papers or phrases.
    """

    text: str
    also: tuple[str, ...] = ()
    respelt: tuple[Respelling, ...] = ()
    papers: tuple[str, ...] = ()
    authors: tuple[str, ...] = ()
    venues: tuple[str, ...] = ()
    years: tuple[int, ...] = ()
    phrases: tuple[str, ...] = ()
    is_only_names: bool = False


@dataclass(frozen=True, slots=True)
class _Word:
    """A word of a query: where it stands, as it is written and as it is looked up."""

    start: int
    end: int
    written: str
    plain: str

    @property
    def is_capitalised(self) -> bool:
        return self.written[0].isupper()

    @property
    def is_in_capitals(self) -> bool:
        return len(self.written) > 1 and self.written.isupper()

    @property
    def is_name_by_its_capitals(self) -> bool:
        """True of "LinkBERT" and "BERT"."""
        return not self.written[1:].islower()


_Span = tuple[int, int]


def read_query(corpus: Corpus, text: str, *, verbatim: bool = False) -> Query:
    """Return what a query means in a corpus; `verbatim` leaves every word as the reader wrote it."""
    text = unicodedata.normalize("NFC", storable(text)).strip()
    head = text[:LONGEST_READ]
    papers, spans = _identified(corpus, head)
    quoted = list(_QUOTED.finditer(head))[:MOST_PHRASES]
    words = list(_words(head, [*spans, *(one.span() for one in quoted)]))
    venues, of_venues = _venues(corpus, words)
    authors, of_authors = _Authors(corpus, head, words).find(of_venues)
    taken = of_venues | of_authors
    respelt = {} if verbatim else _respelt(corpus, [one for at, one in enumerate(words) if at not in taken])
    asked = [one for one in words if one.plain not in _BESIDE_IDENTIFIERS]
    return Query(
        text=_with(text, respelt),
        also=() if verbatim else tuple(_joined(corpus, head, words)),
        respelt=tuple(Respelling(word.written, read) for word, read in respelt.items()),
        papers=papers,
        authors=authors,
        venues=venues,
        years=_years(corpus, head, words, of_venues),
        phrases=tuple(one[1].strip() for one in quoted if plain_words(one[1])),
        is_only_names=bool(papers or quoted) and not asked,
    )


def _with(text: str, respelt: dict[_Word, str]) -> str:
    for word, read in reversed(respelt.items()):
        text = text[: word.start] + read + text[word.end :]
    return text


def _words(text: str, spans: Sequence[_Span]) -> Iterator[_Word]:
    """Yield the words outside of some spans."""
    found = 0
    for match in _WORD.finditer(text):
        plain = "".join(plain_words(match[0]))
        if (
            found < MOST_WORDS
            and plain
            and not any(start < match.end() and match.start() < end for start, end in spans)
        ):
            found += 1
            yield _Word(match.start(), match.end(), match[0], plain)


def _identified(corpus: Corpus, text: str) -> tuple[tuple[str, ...], list[_Span]]:
    """Return the papers that a query identifies, and where it does."""
    papers: dict[str, None] = {}
    spans = []
    for identifiers, span in [*_identifiers(text)][:MOST_IDENTIFIERS]:
        if found := corpus.identified(identifiers):
            papers |= dict.fromkeys(sorted(found))
            spans.append(span)
    return tuple(papers), spans


def _identifiers(text: str) -> Iterator[tuple[Identifiers, _Span]]:
    """Yield what may be ids, with where they stand."""
    for match in _ANTHOLOGY.finditer(text):
        yield Identifiers(papers=(match[1].lower(), match[1].upper())), match.span()
    for match in _DOI.finditer(text):
        yield Identifiers(dois=(match[1].rstrip(".,;:)]}’”'"),)), match.span()
    for match in _ARXIV.finditer(text):
        archive, slash, number = match[1].lower().partition("/")
        # The subject class of an old id, as in math.GT/0309136, is not part of it.
        base = f"{archive.partition('.')[0]}/{number}" if slash else archive
        yield Identifiers(arxiv=(base,)), match.span()
    for match in _OWN.finditer(text):
        yield Identifiers(papers=(match[0],)), match.span()


def _venues(corpus: Corpus, words: Sequence[_Word]) -> tuple[tuple[str, ...], set[int]]:
    """Return the venues that are named, by the whole name or an acronym, and which words name them."""
    known = corpus.lexicon.venues
    found: dict[str, None] = {}
    taken: set[int] = set()
    for first in range(len(words)):
        for last in range(min(len(words), first + LONGEST_VENUE), first, -1):
            venues = known.get(" ".join(word.plain for word in words[first:last]))
            if venues and first not in taken and _names_venue(words, first, last):
                found |= dict.fromkeys(venues)
                taken |= set(range(first, last))
                break
    return tuple(found), taken


def _names_venue(words: Sequence[_Word], first: int, last: int) -> bool:
    """Return True if words that a venue is called by are meant so: "acl" alone may be a ligament."""
    has_year = last < len(words) and bool(_YEAR.fullmatch(words[last].plain))
    return last - first > 1 or has_year or words[first].is_in_capitals


def _years(corpus: Corpus, text: str, words: Sequence[_Word], of_venues: set[int]) -> tuple[int, ...]:
    """Return the years that are named: of "WMT 2014" and "CoNLL-2003" they belong to a name."""
    known = corpus.statistics.year_counts()

    def names_year(at: int) -> bool:
        word, before = words[at], words[at - 1] if at else None
        if not _YEAR.fullmatch(word.plain) or int(word.plain) not in known:
            return False
        stands_alone = not text[: word.start][-1:].strip("\"'“(,;")
        return stands_alone and (not before or at - 1 in of_venues or not before.is_name_by_its_capitals)

    return tuple(dict.fromkeys(int(words[at].plain) for at in range(len(words)) if names_year(at)))


class _Authors:
    """The authors that a query names: by given name or initials and family name, or by the family name."""

    def __init__(self, corpus: Corpus, text: str, words: Sequence[_Word]) -> None:
        self._names = corpus.lexicon.authors
        self._titles = corpus.lexicon.title_words
        self._usual = max(1, corpus.count_papers() // _TITLES_PER_USUAL_WORD)
        self._text = text
        self._words = words
        subject = [word for word in words if word.plain not in stop_words()]
        self._is_title_case = all(word.is_capitalised for word in subject)

    def find(self, taken: set[int]) -> tuple[tuple[str, ...], set[int]]:
        """Return the names, and which words spell them; words `taken` spell none."""
        found: dict[str, None] = {}
        spelling: set[int] = set()
        for at in range(len(self._words)):
            if at not in spelling and (length := self._length_of_name(at, taken)):
                found |= dict.fromkeys(self._called(at, length))
                spelling |= set(range(at, at + length))
        return tuple(found), spelling

    def _length_of_name(self, at: int, taken: set[int]) -> int:
        """Return how many words from one on are somebody's name, 0 if that is none's."""
        for length in range(min(LONGEST_PERSON, len(self._words) - at), 0, -1):
            own = set(range(at, at + length))
            if own.isdisjoint(taken) and self._may_be_name(at, length) and self._called(at, length):
                return length
        return 0

    def _called(self, at: int, length: int) -> tuple[str, ...]:
        plain = [word.plain for word in self._words[at : at + length]]
        return self._names.called(plain) if length > 1 else self._names.of_family(plain[0])

    def _may_be_name(self, at: int, length: int) -> bool:
        words = self._words[at : at + length]
        if length == 1:
            return self._may_be_family(at)
        if not self._is_together(words):
            return False
        if length == len(self._words):
            return True
        if any(word.plain in stop_words() and not word.is_capitalised for word in words):
            return False
        if any(len(word.plain) == 1 and not word.is_capitalised for word in words):
            return False
        are_capitalised = all(word.is_capitalised for word in words)
        return (are_capitalised and not self._is_title_case) or not all(map(self._is_usual, words))

    def _may_be_family(self, at: int) -> bool:
        word, after = self._words[at], [one.plain for one in self._words[at + 1 : at + 3]]
        if len(word.plain) < SHORTEST_FAMILY or word.plain in stop_words():
            return False
        if after == ["et", "al"]:
            return True
        if self._is_usual(word) or (word.is_in_capitals and len(self._words) > 1):
            return False
        if len(self._words) == 1 or (at and word.is_capitalised and not self._is_title_case):
            return True
        return word.plain not in self._titles and not _is_english(word.plain)

    def _is_usual(self, word: _Word) -> bool:
        return (
            len(word.plain) == 1
            or word.plain in stop_words()
            or self._titles.get(word.plain, 0) > self._usual
        )

    def _is_together(self, words: Sequence[_Word]) -> bool:
        gaps = (self._text[one.end : other.start] for one, other in pairwise(words))
        return all(_BETWEEN_NAMES.fullmatch(gap) for gap in gaps)


def _is_english(plain: str) -> bool:
    return plain in stop_words() or plain in ordinary_words() or stem(plain) in ordinary_words()


def _respelt(corpus: Corpus, words: Iterable[_Word]) -> dict[_Word, str]:
    """Return the words that are read as others: those that no text has and a title has nearly."""
    unknown = [word for word in words if _may_be_misspelt(corpus, word)][:MOST_LOOKED_UP]
    readings = {
        word: _nearest_spelling(corpus, word.plain) for word in unknown if not corpus.has_word(word.plain)
    }
    return {word: read for word, read in readings.items() if read}


def _may_be_misspelt(corpus: Corpus, word: _Word) -> bool:
    shortest = SHORTEST_NAME if word.is_name_by_its_capitals else SHORTEST_RESPELT
    return (
        shortest <= len(word.plain) <= LONGEST_WORD
        and word.plain.isascii()
        and word.plain.isalpha()
        and word.plain not in corpus.lexicon.title_words
        and not _is_english(word.plain)
        and not corpus.lexicon.authors.has_family(word.plain)
    )


def _nearest_spelling(corpus: Corpus, plain: str) -> str | None:
    """Return a word taken apart as the texts have it, or else the title word one typing error away."""
    if apart := _taken_apart(corpus, plain):
        return apart
    titles = corpus.lexicon.title_words
    near = [word for word in _one_error_away(plain) if word in titles]
    return max(near, key=lambda word: (titles[word], word), default=None)


def _one_error_away(plain: str) -> Iterator[str]:
    """Yield what a word may have been before one letter was left out, put in, changed or swapped.

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


def _taken_apart(corpus: Corpus, plain: str) -> str | None:
    """Return the two words that the texts write for one: "link bert" for "linkbert"."""
    titles = corpus.lexicon.title_words
    cuts = ((plain[:at], plain[at:]) for at in range(SHORTEST_PART, len(plain) - SHORTEST_PART + 1))
    known = [pair for pair in cuts if all(part in titles and part not in stop_words() for part in pair)]
    known.sort(key=lambda pair: -min(titles[part] for part in pair))
    apart = (" ".join(pair) for pair in known[:MOST_CUTS])
    return next((one for one in apart if corpus.holding(one, Scope(), PHRASES_READ)), None)


def _joined(corpus: Corpus, text: str, words: Sequence[_Word]) -> Iterator[str]:
    """Yield the title words that two neighbours make together: "linkbert" of "Link BERT"."""
    for one, other in pairwise(words):
        joined = one.plain + other.plain
        if (
            len(joined) >= SHORTEST_RESPELT
            and joined in corpus.lexicon.title_words
            and stop_words().isdisjoint((one.plain, other.plain))
            and _BETWEEN_PARTS.fullmatch(text[one.end : other.start])
        ):
            yield joined
