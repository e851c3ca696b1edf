"""The words of titles, the names of authors and those of venues: what a query may name.

Made once of a snapshot's papers, in Arrow (a million papers take some seconds), and then looked up in memory:
nothing here reads a table for a query.
"""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from corpus.language.abbreviations import Abbreviations, agreed_abbreviations, find_abbreviations
from corpus.store.statistics import Statistics
from corpus.store.tables import scan

# Sorts before whatever a name is written with.
_END = "\x1f"
_LAST = "\U0010ffff"
_SUFFIX = rf"^\s*([^,{_END}]*?)\s*,\s*([^\s{_END}][^{_END}]*?)\s*{_END}(.+)$"
# Whoever shares a name with more people cannot be meant by it.
MOST_NAMES = 200
_SHORTEST_ACRONYM = 2
# Papers that must spell out an abbreviation.
SPELLING_OUT = 2
# Brackets with capitals in them, or behind a word with capitals: only these may spell out an abbreviation.
_MAY_ABBREVIATE = r"\([^()]*\p{Lu}[^()]*\p{Lu}|\p{Lu}\w*\p{Lu}\w* ?\("
_PLAIN_WORD = re.compile(r"[^\W_]+")
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]+")


def plain_words(text: str) -> list[str]:
    """Return the runs of letters and digits of a text as they are looked up: lower case, without accents."""
    folded = unicodedata.normalize("NFD", unicodedata.normalize("NFKC", text).lower())
    return _PLAIN_WORD.findall(_BEYOND_ASCII.sub(_without_marks, folded))


def _without_marks(run: re.Match[str]) -> str:
    return "".join(character for character in run[0] if unicodedata.category(character)[0] != "M")


def plain_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the `plain_words` of each text, with spaces between."""
    folded = pc.utf8_normalize(pc.utf8_lower(pc.utf8_normalize(column, "NFKC")), "NFD")
    bare = pc.replace_substring_regex(folded, r"\pM+", "")
    return pc.utf8_trim(pc.replace_substring_regex(bare, r"[^\pL\pN]+", " "), " ")


@dataclass(frozen=True, slots=True)
class AuthorNames:
    """The names of all authors, sorted by family name and then given name; the two run parallel.

    `keys` are plain, with a mark between family name and given name; `names` are as `Author.name` has them.
    """

    keys: pa.Array
    names: pa.Array

    def has_family(self, family: str) -> bool:
        return self._first(family + _END) < self._first(family + _END + _LAST)

    def of_family(self, family: str) -> tuple[str, ...]:
        """Return the names of those with a family name, none where there are too many to mean anybody."""
        first, last = self._first(family + _END), self._first(family + _END + _LAST)
        return tuple(self.names[first:last].to_pylist()) if last - first <= MOST_NAMES else ()

    def called(self, words: Sequence[str]) -> tuple[str, ...]:
        """Return the names that plain words spell: given name or initials, and family name, either first."""
        found: dict[str, None] = {}
        for cut in range(1, len(words)):
            found |= dict.fromkeys(self._named(words[:cut], words[cut:]))
            found |= dict.fromkeys(self._named(words[cut:], words[:cut]))
        return tuple(found)[:MOST_NAMES]

    def _named(self, given: Sequence[str], family: Sequence[str]) -> Iterable[str]:
        # Whoever is asked for by the whole name may be listed by the initial.
        start = " ".join(family) + _END + given[0][0]
        for row in range(self._first(start), self._first(start + _LAST)):
            own = self.keys[row].as_py().partition(_END)[2].split(" ")
            if _is_given_name(given, own):
                yield self.names[row].as_py()

    def _first(self, key: str) -> int:
        return bisect_left(range(len(self.keys)), key, key=lambda row: self.keys[row].as_py())


def _is_given_name(asked: Sequence[str], own: Sequence[str]) -> bool:
    """Return True if the first names agree, and middle names where both have some."""
    first, *middle = asked
    pairs = zip(middle, own[1:], strict=False)
    return _agree(first, own[0]) and all(_agree(one, other) for one, other in pairs)


def _agree(one: str, other: str) -> bool:
    return one == other or (1 in (len(one), len(other)) and one[0] == other[0])


class Lexicon:
    """The names in the papers of a published corpus; each part is computed on first use."""

    def __init__(self, tables: Mapping[str, Any], statistics: Statistics) -> None:
        self._papers = tables["papers"]
        self._statistics = statistics

    @cached_property
    def title_words(self) -> Mapping[str, int]:
        """The plain words of titles, and how often each occurs."""
        titles = plain_text(scan(self._papers, ["title"])["title"])
        counted = pc.value_counts(pc.list_flatten(pc.split_pattern(titles, " ")))
        pairs = zip(counted.field("values").to_pylist(), counted.field("counts").to_pylist(), strict=True)
        return {word: count for word, count in pairs if word}

    @cached_property
    def title_names(self) -> Mapping[str, str]:
        """The words that a title writes with a capital inside ("LinkBERT", "BERT"), by their plain form."""
        titles = pc.split_pattern_regex(scan(self._papers, ["title"])["title"], r"[^\pL\pN]+")
        forms = pc.unique(pc.list_flatten(titles))
        named = forms.filter(pc.match_substring_regex(forms, r".\p{Lu}"))
        return {word: form for form in sorted(named.to_pylist()) for word in plain_words(form)}

    @cached_property
    def abbreviations(self) -> Abbreviations:
        """The abbreviations that titles and abstracts spell out, where the papers agree on their meaning.

        An abbreviation that one paper alone spells out is mostly the name of what it presents.
        """
        papers = scan(self._papers, ["title", "abstract"])
        texts = pc.binary_join_element_wise(papers["title"], papers["abstract"], "\n")
        spelling_out = texts.filter(pc.match_substring_regex(texts, _MAY_ABBREVIATE))
        return agreed_abbreviations(map(find_abbreviations, spelling_out.to_pylist()), SPELLING_OUT)

    @cached_property
    def authors(self) -> AuthorNames:
        """The names of all authors."""
        people = pc.list_flatten(scan(self._papers, ["authors"])["authors"]).combine_chunks()
        given, family = people.field("given"), people.field("family")
        keys = pc.binary_join_element_wise(plain_text(family), plain_text(given), _END)
        # As `Author.name` has them, with "Jr." behind the family name.
        joined = pc.binary_join_element_wise(given, family, _END)
        ordered = pc.replace_substring_regex(joined, _SUFFIX, r"\1 \3 \2")
        names = pc.utf8_trim(pc.replace_substring(ordered, _END, " "), " ")
        table = pa.table({"key": keys, "name": names}).group_by(["key", "name"]).aggregate([])
        table = table.sort_by([("key", "ascending"), ("name", "ascending")]).combine_chunks()
        return AuthorNames(_one_array(table["key"]), _one_array(table["name"]))

    @cached_property
    def venues(self) -> Mapping[str, tuple[str, ...]]:
        """The venues by each of their names, plain and without numbers: the whole one, and acronyms."""
        named: dict[str, dict[str, None]] = {}
        for venue in self._statistics.venue_counts():
            whole = " ".join(word for word in plain_words(venue) if not word.isdecimal())
            acronyms = (word.lower() for word in venue.split() if _is_acronym(word))
            for name in filter(None, (whole, *acronyms)):
                named.setdefault(name, {})[venue] = None
        return {name: tuple(venues) for name, venues in named.items()}


def _is_acronym(word: str) -> bool:
    return word.isalpha() and word.isupper() and len(word) >= _SHORTEST_ACRONYM


def _one_array(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks else pa.array([], column.type)
