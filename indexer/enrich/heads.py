"""Topics that are on no list, classified by their head noun, where a paper repeats or explains them."""

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from corpus.records import TopicKind
from indexer.enrich.names import Named
from indexer.enrich.phrases import Phrases, is_acronym, tokens
from indexer.enrich.runs import Run, word_key, word_runs

_LONGEST = 4
_BRACKET = re.compile(r"(?P<before>(?:[\w'’-]{1,40} ){1,6})\((?P<short>[A-Z][A-Za-z]{1,7})\)")
_TASKS = re.compile(r"\btasks?,? (?:such as|like|including|of)\s+(?P<named>[^.;:()]{3,200})")
_PARTED = re.compile(r",| and | or ")
_PERCENT = re.compile(r"\d ?%? (?P<name>[a-zA-Z]?[A-Z]{2,6}(?:-[\dA-Z]{1,3})?)\b(?! ?[\d-])")
_NAME = r"[A-Z][\w/]{0,24}(?:-[\w/]{1,24}){0,3}"
_AND_NAME = rf"(?:, and |, | and ){_NAME}"
_NAMES = re.compile(
    rf"(?:\bon|data ?sets?,? (?:including|such as)) (?P<names>{_NAME}(?:{_AND_NAME}){{0,6}})(?![\w-])"
)
_DATA = re.compile(r"\b(?:data ?sets?|benchmarks?|corpora)\b", re.IGNORECASE)
_NO_NOUN = re.compile(r"(?:ly|ed|ing|[^s]s|vitro|vivo)$")
_REGISTER = re.compile(
    r"(?<=[a-z,] )(?P<name>(?:[A-Z][\w-]{1,24} ){1,4}(?P<noun>[A-Z][a-z]{3,12}))\b(?! [A-Z])"
)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")


@dataclass(frozen=True, slots=True)
class HeadRules:
    """The nouns that classify a phrase, as word keys.

    A paper with two phrases of `computing` is on computing. The `heads` apply only there: elsewhere a
    translation is one of proteins. `techniques`, `technique_ends` (final letters of a word) and whole
    `phrases` apply to all other papers. No topic begins with a word of `not_first`, or is one of `nothing`.
    """

    heads: Mapping[str, TopicKind]
    techniques: frozenset[str]
    technique_ends: tuple[str, ...]
    phrases: Phrases[Named]
    computing: Sequence[str]
    registers: frozenset[str]
    not_first: frozenset[str]
    nothing: frozenset[str]
    not_names: frozenset[str]


