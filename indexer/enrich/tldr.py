"""A one-sentence summary of a paper: a sentence of its abstract, shortened, without a model."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from indexer.enrich.aspects import cue_patterns, without_opening
from indexer.enrich.data_file import Table, read_data
from indexer.enrich.features import CuedSentence, Features, describe, find_cues
from indexer.enrich.shorten import Shortener, ShorteningWords, ShortForm

TLDR_WEIGHTS = Path(__file__).with_name("tldr_weights.toml")
# The most sentences of an abstract that are read.
_MOST_SENTENCES = 40
# The length in words is a piecewise linear feature with these steps.
_STEPS = (6, 9, 12, 15, 18, 21, 25, 30, 40)
_STEP = 3
_FIRST_WORDS = frozenset({"we", "a", "an", "this", "our", "the", "it", "in", "i"})


@dataclass(frozen=True, slots=True)
class Tldr:
    """A one-sentence summary; `sentence` is the index of the sentence it was made from."""

    text: str
    sentence: int


@dataclass(frozen=True, slots=True)
class TldrCandidate:
    """A form of a sentence, with its features."""

    text: str
    sentence: int
    features: Features

    def score(self, weights: Mapping[str, float]) -> float:
        return sum(weights.get(name, 0.0) * value for name, value in self.features.items())


class _Weights(Table):
    provenance: dict[str, str | int | float]
    weights: dict[str, float]


@dataclass(frozen=True, slots=True)
class _Subject:
    """The subject of a paper: the stems of its title, and the number of sentences with each stem."""

    title: frozenset[str]
    counts: Mapping[str, int]
    sentences: int

    def shared(self, stems: frozenset[str]) -> Features:
        """Return features of the overlap of a text's stems with the subject."""
        if not stems:
            return {}
        elsewhere = sum(self.counts[stem] - 1 for stem in stems) / self.sentences
        return {
            "title": len(stems & self.title) / max(1, len(self.title)),
            "title density": len(stems & self.title) / len(stems),
            "central": elsewhere * (self.sentences / len(stems)) ** 0.5,
            "central density": elsewhere / len(stems),
            "central sum": elsewhere / 5,
            "subjects": len(stems) / 10,
        }


def choose_tldr(title: str, sentences: Sequence[str]) -> Tldr | None:
    """Return the best sentence of an abstract as a summary, shortened where that scores higher.

    The text has only words of the sentence, in their order. None without sentences.
    """
    weights, candidates = _weights(), tldr_candidates(title, sentences)
    best = max(candidates, key=lambda candidate: candidate.score(weights), default=None)
    return Tldr(best.text, best.sentence) if best else None


def tldr_candidates(title: str, sentences: Sequence[str]) -> list[TldrCandidate]:
    """Return all forms of the complete sentences, or of all sentences if none is complete."""
    cues = cue_patterns()
    cued = [find_cues(sentence, cues) for sentence in sentences[:_MOST_SENTENCES]]
    counts = Counter(stem for sentence in cued for stem in set(sentence.stems))
    subject = _Subject(frozenset(find_cues(title, cues).stems), counts, max(1, len(cued)))
    described = enumerate(zip(cued, describe(title, (cued, ()), cues), strict=True))
    filled = [(index, *entry) for index, entry in described if entry[0].text.strip()]
    whole = [entry for entry in filled if _is_whole(entry[1].text)] or filled
    return [candidate for entry in whole for candidate in _forms(*entry, subject)]


def _is_whole(sentence: str) -> bool:
    """Return True if a sentence neither continues another nor introduces one."""
    text = sentence.strip()
    return not text[:1].islower() and not text.endswith(":")


def _forms(
    index: int, sentence: CuedSentence, features: Features, subject: _Subject
) -> Iterator[TldrCandidate]:
    of_sentence = {f"sentence {name}": value for name, value in features.items() if value}
    of_sentence |= {f"sentence {index + 1}": 1.0} if index in {1, 2} else {}
    for form in _shortener().forms(without_opening(sentence.text)):
        yield TldrCandidate(form.text, index, of_sentence | _of_form(form, subject))


def _of_form(form: ShortForm, subject: _Subject) -> Features:
    cued = find_cues(form.text, cue_patterns())
    features = dict.fromkeys((f"has {group}" for group in cued.groups), 1.0)
    features |= {f"head {form.head}": 1.0, f"tail {form.tail}": 1.0}
    features |= _length(len(form.text.split())) | subject.shared(frozenset(cued.stems))
    if cued.tokens and cued.tokens[0] in _FIRST_WORDS:
        features[f"begins {cued.tokens[0]}"] = 1.0
    return features


def _length(words: int) -> Features:
    steps = zip((0, *_STEPS), _STEPS, strict=False)
    lengths = {f"up to {to}": max(0, min(words, to) - past) / _STEP for past, to in steps}
    return lengths | {"longer": max(0, words - _STEPS[-1]) / _STEP}


@cache
def _weights() -> dict[str, float]:
    return read_data(TLDR_WEIGHTS.stem, _Weights).weights


@cache
def _shortener() -> Shortener:
    return Shortener(read_data("tldr", ShorteningWords))
