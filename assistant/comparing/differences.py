"""Similarities and differences of compared papers, from their elements and topics.

What the elements of a paper do not name may be elsewhere in its text.
"""

import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache
from itertools import chain, pairwise
from pathlib import Path
from typing import Literal

from assistant.comparing.grid import NOT_STATED, Grid, element_grid
from assistant.comparing.records import ELEMENT_NAMES, Comparison
from assistant.questions.phrases import Token, tokens
from assistant.questions.vocabulary import vocabulary
from assistant.records import ElementName
from corpus.language.stemming import stem
from corpus.records import Paper, TopicKind

KINDS: tuple[TopicKind, ...] = ("task", "method", "dataset", "metric")
# "NMT", "PLMs", "nDCG@10": the part after @ is a parameter of the measure.
_SHORT = re.compile(r"([A-Za-z]{2,8})(?:@\w{1,4})?")
_BRACKETS = re.compile(r"([^()\n]{1,200})\(([^()\n]{1,120})\)")
_LONGEST = 8  # words before the brackets
Key = tuple[str, ...]
_ADVERB = re.compile(r"\w{2,}ly$")
_PARTICIPLE = re.compile(r"\w{2,}(?:ed|ing)$")
LONGEST_TERM = 3
LONGEST_NAME = 6
# The most words of a run.
LONGEST_WINDOW = 30
MOST_COMMON = 12
MOST_ALONE = 5

TermKind = Literal["task", "method", "dataset", "metric", "term"]


@dataclass(frozen=True, slots=True)
class NamedThing:
    """A task, method, data set, metric or other term in the texts' spelling, and the papers that name it.

    `described`: the description of the proposed work names it too.
    """

    text: str
    kind: TermKind
    labels: tuple[int, ...]
    described: bool = False


@dataclass(frozen=True, slots=True)
class ElementStated:
    """The papers that state an element and those that do not, without unreadable ones.

    `weak` are those of `not_stated` for which an unsupported text was written.
    """

    name: ElementName
    stated: tuple[int, ...]
    not_stated: tuple[int, ...]
    weak: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Differences:
    """The things that most papers name, the most common first, and those that only one names.

    `papers` are the labels of those whose elements could be read; `absence` is the text of empty grid cells.
    """

    papers: tuple[int, ...]
    common: tuple[NamedThing, ...]
    alone: tuple[tuple[int, tuple[NamedThing, ...]], ...]
    elements: tuple[ElementStated, ...]
    absence: str = NOT_STATED

    @property
    def has_any(self) -> bool:
        """Return True if there is anything to show: a paper states an element, or has a topic."""
        named = self.common or any(things for _, things in self.alone)
        return bool(named or any(element.stated for element in self.elements))


