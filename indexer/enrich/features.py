"""Surface features of sentences: cue words, position, length, words shared with the paper."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

Features = dict[str, float]

_TOKEN = re.compile(r"[^\W_]+|%")
_CITATION = re.compile(r"\bet al\b|\[\d+(?:\s*,\s*\d+)*\]|\([^()]*\b(?:19|20)\d\d[a-z]?\s*\)")
_LONGEST_CUE = 5
# Prefixes, not stems: with stems, approaches lose 1.6 of ROUGE-2.
_STEM = 6
_SHORT, _LONG = 12, 32


@dataclass(frozen=True, slots=True)
class CuePatterns:
    """The groups of each cue phrase, and the function words."""

    groups: Mapping[str, tuple[str, ...]]
    function: frozenset[str]

    def found(self, tokens: Sequence[str]) -> set[str]:
        """Return the groups of the phrases in the tokens."""
        groups: set[str] = set()
        for start in range(len(tokens)):
            phrase = ""
            for token in tokens[start : start + _LONGEST_CUE]:
                phrase = f"{phrase} {token}" if phrase else token
                if phrase in self.groups:
                    groups.update(self.groups[phrase])
        return groups

    def subject(self, tokens: Sequence[str]) -> list[str]:
        """Return the prefixes of the content words."""
        return [word[:_STEM] for word in tokens if len(word) > 3 and word not in self.function]


@dataclass(frozen=True, slots=True)
class CuedSentence:
    """A sentence as its lower-case tokens, with the groups of cues in it."""

    text: str
    tokens: tuple[str, ...]
    groups: frozenset[str]
    stems: tuple[str, ...]


def find_cues(text: str, cues: CuePatterns) -> CuedSentence:
    """Return a sentence with the cues in it."""
    tokens = tuple(_TOKEN.findall(text.lower()))
    return CuedSentence(text, tokens, frozenset(cues.found(tokens)), tuple(cues.subject(tokens)))


def describe(title: str, sections: Sequence[Sequence[CuedSentence]], cues: CuePatterns) -> Iterator[Features]:
    """Yield the features of every sentence, first of the abstract, then of the introduction."""
    about = set(cues.subject(_TOKEN.findall(title.lower())))
    counts = Counter(stem for section in sections for sentence in section for stem in set(sentence.stems))
    total = max(1, sum(len(section) for section in sections))
    for name, section in zip(("abstract", "introduction"), sections, strict=True):
        # Where the authors turn to their own work.
        headlines = (index for index, sentence in enumerate(section) if "headline" in sentence.groups)
        turn = next(headlines, len(section))
        for index, sentence in enumerate(section):
            yield {
                **_surface(sentence),
                **_place(name, index, len(section), turn),
                **_shared(sentence, about, counts, total),
            }


def _surface(sentence: CuedSentence) -> Features:
    groups, size = sentence.groups, len(sentence.tokens)
    features = dict.fromkeys(groups, 1.0)
    features["short"] = max(0.0, 1 - size / _SHORT)
    features["long"] = min(2.0, max(0.0, size / _LONG - 1))
    features["citation"] = float(_CITATION.search(sentence.text) is not None)
    features["number"] = float("%" in sentence.tokens or any(token.isdecimal() for token in sentence.tokens))
    features["open end"] = float(sentence.text.endswith((":", "?", ";")))
    features["back start"] = float(bool(sentence.tokens) and sentence.tokens[0] in _BACK)
    for first, second in _PAIRS:
        features[f"{first} + {second}"] = float(first in groups and second in groups)
    return features


_BACK = frozenset("this these it they such those he she both".split())
_PAIRS = (
    ("own", "announce"),
    ("own", "problem"),
    ("contrast", "problem"),
    ("existing", "problem"),
    ("evidence", "show"),
    ("show", "gain"),
    ("headline", "means"),
    ("own", "gain"),
    ("headline", "data"),
)


def _place(name: str, index: int, size: int, turn: int) -> Features:
    late = index / (size - 1) if size > 1 else 0.5
    return {
        name: 1.0,
        f"{name} first": float(index == 0),
        f"{name} last": float(index == size - 1),
        f"{name} late": late,
        f"{name} before own": float(index < turn),
        f"{name} just before own": float(index == turn - 1),
        f"{name} turn": float(index == turn),
        f"{name} just after own": float(index == turn + 1),
        f"{name} two after own": float(index == turn + 2),
        "late": float(index >= turn),
    }


def _shared(sentence: CuedSentence, about: set[str], counts: Counter[str], total: int) -> Features:
    stems = set(sentence.stems)
    return {
        "title": len(stems & about) / len(about) if about else 0.0,
        "title density": len(stems & about) / len(stems) if stems else 0.0,
        "central": sum(counts[stem] - 1 for stem in stems) / (len(stems) * total) ** 0.5 if stems else 0.0,
    }
