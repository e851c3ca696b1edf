"""References and omissions of follow-up questions, and the words of the conversation that fill them.

As in QuReTeC (Voskarides et al., SIGIR 2020), a network reads the question with the conversation and selects
the words of it that belong to the question. Here it also gives their place: a pronoun to replace, or a word
after which they are inserted.
"""

import copy
import logging
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, ValidationError

from assistant.learned.parts import Card, LearnedError, folder, read_part
from corpus.encoders.pairs import PairNetwork, TokenNumbers

logger = logging.getLogger(__name__)

FOLLOW_UPS = "followups"
LONGEST_QUESTION, LONGEST_SAID, LONGEST_HISTORY = 300, 160, 700
LONGEST_SPAN = 12  # words
NEWEST = 0.02  # least ratio to the likeliest mention of the newest one that is taken
LEAST_SURE = 0.1  # least probability of a place
# Words that join a filling to the words before it ("types *of* cancer"), or the "'s" after it.
CONNECTORS = ("", "of", "in", "for", "about", "with", "on", "by", "to", "from", "at", "than", "'s")
# The outputs for a token: it is replaced, something is inserted after it, the connector, and four vectors
# whose products score the beginning and end of the filling.
REPLACED, BEHIND, JOINED = 0, 1, slice(2, 2 + len(CONNECTORS))
POINTING = 32
_POINTERS = [slice(JOINED.stop + POINTING * at, JOINED.stop + POINTING * (at + 1)) for at in range(4)]
FROM_BEGIN, FROM_END, TO_BEGIN, TO_END = _POINTERS
OUTPUTS = TO_END.stop
_ARTICLES, _OWNS = frozenset(("the", "a", "an")), frozenset(("'s", "’s"))
_POINTING_BACK = frozenset(
    "it its itself they them their theirs he him his she her hers this that these those there".split()
)
_WORD = re.compile(r"\w+(?:[-.&]\w+)*|['’]s\b", re.UNICODE)
_LETTER = re.compile(r"[^\W\d_]")
_BETWEEN = " | "

Numbers = NDArray[np.float32]
# A question and its answer, "" without one.
Exchange = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Word:
    """A word with its character offsets in a text; `turn` is the index of its exchange."""

    text: str
    start: int
    end: int
    turn: int = 0


@dataclass(frozen=True, slots=True)
class Said:
    """The conversation before a question as input of the network, the newest turn first."""

    text: str
    words: tuple[Word, ...]


@dataclass(frozen=True, slots=True)
class Filling:
    """Words of the conversation that a question refers to or leaves out, with their place and probabilities.

    They replace the question's text from `start` to `end`; if these are equal they are inserted there, after
    `connector`.
    """

    start: int
    end: int
    words: str
    connector: str
    turn: int
    place_is_sure: float
    words_are_sure: float

    @property
    def is_put_behind(self) -> bool:
        return self.start == self.end

    @property
    def surety(self) -> float:
        return self.place_is_sure * self.words_are_sure


class Surety(BaseModel):
    """Thresholds for replacing words, for inserting them, and for adding them in brackets at the end.

    A pronoun must refer to something, so that the words that replace it need a lower probability.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    points: float
    replacing: float
    behind: float
    bracketed: float

    def is_placed(self, filling: Filling) -> bool:
        """Return True if the filling is sure enough for its place in the question."""
        if filling.is_put_behind:
            return filling.surety >= self.behind
        return filling.place_is_sure >= self.points and filling.words_are_sure >= self.replacing


def _surety(card: Card) -> Surety:
    try:
        return Surety.model_validate(card.scales.get("surety", {}))
    except ValidationError as error:
        raise LearnedError(f"The card of {card.name} does not say how sure is sure enough.") from error


def words_of(text: str, turn: int = 0) -> list[Word]:
    """Return the words of a text, with "'s" as a word of its own."""
    return [Word(match[0], match.start(), match.end(), turn) for match in _WORD.finditer(text)]


def said_before(history: Sequence[Exchange]) -> Said:
    """Return the exchanges as input of the network, the newest first, long answers cut."""
    text, words = "", list[Word]()
    for turn, exchange in reversed(list(enumerate(history))):
        shown = [" ".join(text_said.split())[:LONGEST_SAID] for text_said in exchange if text_said.strip()]
        if len(text) > LONGEST_HISTORY:
            break
        for part in shown:
            text += _BETWEEN if text else ""
            words += [
                Word(word.text, word.start + len(text), word.end + len(text), turn) for word in words_of(part)
            ]
            text += part
    return Said(text, tuple(words))


class FollowUps:
    """Finds the fillings of follow-up questions."""

    def __init__(self, card: Card, network: PairNetwork) -> None:
        self.name, self.surety, self._network = card.name, _surety(card), network

    def with_surety(self, surety: Surety) -> "FollowUps":
        """Return a copy with other thresholds that shares the network."""
        other = copy.copy(self)
        other.surety = surety
        return other

    def fillings(self, question: str, history: Sequence[Exchange]) -> list[Filling]:
        """Return the texts that may be filled into a question, replacements first, however improbable."""
        said, asked = said_before(history), words_of(question[:LONGEST_QUESTION])
        if not said.words or not asked:
            return []
        (numbers,) = self._network.read_tokens([(question[:LONGEST_QUESTION], said.text)])
        return [filling for filling in _fillings(numbers, asked, said) if filling]


def _fillings(read: TokenNumbers, asked: Sequence[Word], said: Said) -> Iterator[Filling | None]:
    of_asked = _of_words(read, 0, asked)
    kept = [(word, index) for word in said.words if (index := read.token_at(1, word.start)) is not None]
    if not kept or len(of_asked) < len(asked):
        return
    said = Said(said.text, tuple(word for word, _ in kept))
    meant = np.stack([read.numbers[index] for _, index in kept])
    places = 1 / (1 + np.exp(-np.clip(of_asked[:, : JOINED.start], -30, 30)))
    for first, last, sure in _runs(places[:, REPLACED].tolist()):
        yield _filled(of_asked[first], said, meant, (asked[first].start, asked[last].end), sure)
    for index, sure in enumerate(places[:, BEHIND].tolist()):
        if sure >= LEAST_SURE:
            yield _filled(of_asked[index], said, meant, (asked[index].end, asked[index].end), sure)


def _of_words(read: TokenNumbers, side: int, words: Sequence[Word]) -> Numbers:
    places = [token for word in words if (token := read.token_at(side, word.start)) is not None]
    return read.numbers[places]


def _runs(sure: Sequence[float]) -> Iterator[tuple[int, int, float]]:
    """Yield first and last index of words that are replaced together, and the first one's probability."""
    first: int | None = None
    for index, chance in enumerate([*sure, 0.0]):
        if chance >= LEAST_SURE and first is None:
            first = index
        elif first is not None and chance < max(LEAST_SURE, sure[first] / 2):
            yield first, index - 1, sure[first]
            first = index if chance >= LEAST_SURE else None


