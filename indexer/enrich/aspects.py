"""A paper's challenge, approach and outcome, each as one sentence chosen from it, without a model."""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import exp
from pathlib import Path
from typing import cast, get_args

from pydantic import BaseModel, ConfigDict

from corpus.records import Aspect, AspectName, Paper, Passage
from indexer.enrich.clues import Clue, Cues, Features, describe, read_clue
from indexer.enrich.display import Trimmer

_INTRODUCTION = re.compile(r"\bintroduction\b", re.IGNORECASE)
# Of a paper whose introduction does not end, this many sentences are read.
_LONGEST_SECTION = 80


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class _Choice(_Table):
    fewest_words: int
    most_words: int
    agreement: dict[AspectName, float]
    temperature: float
    compared: int
    needs: dict[AspectName, frozenset[str]]
    bars: dict[AspectName, frozenset[str]]
    late_bars: dict[AspectName, frozenset[str]]


class _Words(_Table):
    function: str
    openings: str
    openings_before_we: str


class _File(_Table):
    cues: dict[str, str]
    choice: _Choice
    words: _Words
    weights: dict[AspectName, dict[str, float]]


@dataclass(frozen=True, slots=True)
class _Rules:
    cues: Cues
    choice: _Choice
    weights: Mapping[AspectName, Mapping[str, float]]
    trimmer: Trimmer


@dataclass(frozen=True, slots=True)
class _Candidate:
    passage: int
    sentence: int
    clue: Clue


def choose_aspects(paper: Paper, passages: Sequence[Passage]) -> tuple[Aspect, ...]:
    """Return the sentence of abstract or introduction that best states each aspect, if there is one.

    No sentence stands for two aspects; the surest choice is made first. The text shown is the sentence
    without citations in brackets and without an opening that ties it to the sentence before it.
    """
    rules = _rules()
    sections = [
        [_candidate(passage, index, rules.cues) for passage, index in section]
        for section in read_sections(paper, passages)
    ]
    candidates = [candidate for section in sections for candidate in section]
    if not candidates:
        return ()
    clues = [[candidate.clue for candidate in section] for section in sections]
    features = list(describe(paper.title, clues, rules.cues))
    shares = {name: _shares(name, candidates, features, rules) for name in get_args(AspectName)}
    chosen = _assign(shares)
    return tuple(
        _aspect(name, candidates[chosen[name]], rules) for name in get_args(AspectName) if name in chosen
    )


def _introduction(passages: Sequence[Passage]) -> list[Passage]:
    """Return the passages of the introduction; where no heading says so, of the first section."""
    body = [passage for passage in passages if passage.number > 0 and passage.kind == "body"]
    first = next(filter(_is_introduction, body), body[0] if body else None)
    return [passage for passage in body if first and passage.section[:1] == first.section[:1]]


def _is_introduction(passage: Passage) -> bool:
    return any(_INTRODUCTION.search(section.title) for section in passage.section)


def read_sections(paper: Paper, passages: Sequence[Passage]) -> list[list[tuple[Passage, int]]]:
    """Return the sentences of the abstract and those of the introduction, each as passage and index."""
    abstract = [passage for passage in passages if passage.number == 0 and passage.text != paper.title]
    return [list(_places(section))[:_LONGEST_SECTION] for section in (abstract, _introduction(passages))]


def _places(passages: Sequence[Passage]) -> Iterator[tuple[Passage, int]]:
    for passage in passages:
        yield from ((passage, index) for index in range(len(passage.sentences)))


def _candidate(passage: Passage, index: int, cues: Cues) -> _Candidate:
    return _Candidate(passage.number, index, read_clue(passage.sentence_text(index), cues))


def _shares(
    name: AspectName, candidates: Sequence[_Candidate], features: Sequence[Features], rules: _Rules
) -> dict[int, float]:
    """Return, for every sentence that qualifies for an aspect, its share of the likelihood, summing to 1."""
    weights = rules.weights[name]
    scores = {
        index: sum(weights.get(feature, 0.0) * value for feature, value in features[index].items())
        for index, candidate in enumerate(candidates)
        if _qualifies(name, candidate.clue, features[index], rules.choice)
    }
    kept = dict(sorted(scores.items(), key=lambda item: -item[1])[: rules.choice.compared])
    agreed = _agreement(candidates, _softmax(kept, rules.choice.temperature))
    return _softmax({index: kept[index] + rules.choice.agreement[name] * agreed[index] for index in kept}, 1)


def _qualifies(name: AspectName, clue: Clue, features: Features, choice: _Choice) -> bool:
    """Tell whether a sentence is whole and says something of the kind."""
    if not choice.fewest_words <= len(clue.tokens) <= choice.most_words:
        return False
    if clue.text[:1].islower() or clue.text.endswith(":"):
        return False
    bars = choice.bars[name] | (choice.late_bars[name] if features["late"] else frozenset())
    return bool(choice.needs[name] & clue.groups) and not bars & clue.groups


def _softmax(scores: Mapping[int, float], temperature: float) -> dict[int, float]:
    top = max(scores.values(), default=0.0)
    raised = {index: exp((score - top) / temperature) for index, score in scores.items()}
    total = sum(raised.values())
    return {index: value / total for index, value in raised.items()}


def _agreement(candidates: Sequence[_Candidate], shares: Mapping[int, float]) -> dict[int, float]:
    """Return how much of its subject each sentence shares with the others, the likely ones foremost."""
    stems = {index: set(candidates[index].clue.stems) for index in shares}
    return {
        index: sum(share * _common(stems[index], stems[other]) for other, share in shares.items())
        for index in shares
    }


def _common(first: set[str], second: set[str]) -> float:
    """Return the Dice coefficient of two sets of words."""
    return 2 * len(first & second) / (len(first) + len(second)) if first and second else 0.0


def _assign(shares: Mapping[AspectName, dict[int, float]]) -> dict[AspectName, int]:
    """Give each aspect its likeliest sentence; of two that want the same, the surer one has it."""
    offers = sorted(
        ((share, name, index) for name, options in shares.items() for index, share in options.items()),
        key=lambda offer: -offer[0],
    )
    chosen: dict[AspectName, int] = {}
    for _, name, index in offers:
        if name not in chosen and index not in chosen.values():
            chosen[name] = index
    return chosen


def _aspect(name: AspectName, candidate: _Candidate, rules: _Rules) -> Aspect:
    return Aspect(name, rules.trimmer.trim(candidate.clue.text), candidate.passage, candidate.sentence)


def _phrases(text: str) -> list[str]:
    return [" ".join(phrase.split()) for phrase in text.split(";") if phrase.strip()]


@cache
def _rules() -> _Rules:
    text = Path(__file__).with_name("aspects.toml").read_text(encoding="utf-8")
    file = _File.model_validate(tomllib.loads(text))
    groups: dict[str, tuple[str, ...]] = {}
    for name, listed in file.cues.items():
        for phrase in _phrases(listed):
            groups[phrase] = (*groups.get(phrase, ()), name)
    words = file.words
    return _Rules(
        Cues(groups, frozenset(words.function.split())),
        file.choice,
        {name: file.weights[name] for name in cast(tuple[AspectName, ...], get_args(AspectName))},
        Trimmer(_phrases(words.openings), _phrases(words.openings_before_we)),
    )