def differences(comparison: Comparison) -> Differences:
    """Find the things and elements that the papers share and those only one has."""
    grid = element_grid(comparison)
    papers = {labelled.label: labelled.paper for labelled in comparison.evidence.papers}
    stated = {
        row.label: ([cell.text for cell in row.cells if cell.is_stated], papers[row.label])
        for row in grid.papers
        if not row.problem
    }
    things = NamedThings(stated, comparison.about)
    return Differences(
        papers=tuple(stated),
        common=tuple(things.common(stated.keys())),
        alone=tuple((label, tuple(things.alone(label))) for label in stated),
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
    """The names in one text: the word sequences of its elements, and its topics."""

    def __init__(self, texts: Sequence[str], short: "ShortForms", paper: Paper | None = None) -> None:
        topics, people = (paper.topics, paper.authors) if paper else ((), ())
        self._short = short
        self.topics = {short.key(topic.name): topic for topic in topics if topic.kind in KINDS}
        # The spellings of a term in the elements, with their counts, by its stems.
        self.terms: dict[Key, Counter[str]] = defaultdict(Counter)
        # Words of the title add weight, but a term has to be in the elements or topics.
        self._title = set(_windows(short.key(paper.title))) if paper else set()
        self._runs: set[Key] = set(self.topics)
        # Texts about a paper name its authors: "Smith et al. propose".
        self._authors = {stem(word) for author in people for word in author.family.lower().split()}
        for text in texts:
            for words in _unbroken(text):
                self._read(text, words)

    def names(self, key: Key) -> bool:
        return key in self._runs

    def weight(self, key: Key) -> tuple[bool, int]:
        """Return a sort key of how prominently the paper names `key`."""
        mentions = self.terms[key].total() if key in self.terms else 0
        return key in self.topics, (mentions + 2 * (key in self._title)) * len(key)

    def is_own(self, key: Key) -> bool:
        """Return True if the term is a topic, a single word, in the title, or mentioned twice."""
        return key in self.topics or key in self._title or self.terms[key].total() > 1 or len(key) == 1

    def _read(self, text: str, words: Sequence[Token]) -> None:
        stems = [self._short.written_out(token) for token in words]
        subject = [_is_subject(token, before) for before, token in pairwise((None, *words)) if token]
        for first in range(len(words)):
            for last in range(first, min(first + LONGEST_NAME, len(words))):
                key, run = tuple(chain.from_iterable(stems[first : last + 1])), words[first : last + 1]
                # "NMT" also names machine translation.
                self._runs.update(_windows(key) if len(key) > len(run) else (key,))
                if all(subject[first : last + 1]) and _is_term(run) and not self._authors & {*key}:
                    self.terms[key][text[run[0].start : run[-1].end]] += 1


class NamedThings:
    """The things that papers name; each paper is given by its label, element texts and record."""

    def __init__(self, papers: Mapping[int, tuple[Sequence[str], Paper]], about: str) -> None:
        texts = chain.from_iterable(stated for stated, _ in papers.values())
        short = ShortForms([paper for _, paper in papers.values()], [about, *texts])
        self._papers = {label: _Named(stated, short, paper) for label, (stated, paper) in papers.items()}
        self._described = _Named([about], short)

    def common(self, among: Set[int]) -> Iterator[NamedThing]:
        """Yield the things that more than half of the papers in `among` name, the most common first."""
        labels = {key: self._naming(key) for key in _keys(self._papers[label] for label in among)}
        within = {key: len(among & set(found)) for key, found in labels.items()}
        wide = [key for key, count in within.items() if count > 1 and 2 * count > len(among)]
        wide.sort(key=lambda key: (-len(labels[key]), -len(key), key))
        whole = _without_parts(wide, labels)
        yield from (self._thing(key, labels[key]) for key in whole[:MOST_COMMON])

    def alone(self, label: int) -> Iterator[NamedThing]:
        """Yield the things that only this paper names, the most characteristic first."""
        named = self._papers[label]
        keys = [key for key in _keys([named]) if named.is_own(key) and self._naming(key) == (label,)]
        keys.sort(key=lambda key: (named.weight(key), key), reverse=True)
        whole = _apart(_without_parts(keys, dict.fromkeys(keys, (label,))))
        yield from (self._thing(key, (label,)) for key in whole[:MOST_ALONE])

    def _naming(self, key: Key) -> tuple[int, ...]:
        return tuple(label for label, named in self._papers.items() if named.names(key))

    def _thing(self, key: Key, labels: tuple[int, ...]) -> NamedThing:
        papers = [self._papers[label] for label in labels]
        topics = [named.topics[key] for named in papers if key in named.topics]
        written = sum((named.terms[key] for named in papers if key in named.terms), Counter[str]())
        kind: TermKind = topics[0].kind if topics and topics[0].kind != "field" else "term"
        text = topics[0].name if topics else _usual(written)
        return NamedThing(text, kind, labels, self._described.names(key))


def _keys(papers: Iterable[_Named]) -> dict[Key, None]:
    return {key: None for paper in papers for key in (*paper.topics, *paper.terms)}


def _without_parts(keys: Sequence[Key], labels: Mapping[Key, tuple[int, ...]]) -> list[Key]:
    """Return keys without those that are part of another that at least the same papers name."""
    parts = {
        part
        for key in keys
        for part in _windows(key)
        if part != key and part in labels and set(labels[part]) <= set(labels[key])
    }
    return [key for key in keys if key not in parts]


def _apart(keys: Iterable[Key]) -> list[Key]:
    """Return keys without those of which at least half the words are in an earlier one."""
    kept: list[Key] = []
    for key in keys:
        if not any(2 * len(set(key) & set(before)) >= len(key) for before in kept):
            kept.append(key)
    return kept


def _windows(key: Key) -> Iterator[Key]:
    """Yield the runs of at most LONGEST_WINDOW words of a key."""
    ends = range(1, LONGEST_WINDOW + 1)
    return (
        key[first : first + size] for first in range(len(key)) for size in ends if first + size <= len(key)
    )


def _usual(written: Counter[str]) -> str:
    """Return the most frequent spelling of a term, without a capital that only begins a sentence."""
    usual = min(written, key=lambda text: (-written[text], text))
    lowered = f"{usual[0].lower()}{usual[1:]}"
    return lowered if lowered in written else usual


def _unbroken(text: str) -> Iterator[list[Token]]:
    """Yield the runs of words of a text that are separated by white space only."""
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
    """Return True if subject words form a term: a name, or several words."""
    if len(words) > LONGEST_TERM:
        return False
    if len(words) == 1:
        return "-" not in words[0].text and any(letter.isupper() for letter in words[0].text[1:])
    first, last = words[0], words[-1]
    if first.word in _lists()["qualifying"] or _PARTICIPLE.match(first.word) or last.word.endswith("ed"):
        return False
    return any(word.word not in _lists()["everyday"] for word in words)


def _is_subject(token: Token, before: Token | None) -> bool:
    """Return True if a word may be part of a term, judged by itself and the word before it."""
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


@cache
def _lists() -> Mapping[str, frozenset[str]]:
    known = vocabulary()
    lists = tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8"))
    small = known.function | known.generic | known.frame | known.judging | known.finding
    return {
        "qualifying": frozenset(lists["qualifying"].split()),
        "everyday": frozenset(lists["everyday"].split()) | known.aspects,
        "before_verbs": frozenset(lists["before_verbs"].split()),
        "nouns_too": frozenset(lists["nouns_too"].split()),
        "small": small | frozenset(lists["verbs"].split()),
    }


class ShortForms:
    """Short forms that papers or texts explain, "X Y (XY)", or that are the initials of a topic.

    Ambiguous ones are not resolved.
    """

    def __init__(self, papers: Sequence[Paper], texts: Iterable[str]) -> None:
        named = [topic.name for paper in papers for topic in paper.topics if topic.kind in KINDS]
        whole = [*texts, *named, *chain.from_iterable((paper.title, paper.abstract) for paper in papers)]
        explained = _collected(pair for text in whole for pair in _explained(text))
        # Unexplained initials must cover every part: "ML" is not multi-task learning.
        several = [name for name in named if " " in name]
        initials = _collected(
            (short, name) for name in several for short in _initials(name.replace("-", " ").split())
        )
        self._long: Mapping[str, Key] = {**initials, **explained}
        self._apart = _written_apart(whole)

    def written_out(self, token: Token) -> Key:
        """Return the stems of a word, or of the long form of a short form or compound."""
        short, stemmed = _short(token.text), stem(token.word)
        return (self._long.get(short) if short else None) or self._apart.get(stemmed, (stemmed,))

    def key(self, name: str) -> Key:
        """Return the stems of a name with short forms written out."""
        return tuple(chain.from_iterable(self.written_out(token) for token in tokens(name)))


def _written_apart(texts: Iterable[str]) -> dict[str, Key]:
    """Return the parts of words that texts also write apart: "code-mixing" is "code mixing"."""
    words_seen, apart = set[str](), dict[str, Key]()
    for text in texts:
        stemmed = [(stem(token.word), token.word) for token in tokens(text)]
        words_seen.update(whole for whole, _ in stemmed)
        apart.update({first[1] + second[0]: (first[0], second[0]) for first, second in pairwise(stemmed)})
    return {whole: parts for whole, parts in apart.items() if whole in words_seen}


def _collected(pairs: Iterable[tuple[str, str]]) -> dict[str, Key]:
    """Map each short form to its full name, leaving out ambiguous ones."""
    names: dict[str, set[Key]] = defaultdict(set)
    for short, name in pairs:
        names[short].add(tuple(stem(token.word) for token in tokens(name)))
    return {short: keys.pop() for short, keys in names.items() if len(keys) == 1}


def _explained(text: str) -> Iterator[tuple[str, str]]:
    """Yield the short forms that a text explains, with the longer name; either may be in brackets."""
    for before, within in _BRACKETS.findall(text):
        words = before.split()
        for count in range(2, min(len(words), _LONGEST) + 1):
            if _short(within) in _initials(words[-count:]):
                yield _short(within), " ".join(words[-count:])
                break
        if words and _short(words[-1]) in _initials(within.split()):
            yield _short(words[-1]), within


def _initials(words: Sequence[str]) -> set[str]:
    """Return the initials of a name, with and without function words, "pre-trained" as one word or two."""
    if len(words) < 2 and not any("-" in word for word in words):
        return set()
    result = set()
    for parts in (words, " ".join(words).replace("-", " ").split()):
        weighty = [word for word in parts if word.lower() not in vocabulary().function]
        # A name neither begins nor ends with a function word: "of the (OT)" explains nothing.
        if weighty and weighty[0] == parts[0] and weighty[-1] == parts[-1]:
            result |= {"".join(word[0] for word in some).lower() for some in (parts, weighty)}
    return {letters for letters in result if len(letters) > 1}


def _short(word: str) -> str:
    """Return the letters of a possible short form in lower case, "" for any other word."""
    match = _SHORT.fullmatch(word.strip())
    if not match or sum(letter.isupper() for letter in match[1]) < 2:
        return ""
    letters = match[1].removesuffix("s") if match[1][:-1].isupper() else match[1]
    return letters.lower()
