"""Interpretation of a query: the papers, people, venues and years it names, and its spelling.

Everything is looked up in the corpus: ids among its papers, names among its authors; a word is corrected only
if no text has it (corpus/search/spelling.py).
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass

from corpus.language.abbreviations import Form
from corpus.language.stemming import stop_words
from corpus.search.people import find_people
from corpus.search.query_words import Span, Word, is_english, words_outside
from corpus.search.spelling import Respelling, Spelling, read_spelling
from corpus.store.corpus import Corpus, Identifiers
from corpus.store.lexicon import plain_words
from corpus.text import storable

# Only this many characters are interpreted; the rest is searched for unchanged.
LONGEST_READ = 2_000
MOST_IDENTIFIERS, MOST_PHRASES, MOST_SYSTEMS, MOST_ABBREVIATIONS = 8, 4, 4, 4
LONGEST_VENUE = 12

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
_YEAR = re.compile(r"(?:19|20)\d\d")
_BESIDE_IDENTIFIERS = frozenset({"acl", "anthology", "arxiv", "doi", "id", "paper"})


@dataclass(frozen=True, slots=True)
class Query:
    """An interpreted query.

    `text` has corrected words (`respelt`); `also` are further spellings ("dataset" for "data set").
    `abbreviations` are the short and long forms of its terms that the corpus defines; `in_full` is the text
    with long forms, which is encoded, and `in_other_forms` has each term in its other form, which is searched
    for too; both are "" without abbreviations. `papers` are the ids of papers that it identifies, `authors`
    and `venues` those that it names, as the corpus writes them, `namesakes` the authors whom a family name
    may mean, `phrases` its quotations, `systems` its words spelled like names of systems and data sets.
    `is_only_names` is True if it consists of ids or quotations only.
    """

    text: str
    also: tuple[str, ...] = ()
    respelt: tuple[Respelling, ...] = ()
    abbreviations: tuple[tuple[str, str], ...] = ()
    in_full: str = ""
    in_other_forms: str = ""
    papers: tuple[str, ...] = ()
    authors: tuple[str, ...] = ()
    namesakes: tuple[str, ...] = ()
    venues: tuple[str, ...] = ()
    years: tuple[int, ...] = ()
    phrases: tuple[str, ...] = ()
    systems: tuple[str, ...] = ()
    is_only_names: bool = False


def read_query(corpus: Corpus, text: str, *, verbatim: bool = False) -> Query:
    """Interpret a query for a corpus; `verbatim` corrects no spelling and expands no abbreviation."""
    text = unicodedata.normalize("NFC", storable(text)).strip()
    head = text[:LONGEST_READ]
    papers, spans = _identified(corpus, head)
    quoted = [quotation for quotation in _QUOTED.finditer(head) if plain_words(quotation[1])][:MOST_PHRASES]
    words = list(words_outside(head, [*spans, *(quotation.span() for quotation in quoted)]))
    venues, of_venues = _venues(corpus, words)
    people = find_people(corpus, head, words, of_venues)
    free = [word for index, word in enumerate(words) if index not in of_venues | people.spelling]
    spelling = Spelling() if verbatim else read_spelling(corpus, head, free)
    forms = () if verbatim else _forms(corpus, head, free, spelling)
    other = [((form.start, form.end), form.other) for form in forms]
    full = [((form.start, form.end), form.long) for form in forms if form.is_short]
    content = [word for word in words if word.plain not in _BESIDE_IDENTIFIERS]
    # A single quoted word within a sentence is not a quotation.
    phrases = tuple(
        quotation[1].strip() for quotation in quoted if len(plain_words(quotation[1])) > 1 or not content
    )
    systems = (word.plain for word in free if word.has_inner_capitals and word.plain not in stop_words())
    is_all_capitals = len(free) > MOST_SYSTEMS and all(word.is_in_capitals for word in free)
    return Query(
        text=spelling.applied(text),
        also=spelling.also,
        respelt=tuple(respelling for _, respelling in spelling.read),
        abbreviations=tuple(dict.fromkeys((form.short, form.long) for form in forms)),
        in_full=spelling.applied(text, full) if full else "",
        in_other_forms=spelling.applied(text, other) if other else "",
        papers=papers,
        authors=people.authors,
        namesakes=people.namesakes,
        venues=venues,
        years=_years(corpus, head, words, of_venues),
        phrases=phrases,
        systems=() if is_all_capitals else tuple(dict.fromkeys(systems))[:MOST_SYSTEMS],
        is_only_names=bool(papers or phrases) and not content,
    )


def _identified(corpus: Corpus, text: str) -> tuple[tuple[str, ...], list[Span]]:
    """Return the papers that a query identifies, and the spans of the ids."""
    papers: dict[str, None] = {}
    spans = []
    for identifiers, span in [*_identifiers(text)][:MOST_IDENTIFIERS]:
        if found := corpus.identified(identifiers):
            papers |= dict.fromkeys(sorted(found))
            spans.append(span)
    return tuple(papers), spans


def _identifiers(text: str) -> Iterator[tuple[Identifiers, Span]]:
    """Yield possible ids with their positions."""
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


def _forms(corpus: Corpus, text: str, free: Sequence[Word], spelling: Spelling) -> tuple[Form, ...]:
    """Return the short and long forms of abbreviations among the free words that were not corrected."""
    starts = {word.start for word in free}
    starts -= {position for (start, end), _ in spelling.read for position in range(start, end)}
    forms = corpus.lexicon.abbreviations.forms_in(text, lambda word: not is_english(word.lower()))
    return tuple(form for form in forms if form.start in starts)[:MOST_ABBREVIATIONS]


def _venues(corpus: Corpus, words: Sequence[Word]) -> tuple[tuple[str, ...], frozenset[int]]:
    """Return the venues that are named in full or by an acronym, and the indices of these words."""
    known = corpus.lexicon.venues
    named: dict[str, None] = {}
    taken: set[int] = set()
    for first in range(len(words)):
        for last in range(min(len(words), first + LONGEST_VENUE), first, -1):
            venues = known.get(" ".join(word.plain for word in words[first:last]))
            # A single word needs capitals or a year after it: "acl" alone may be a ligament.
            has_year = last < len(words) and bool(_YEAR.fullmatch(words[last].plain))
            is_name = last - first > 1 or has_year or words[first].is_in_capitals
            if venues and first not in taken and is_name:
                named |= dict.fromkeys(venues)
                taken.update(range(first, last))
                break
    return tuple(named), frozenset(taken)


def _years(corpus: Corpus, text: str, words: Sequence[Word], of_venues: Set[int]) -> tuple[int, ...]:
    """Return the years that are named, but not those of names such as "WMT 2014" and "CoNLL-2003"."""
    known = corpus.statistics.year_counts()

    def names_year(index: int) -> bool:
        word, before = words[index], words[index - 1] if index else None
        if not _YEAR.fullmatch(word.plain) or int(word.plain) not in known:
            return False
        stands_alone = not text[: word.start][-1:].strip(" \n\t\"'“(,;")
        return stands_alone and (not before or index - 1 in of_venues or not before.has_inner_capitals)

    return tuple(dict.fromkeys(int(words[index].plain) for index in range(len(words)) if names_year(index)))