class Heads:
    """Finds topics by their head nouns; `known` ones are found by their names elsewhere."""

    def __init__(self, rules: HeadRules, known: Phrases[Named]) -> None:
        self._rules, self._known = rules, known

    def found(self, title: str, abstract: str) -> Iterator[Named]:
        """Yield topics that a paper repeats or abbreviates, tasks that it lists, and data it is tested on."""
        words = tokens(f"{title}. {abstract}")
        spread = f" {' '.join(map(word_key, words))} "
        runs = [*word_runs(title), *word_runs(abstract)]
        if sum(f" {cue} " in spread for cue in self._rules.computing) > 1:
            candidates = [*self._repeated(runs, spread), *self._explained(abstract)]
            yield from self._tested(abstract)
        else:
            candidates = list(self._techniques(runs))
            yield from self._rules.phrases.found(words)
        yield from self._written(candidates, {word for word in words if word.islower()})
        for match in _REGISTER.finditer(abstract):
            if match["noun"].lower() in self._rules.registers and not self._known.stands_for(match["name"]):
                yield "dataset", match["name"]

    def _written(self, candidates: Iterable[tuple[TopicKind, Run]], plain: Container[str]) -> Iterator[Named]:
        """Yield unlisted phrases, except those that are part of a longer one."""
        phrases = {
            _phrase(run): (kind, run)
            for kind, run in candidates
            if run[0].lower() not in self._rules.not_first
        }
        for phrase, (kind, run) in phrases.items():
            name = _spelt(run, plain)
            within = any(f" {phrase} " in f" {longer} " for longer in phrases if longer != phrase)
            if not within and phrase not in self._rules.nothing and not self._known.stands_for(name):
                yield kind, name

    def _kind(self, run: Run) -> TopicKind | None:
        """Return the kind of a phrase of several words by its last one."""
        return self._rules.heads.get(word_key(run[-1].rpartition("-")[2])) if len(run) > 1 else None

    def _repeated(self, runs: Sequence[Run], spread: str) -> Iterator[tuple[TopicKind, Run]]:
        """Yield the longest phrases with a head that occur twice; not metrics, which are mostly none."""
        for run in runs:
            for end in range(2, len(run) + 1):
                phrases = (run[start:end] for start in range(max(0, end - _LONGEST), end - 1))
                for phrase in phrases:
                    kind = self._kind(phrase)
                    if kind and kind != "metric" and spread.count(f" {_phrase(phrase)} ") > 1:
                        yield kind, phrase
                        break

    def _explained(self, abstract: str) -> Iterator[tuple[TopicKind, Run]]:
        """Yield phrases with an abbreviation in brackets, and those listed as tasks."""
        for match in _BRACKET.finditer(abstract):
            phrase = _long_form(match["before"].split(), match["short"])
            if kind := self._kind(phrase):
                yield kind, phrase
        for match in _TASKS.finditer(abstract):
            for item in _PARTED.split(match["named"]):
                last = [run[-_LONGEST:] for run in word_runs(item)][-1:]
                yield from (("task", run) for run in last if self._kind(run) == "task")

    def _tested(self, abstract: str) -> Iterator[Named]:
        """Yield names of data sets that systems are tested on, and of metrics next to figures."""
        for sentence in _SENTENCE_END.split(abstract):
            for match in _NAMES.finditer(sentence):
                names = re.findall(_NAME, match["names"])
                if _DATA.search(sentence) or any(
                    kind == "dataset" for name in names for kind, _ in self._known.stands_for(name)
                ):
                    yield from (("dataset", name) for name in names if self._is_new(name))
        for match in _PERCENT.finditer(abstract):
            if self._is_new(match["name"]):
                yield "metric", match["name"]

    def _is_new(self, name: str) -> bool:
        """Return True for an acronym-like word that is on no list."""
        parts = [name, *name.split("-")]
        listed = any(part.lower() in self._rules.not_names or self._known.stands_for(part) for part in parts)
        return len(name) > 2 and any(map(is_acronym, parts)) and not listed

    def _techniques(self, runs: Sequence[Run]) -> Iterator[tuple[TopicKind, Run]]:
        """Yield laboratory and clinical techniques with one or two words before them."""
        for run in runs:
            yield from (
                ("method", [word]) for word in run if word_key(word).endswith(self._rules.technique_ends)
            )
            for end in range(2, len(run) + 1):
                if word_key(run[end - 1]) in self._rules.techniques and not _NO_NOUN.search(run[end - 2]):
                    first = run[end - 3 : end - 2]
                    yield "method", run[end - 2 - (bool(first) and not _NO_NOUN.search(first[0])) : end]


def _spelt(run: Run, plain: Container[str]) -> str:
    """Return a phrase in the singular, words in lower case that the paper also writes so."""
    *first, last = (
        word.lower() if all(part.lower() in plain for part in tokens(word)) else word for word in run
    )
    return " ".join((*first, word_key(last) if last.islower() else last))


def _phrase(run: Run) -> str:
    """Return the keys of a run's words, compounds split."""
    return " ".join(word_key(part) for word in run for part in tokens(word))


def _long_form(words: Sequence[str], short: str) -> Run:
    """Return the last words whose initials form an abbreviation, else none."""
    letters = "".join(letter for letter in short if letter.isupper()).lower()
    for start in range(len(words) - 1, -1, -1):
        parts = (part for word in words[start:] for part in word.split("-"))
        if "".join(part[:1] for part in parts).lower() == letters:
            return list(words[start:])
    return []
