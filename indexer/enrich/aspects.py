"""A paper's challenge, approach and outcome, each as one sentence of it, chosen without a model."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import exp
from typing import cast, get_args

from corpus.language.stemming import stop_words
from corpus.records import Aspect, AspectName, Paper, Passage
from corpus.sentences import with_repeats
from indexer.enrich.data_file import Table, listed, read_data
from indexer.enrich.features import CuedSentence, CuePatterns, Features, describe, find_cues

_INTRODUCTION = re.compile(r"\bintroduction\b", re.IGNORECASE)
# The most sentences of a section that are read.
_LONGEST_SECTION = 80
_CITED = re.compile(
    r"(?<!\s)\s*+(?:\((?=[^()]*(?:\b(?:19|20)\d\d[a-z]?\b|\bet al\b))[^()]*+\)"
    r"|\[\s*+\d{1,3}(?:\s*+[,;–-]\s*+\d{1,3})*\s*+\]"
    r"|\(\s*+(?:see\s++)?(?:Section|Sect?\.|Figure|Fig\.|Table|Appendix|§)[^()]*+\))"
)
_SPACES = re.compile(r"\s+")


class _Choice(Table):
    fewest_words: int
    most_words: int
    agreement: dict[AspectName, float]
    temperature: float
    compared: int
    needs: dict[AspectName, frozenset[str]]
    bars: dict[AspectName, frozenset[str]]
    late_bars: dict[AspectName, frozenset[str]]


class _Words(Table):
    function: str
    openings: str
    openings_before_we: str


class _File(Table):
    cues: dict[str, str]
    choice: _Choice
    words: _Words
    weights: dict[AspectName, dict[str, float]]


class _Trimmer:
    """Removes openings such as "However," and bracketed citations from sentences."""

    def __init__(self, openings: Iterable[str], before_we: Iterable[str]) -> None:
        self._opening = re.compile(
            rf"(?:{_any_of(openings)})\s*,\s*|(?:{_any_of(before_we)})\s+(?=we\b)", re.IGNORECASE
        )

    def trim(self, sentence: str) -> str:
        return self.without_opening(_CITED.sub("", _SPACES.sub(" ", sentence)))

    def without_opening(self, sentence: str) -> str:
        text = sentence.strip()
        while (opening := self._opening.match(text)) and opening.end() < len(text):
            text = text[opening.end() :]
        # A name such as "word2vec" or "eBay" keeps its case.
        first = text.split(" ", 1)[0]
        return text[:1].upper() + text[1:] if first.isalpha() and first.islower() else text


def _any_of(phrases: Iterable[str]) -> str:
    return "|".join(re.escape(phrase).replace(r"\ ", r"\s+") for phrase in sorted(phrases, key=len)[::-1])


@dataclass(frozen=True, slots=True)
class _Rules:
    cues: CuePatterns
    choice: _Choice
    weights: Mapping[AspectName, Mapping[str, float]]
    trimmer: _Trimmer


@dataclass(frozen=True, slots=True)
class _Candidate:
    passage: int
    sentence: int
    cued: CuedSentence


def choose_aspects(paper: Paper, passages: Sequence[Passage]) -> tuple[Aspect, ...]:
    """Return the sentence of abstract or introduction that best states each aspect, if there is one.

    No sentence stands for two aspects; the most probable choice is made first. The text is the sentence
    without bracketed citations and without an opening that links it to the sentence before.
    """
    rules = _rules()
    sections = [
        [_candidate(passage, index, rules.cues) for passage, index in section]
        for section in read_sections(paper, passages)
    ]
    candidates = [candidate for section in sections for candidate in section]
    if not candidates:
        return ()
    sentences = [[candidate.cued for candidate in section] for section in sections]
    features = list(describe(paper.title, sentences, rules.cues))
    shares = {name: _shares(name, candidates, features, rules) for name in get_args(AspectName)}
    chosen = _assign(shares)
    return tuple(
        Aspect(name, rules.trimmer.trim(candidate.cued.text), candidate.passage, candidate.sentence)
        for name in get_args(AspectName)
        if name in chosen and (candidate := candidates[chosen[name]])
    )


def _introduction(passages: Sequence[Passage]) -> list[Passage]:
    """Return the passages of the introduction, without such a heading those of the first section."""
    body = [passage for passage in passages if passage.number > 0 and passage.kind == "body"]
    named = (passage for passage in body if any(_INTRODUCTION.search(part.title) for part in passage.section))
    first = next(named, body[0] if body else None)
    return [passage for passage in body if first and passage.section[:1] == first.section[:1]]


def read_sections(paper: Paper, passages: Sequence[Passage]) -> list[list[tuple[Passage, int]]]:
    """Return the sentences of the abstract and those of the introduction, each as passage and index."""
    abstract = [passage for passage in passages if passage.number == 0 and passage.text != paper.title]
    return [list(_places(section))[:_LONGEST_SECTION] for section in (abstract, _introduction(passages))]


def _places(passages: Sequence[Passage]) -> Iterator[tuple[Passage, int]]:
    for passage, repeated in with_repeats(passages):
        yield from ((passage, index) for index in range(repeated, len(passage.sentences)))


def _candidate(passage: Passage, index: int, cues: CuePatterns) -> _Candidate:
    return _Candidate(passage.number, index, find_cues(passage.sentence_text(index), cues))


def _shares(
    name: AspectName, candidates: Sequence[_Candidate], features: Sequence[Features], rules: _Rules
) -> dict[int, float]:
    """Return the probability of each qualifying sentence to state an aspect, summing to 1."""
    weights = rules.weights[name]
    scores = {
        index: sum(weights.get(feature, 0.0) * value for feature, value in features[index].items())
        for index, candidate in enumerate(candidates)
        if _qualifies(name, candidate.cued, features[index], rules.choice)
    }
    compared = dict(sorted(scores.items(), key=lambda item: -item[1])[: rules.choice.compared])
    agreed = _agreement(candidates, _softmax(compared, rules.choice.temperature))
    return _softmax(
        {index: compared[index] + rules.choice.agreement[name] * agreed[index] for index in compared}, 1
    )


def _qualifies(name: AspectName, sentence: CuedSentence, features: Features, choice: _Choice) -> bool:
    """Return True if a sentence is complete, of usual length, and has the cues of the aspect."""
    if not choice.fewest_words <= len(sentence.tokens) <= choice.most_words:
        return False
    if sentence.text[:1].islower() or sentence.text.endswith(":"):
        return False
    bars = choice.bars[name] | (choice.late_bars[name] if features["late"] else frozenset())
    return bool(choice.needs[name] & sentence.groups) and not bars & sentence.groups


def _softmax(scores: Mapping[int, float], temperature: float) -> dict[int, float]:
    top = max(scores.values(), default=0.0)
    raised = {index: exp((score - top) / temperature) for index, score in scores.items()}
    total = sum(raised.values())
    return {index: value / total for index, value in raised.items()}


def _agreement(candidates: Sequence[_Candidate], shares: Mapping[int, float]) -> dict[int, float]:
    """Return each sentence's Dice overlap of stems with the others, weighted by their probabilities."""
    stems = {index: set(candidates[index].cued.stems) for index in shares}

    def dice(first: set[str], second: set[str]) -> float:
        return 2 * len(first & second) / (len(first) + len(second)) if first and second else 0.0

    return {
        index: sum(share * dice(stems[index], stems[peer]) for peer, share in shares.items())
        for index in shares
    }


