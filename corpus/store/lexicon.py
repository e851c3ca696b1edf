"""Title words, author names and venue names that a query may contain.

They are made once per snapshot, in Arrow (seconds for a million papers), and then looked up in memory.
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

# Sorts before all characters of names.
_END = "\x1f"
_LAST = "\U0010ffff"
_SUFFIX = rf"^\s*([^,{_END}]*?)\s*,\s*([^\s{_END}][^{_END}]*?)\s*{_END}(.+)$"
# A name that more people share does not tell who is meant.
MOST_NAMES = 200
_SHORTEST_ACRONYM = 2
# The fewest papers that have to spell out an abbreviation.
SPELLING_OUT = 2
# Brackets with capitals in them, or behind a word with capitals: only these may spell out an abbreviation.
_MAY_ABBREVIATE = r"\([^()]*\p{Lu}[^()]*\p{Lu}|\p{Lu}\w*\p{Lu}\w* ?\("
_PLAIN_WORD = re.compile(r"[^\W_]+")
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]+")


def plain_words(text: str) -> list[str]:
    """Return the runs of letters and digits of a text in lower case, without accents, to look them up."""
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
        """Return the authors with a family name; none if too many share it to mean one of them."""
        first, last = self._first(family + _END), self._first(family + _END + _LAST)
        return tuple(self.names[first:last].to_pylist()) if last - first <= MOST_NAMES else ()

    def called(self, words: Sequence[str]) -> tuple[str, ...]:
        """Return the names that plain words spell: given name or initials and family name, in any order."""
        found: dict[str, None] = {}
        for cut in range(1, len(words)):
            found |= dict.fromkeys(self._named(words[:cut], words[cut:]))
            found |= dict.fromkeys(self._named(words[cut:], words[:cut]))
        return tuple(found)[:MOST_NAMES]

    def _named(self, given: Sequence[str], family: Sequence[str]) -> Iterable[str]:
        # A query may have the whole given name where a paper has only the initial.
        start = " ".join(family) + _END + given[0][0]
        for row in range(self._first(start), self._first(start + _LAST)):
            listed = self.keys[row].as_py().partition(_END)[2].split(" ")
            # Middle names are compared where both have some.
            middle = zip(given[1:], listed[1:], strict=False)
            if _agree(given[0], listed[0]) and all(_agree(one, other) for one, other in middle):
                yield self.names[row].as_py()

    def _first(self, key: str) -> int:
        return bisect_left(range(len(self.keys)), key, key=lambda row: self.keys[row].as_py())


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
        """The title words with a capital inside ("LinkBERT", "BERT"), by their plain form."""
        titles = pc.split_pattern_regex(scan(self._papers, ["title"])["title"], r"[^\pL\pN]+")
        forms = pc.unique(pc.list_flatten(titles))
        named = forms.filter(pc.match_substring_regex(forms, r".\p{Lu}"))
        return {word: form for form in sorted(named.to_pylist()) for word in plain_words(form)}

    @cached_property
    def abbreviations(self) -> Abbreviations:
        """The abbreviations that titles and abstracts spell out, if the papers agree on the meaning.

        An abbreviation that only one paper spells out is mostly the name of its own system.
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
        # As in `Author.name`, with "Jr." behind the family name.
        joined = pc.binary_join_element_wise(given, family, _END)
        ordered = pc.replace_substring_regex(joined, _SUFFIX, r"\1 \3 \2")
        names = pc.utf8_trim(pc.replace_substring(ordered, _END, " "), " ")
        table = pa.table({"key": keys, "name": names}).group_by(["key", "name"]).aggregate([])
        table = table.sort_by([("key", "ascending"), ("name", "ascending")]).combine_chunks()
        return AuthorNames(_one_array(table["key"]), _one_array(table["name"]))

    @cached_property
    def venues(self) -> Mapping[str, tuple[str, ...]]:
        """The venues by each plain name without numbers: the whole name, and acronyms in it."""
        named: dict[str, dict[str, None]] = {}
        for venue in self._statistics.venue_counts():
            whole = " ".join(word for word in plain_words(venue) if not word.isdecimal())
            capitals = (word for word in venue.split() if word.isalpha() and word.isupper())
            acronyms = (word.lower() for word in capitals if len(word) >= _SHORTEST_ACRONYM)
            for name in filter(None, (whole, *acronyms)):
                named.setdefault(name, {})[venue] = None
        return {name: tuple(venues) for name, venues in named.items()}


def _one_array(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks else pa.array([], column.type)
