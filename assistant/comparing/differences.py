"""What compared papers have in common and what only one of them names, read from their elements and topics.

Nothing more is claimed: what the elements of a paper do not name may stand elsewhere in its text.
"""

import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, pairwise
from pathlib import Path
from typing import Literal

from assistant.comparing.grid import NOT_STATED, Grid, element_grid
from assistant.comparing.records import ELEMENT_NAMES, Comparison, ElementName
from assistant.comparing.short_forms import KINDS, Key, ShortForms, stemmed
from assistant.phrases import Token, tokens
from assistant.vocabulary import vocabulary
from corpus.records import Paper

_ADVERB = re.compile(r"\w{2,}ly$")
_PARTICIPLE = re.compile(r"\w{2,}(?:ed|ing)$")
LONGEST_TERM = 3
LONGEST_NAME = 6
MOST_COMMON = 12
MOST_ALONE = 5

TermKind = Literal["task", "method", "dataset", "metric", "term"]


@dataclass(frozen=True, slots=True)
class NamedThing:
    """A task, method, data set, metric or other term, as the texts write it, and the papers that name it.

    `described`: the description of the proposed work names it too.
    """

    text: str
    kind: TermKind
    labels: tuple[int, ...]
    described: bool = False


@dataclass(frozen=True, slots=True)
class ElementStated:
    """Which papers state an element and which do not; papers that could not be read are in neither.

    `weak` are those of `not_stated` for which something was written that the text does not carry.
    """

    name: ElementName
    stated: tuple[int, ...]
    not_stated: tuple[int, ...]
    weak: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Differences:
    """What more than half of the papers name, the most common first, and what one alone names, by its label.

    `papers` are the labels of all whose elements could be read; `absence` is what the grid's empty cells say.
    """

    papers: tuple[int, ...]
    common: tuple[NamedThing, ...]
    alone: tuple[tuple[int, tuple[NamedThing, ...]], ...]
    elements: tuple[ElementStated, ...]
    absence: str = NOT_STATED

    @property
    def has_any(self) -> bool:
        """Tell whether there is anything to show: a paper states an element, or has a topic."""
        named = self.common or any(things for _, things in self.alone)
        return bool(named or any(one.stated for one in self.elements))


def differences(comparison: Comparison) -> Differences:
    """Return what is common to the papers of a comparison, and what only one of them names or states."""
    grid = element_grid(comparison)
    papers = {one.label: one.paper for one in comparison.evidence.papers}
    texts = {
        row.label: [cell.text for cell in row.cells if cell.is_stated]
        for row in grid.papers
        if not row.problem
    }
    short = ShortForms([*papers.values()], [comparison.about, *chain.from_iterable(texts.values())])
    read = {label: _Named(stated, short, papers[label]) for label, stated in texts.items()}
    things = _Things(read, _Named([comparison.about], short))
    return Differences(
        papers=tuple(read),
        common=tuple(things.common()),
        alone=tuple((label, tuple(things.alone(label))) for label in read),
        elements=tuple(_stated(grid, name) for name in ELEMENT_NAMES),
        absence=grid.absence,
    )


def _stated(grid: Grid, name: ElementName) -> ElementStated:
    read = {row.label: row.cell(name) for row in grid.papers if not row.problem}
    return ElementStated(
        name,
        tuple(label for label, cell in read.items() if cell.is_stated),
        tuple(label for label, cell in read.items() if not cell.is_stated),
        tuple(label for label, cell in read.items() if cell.is_weak),
    )


class _Named:
    """What one text names: the runs of words in its elements, and its topics."""

    def __init__(self, texts: Sequence[str], short: ShortForms, paper: Paper | None = None) -> None:
        topics, people = (paper.topics, paper.authors) if paper else ((), ())
        self._short = short
        self.topics = {short.key(topic.name): topic for topic in topics if topic.kind in KINDS}
        # How a term is written in the elements, with how often, by its stems.
        self.terms: dict[Key, Counter[str]] = defaultdict(Counter)
        # A title's words are its paper's own; they weigh, but alone they are nothing that its elements name.
        self._title = set(_windows(short.key(paper.title))) if paper else set()
        self._runs: set[Key] = set(self.topics)
        # "Smith et al. propose": the authors' names are in every text that others tell of them.
        self._authors = {stemmed(word) for one in people for word in one.family.lower().split()}
        for text in texts:
            for words in _unbroken(text):
                self._read(text, words)

    def names(self, key: Key) -> bool:
        return key in self._runs

    def weight(self, key: Key) -> tuple[bool, int]:
        """Return how much it names something, to be compared; nothing it names but once weighs much."""
        mentions = self.terms[key].total() if key in self.terms else 0
        return key in self.topics, (mentions + 2 * (key in self._title)) * len(key)

    def is_own(self, key: Key) -> bool:
        """Tell whether it is more to the text than a word said in passing."""
        return key in self.topics or key in self._title or self.terms[key].total() > 1 or len(key) == 1

    def _read(self, text: str, words: Sequence[Token]) -> None:
        stems = [self._short.written_out(token) for token in words]
        subject = [_is_subject(token, before) for before, token in pairwise((None, *words)) if token]
        for first in range(len(words)):
            for last in range(first, min(first + LONGEST_NAME, len(words))):
                key, run = tuple(chain.from_iterable(stems[first : last + 1])), words[first : last + 1]
                # Whoever says "NMT" has named machine translation.
                self._runs.update(_windows(key) if len(key) > len(run) else (key,))
                if all(subject[first : last + 1]) and _is_term(run) and not self._authors & {*key}:
                    self.terms[key][text[run[0].start : run[-1].end]] += 1