def _assign(shares: Mapping[AspectName, dict[int, float]]) -> dict[AspectName, int]:
    """Assign sentences to aspects greedily by probability, each sentence at most once."""
    offers = sorted(
        ((share, name, index) for name, options in shares.items() for index, share in options.items()),
        key=lambda offer: -offer[0],
    )
    chosen: dict[AspectName, int] = {}
    for _, name, index in offers:
        if name not in chosen and index not in chosen.values():
            chosen[name] = index
    return chosen


def cue_patterns() -> CuePatterns:
    """Return the cue phrases for features of sentences."""
    return _rules().cues


def without_opening(sentence: str) -> str:
    """Return a sentence without an opening that links it to another or refers to the paper."""
    return _rules().trimmer.without_opening(sentence)


@cache
def _rules() -> _Rules:
    file = read_data("aspects", _File)
    groups: dict[str, tuple[str, ...]] = {}
    for name, phrases in file.cues.items():
        for phrase in listed(phrases):
            groups[phrase] = (*groups.get(phrase, ()), name)
    words = file.words
    return _Rules(
        CuePatterns(groups, stop_words() | frozenset(words.function.split())),
        file.choice,
        {name: file.weights[name] for name in cast(tuple[AspectName, ...], get_args(AspectName))},
        _Trimmer(listed(words.openings), listed(words.openings_before_we)),
    )