def _filled(
    asking: Numbers, said: Said, meant: Numbers, place: tuple[int, int], sure: float
) -> Filling | None:
    """Return the filling of a place: the words with the highest probability, summed over their mentions."""
    words, (begins, ends) = said.words, pointed(asking, meant)
    shares: dict[str, float] = defaultdict(float)
    places: dict[str, list[tuple[float, int, int]]] = defaultdict(list)
    for first in np.argsort(-begins)[:8].tolist():
        for last in range(first, min(first + LONGEST_SPAN, len(words))):
            if words[last].turn != words[first].turn or (last > first and _is_apart(words, last)):
                break
            if words[last].text.lower() in _POINTING_BACK:
                break  # A pronoun fills nothing.
            share = float(begins[first] * ends[last])
            if not any(_LETTER.search(word.text) for word in words[first : last + 1]):
                continue  # A year alone is no subject.
            text = _alike(words[first : last + 1])
            shares[text] += share
            places[text].append((share, first, last))
    if not shares:
        return None
    best = max(shares, key=lambda text: shares[text])
    likely = max(places[best])[0] * NEWEST
    first, last = min((first, last) for share, first, last in places[best] if share >= likely)
    connector = CONNECTORS[int(np.argmax(asking[JOINED]))]
    shown = said.text[words[first].start : words[last].end]
    return Filling(*place, shown, connector, words[first].turn, sure, shares[best])


def _alike(words: Sequence[Word]) -> str:
    """Normalise words, so that "the University's" and "University" are the same."""
    said = [word.text.lower() for word in words]
    bare = said[said[0] in _ARTICLES : len(said) - (said[-1] in _OWNS)]
    return " ".join(bare or said)


def _is_apart(words: Sequence[Word], at: int) -> bool:
    """Return True if a word is separated from the one before it."""
    return words[at].start - words[at - 1].end > len(_BETWEEN) - 1


def pointed(asking: Numbers, tokens: Numbers) -> tuple[Numbers, Numbers]:
    """Return for each word the probability that the filling begins, and ends, with it."""
    begins = tokens[:, TO_BEGIN] @ asking[FROM_BEGIN] / POINTING**0.5
    ends = tokens[:, TO_END] @ asking[FROM_END] / POINTING**0.5
    return _softmax(begins), _softmax(ends)


def _softmax(values: Numbers) -> Numbers:
    lifted = np.exp(values - values.max())
    return np.asarray(lifted / lifted.sum(), dtype=np.float32)


def read_follow_ups(weights: Path) -> FollowUps:
    """Return the part of a folder; raises LearnedError if it does not fit."""
    return FollowUps(*read_part(FOLLOW_UPS, weights, per_token=True))


@cache
def _opened(weights: Path) -> FollowUps | None:
    try:
        return read_follow_ups(weights)
    except LearnedError as error:
        logger.warning("follow-ups are read without what was learned of them: %s", error)
        return None


def open_follow_ups() -> FollowUps | None:
    """Return the learned part, None if there is none that fits."""
    return _opened(folder(FOLLOW_UPS))