class _Things:
    """What the papers name, by what it is and by who names it."""

    def __init__(self, papers: Mapping[int, _Named], described: _Named) -> None:
        self._papers = papers
        self._described = described

    def common(self) -> Iterator[NamedThing]:
        """Yield what more than half of the papers name, the most common first."""
        labels = {key: self._naming(key) for key in _keys(self._papers.values())}
        wide = [key for key, found in labels.items() if len(found) > 1 and 2 * len(found) > len(self._papers)]
        wide.sort(key=lambda key: (-len(labels[key]), -len(key), key))
        whole = _without_parts(wide, labels)
        yield from (self._thing(key, labels[key]) for key in whole[:MOST_COMMON])

    def alone(self, label: int) -> Iterator[NamedThing]:
        """Yield what one paper names and no other does, what is most its own first."""
        one = self._papers[label]
        keys = [key for key in _keys([one]) if one.is_own(key) and self._naming(key) == (label,)]
        keys.sort(key=lambda key: (one.weight(key), key), reverse=True)
        whole = _apart(_without_parts(keys, dict.fromkeys(keys, (label,))))
        yield from (self._thing(key, (label,)) for key in whole[:MOST_ALONE])

    def _naming(self, key: Key) -> tuple[int, ...]:
        return tuple(label for label, one in self._papers.items() if one.names(key))

    def _thing(self, key: Key, labels: tuple[int, ...]) -> NamedThing:
        papers = [self._papers[label] for label in labels]
        topics = [one.topics[key] for one in papers if key in one.topics]
        written = sum((one.terms[key] for one in papers if key in one.terms), Counter[str]())
        kind: TermKind = topics[0].kind if topics and topics[0].kind != "field" else "term"
        text = topics[0].name if topics else _usual(written)
        return NamedThing(text, kind, labels, self._described.names(key))


def _keys(papers: Iterable[_Named]) -> dict[Key, None]:
    return {key: None for one in papers for key in (*one.topics, *one.terms)}


def _without_parts(keys: Sequence[Key], labels: Mapping[Key, tuple[int, ...]]) -> list[Key]:
    """Return keys in their order, without those that stand within another that as many papers name."""
    parts = {
        part
        for key in keys
        for part in _windows(key)
        if part != key and part in labels and set(labels[part]) <= set(labels[key])
    }
    return [key for key in keys if key not in parts]


def _apart(keys: Iterable[Key]) -> list[Key]:
    """Return keys in their order, without those that mostly repeat the words of one before."""
    kept: list[Key] = []
    for key in keys:
        if not any(2 * len(set(key) & set(before)) >= len(key) for before in kept):
            kept.append(key)
    return kept


def _windows(key: Key) -> Iterator[Key]:
    return (key[first:last] for first in range(len(key)) for last in range(first + 1, len(key) + 1))


def _usual(written: Counter[str]) -> str:
    """Return how a term is written most often, without a capital that only a sentence's beginning made."""
    usual = min(written, key=lambda text: (-written[text], text))
    lowered = f"{usual[0].lower()}{usual[1:]}"
    return lowered if lowered in written else usual


def _unbroken(text: str) -> Iterator[list[Token]]:
    """Yield the words of a text in runs that no mark interrupts."""
    words = tokens(text)
    run = words[:1]
    for before, token in pairwise(words):
        if text[before.end : token.start].strip():
            yield run
            run = []
        run.append(token)
    if run:
        yield run


def _is_term(words: Sequence[Token]) -> bool:
    """Tell whether words of the subject name something: a name, or several words in a row."""
    if len(words) > LONGEST_TERM:
        return False
    if len(words) == 1:
        return _is_name(words[0])
    first, last = words[0], words[-1]
    if first.word in _lists()["qualifying"] or _PARTICIPLE.match(first.word) or last.word.endswith("ed"):
        return False
    return any(word.word not in _lists()["everyday"] for word in words)


def _is_subject(token: Token, before: Token | None) -> bool:
    """Tell whether a word is about the subject, by itself and by the word before it."""
    if token.text.isupper() and len(token.text) > 1:
        return True
    is_word = len(token.text) > 1 and not token.text[0].isdigit() and "." not in token.text
    if not is_word or token.word in _lists()["small"] or _ADVERB.match(token.word):
        return False
    base = token.word.removesuffix("s")
    if not {token.word, base} & vocabulary().verbs:
        return True
    # "Rank" names something in "rank fusion", and nothing in "we rank" and "to rank".
    return base in _lists()["nouns_too"] and (before is None or before.word not in _lists()["before_verbs"])


def _is_name(token: Token) -> bool:
    """Tell whether a word is a name: a capital in it that no sentence's beginning made."""
    return "-" not in token.text and any(letter.isupper() for letter in token.text[1:])


@cache
def _lists() -> Mapping[str, frozenset[str]]:
    known = vocabulary()
    own = tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8"))
    small = known.function | known.generic | known.frame | known.judging | known.finding
    return {
        "qualifying": frozenset(own["qualifying"].split()),
        "everyday": frozenset(own["everyday"].split()) | known.aspects,
        "before_verbs": frozenset(own["before_verbs"].split()),
        "nouns_too": frozenset(own["nouns_too"].split()),
        "small": small | frozenset(own["verbs"].split()),
    }
