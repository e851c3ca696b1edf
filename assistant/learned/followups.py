"""Omissions of follow-up questions: where they point back, and the words they refer to.

As in QuReTeC (Voskarides et al., SIGIR 2020) a network reads the question beside what was said before and
tells which words of it belong to the question; here each of them also gets its place: a pronoun that it
replaces, or a word behind which it is put.
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
NEWEST = 0.02  # of the places where the same was said, the newest that is so likely beside the likeliest
LEAST_SURE = 0.1  # places below it are none
# Words that join a filling to the words before it ("types *of* cancer"); "'s" stands after it and owns.
CONNECTORS = ("", "of", "in", "for", "about", "with", "on", "by", "to", "from", "at", "than", "'s")
# The numbers of a token: is it replaced, is something put behind it, with which connector, and then four
# vectors whose products say where the words that are meant begin and end.
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
# A question and what was answered, "" where nothing was.
Exchange = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Word:
    """A word and where it stands in its text; `turn` is the number of the exchange it was said in."""

    text: str
    start: int
    end: int
    turn: int = 0


@dataclass(frozen=True, slots=True)
class Said:
    """The conversation before a question as the network reads it: the newest turn first."""

    text: str
    words: tuple[Word, ...]


@dataclass(frozen=True, slots=True)
class Filling:
    """Words of the conversation that a question means, 0..1 sure, at a place of it.

    They replace the question's text from `start` to `end`, or are put there where the two are one, joined to
    what stands before by `connector`.
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
    """Thresholds for replacing words, for putting words in place, and for adding them at the end.

    A word that points back has to point somewhere: where it does, the likeliest words do with less.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    points: float
    replacing: float
    behind: float
    bracketed: float

    def is_placed(self, filling: Filling) -> bool:
        """Return True if words are sure enough to stand in the question."""
        if filling.is_put_behind:
            return filling.surety >= self.behind
        return filling.place_is_sure >= self.points and filling.words_are_sure >= self.replacing


def _surety(card: Card) -> Surety:
    try:
        return Surety.model_validate(card.scales.get("surety", {}))
    except ValidationError as error:
        raise LearnedError(f"The card of {card.name} does not say how sure is sure enough.") from error


def words_of(text: str, turn: int = 0) -> list[Word]:
    """Return the words of a text; what owns ("'s") is a word of its own."""
    return [Word(found[0], found.start(), found.end(), turn) for found in _WORD.finditer(text)]


def said_before(history: Sequence[Exchange]) -> Said:
    """Return the exchanges as the network reads them, the newest first, of long answers their beginning."""
    text, words = "", list[Word]()
    for turn, exchange in reversed(list(enumerate(history))):
        shown = [" ".join(said.split())[:LONGEST_SAID] for said in exchange if said.strip()]
        if len(text) > LONGEST_HISTORY:
            break
        for one in shown:
            text += _BETWEEN if text else ""
            words += [
                Word(word.text, word.start + len(text), word.end + len(text), turn) for word in words_of(one)
            ]
            text += one
    return Said(text, tuple(words))


class FollowUps:
    """Reads questions in the light of what was said before them."""

    def __init__(self, card: Card, network: PairNetwork) -> None:
        self.name, self.surety, self._network = card.name, _surety(card), network

    def with_surety(self, surety: Surety) -> "FollowUps":
        """Return the same part with other bars; the network is shared."""
        other = copy.copy(self)
        other.surety = surety
        return other

    def fillings(self, question: str, history: Sequence[Exchange]) -> list[Filling]:
        """Return the fillings of what the question leaves out, in the order of places, sure or not."""
        said, asked = said_before(history), words_of(question[:LONGEST_QUESTION])
        if not said.words or not asked:
            return []
        (numbers,) = self._network.read_tokens([(question[:LONGEST_QUESTION], said.text)])
        return [filling for filling in _fillings(numbers, asked, said) if filling]


def _fillings(read: TokenNumbers, asked: Sequence[Word], said: Said) -> Iterator[Filling | None]:
    of_asked = _of_words(read, 0, asked)
    kept = [(word, at) for word in said.words if (at := read.token_at(1, word.start)) is not None]
    if not kept or len(of_asked) < len(asked):
        return
    said = Said(said.text, tuple(word for word, _ in kept))
    meant = np.stack([read.numbers[at] for _, at in kept])
    places = 1 / (1 + np.exp(-np.clip(of_asked[:, : JOINED.start], -30, 30)))
    for first, last, sure in _runs(places[:, REPLACED].tolist()):
        yield _filled(of_asked[first], said, meant, (asked[first].start, asked[last].end), sure)
    for at, sure in enumerate(places[:, BEHIND].tolist()):
        if sure >= LEAST_SURE:
            yield _filled(of_asked[at], said, meant, (asked[at].end, asked[at].end), sure)


def _of_words(read: TokenNumbers, side: int, words: Sequence[Word]) -> Numbers:
    places = [at for word in words if (at := read.token_at(side, word.start)) is not None]
    return read.numbers[places]


def _runs(sure: Sequence[float]) -> Iterator[tuple[int, int, float]]:
    """Yield the first and last word of what is replaced together, and how sure its first is."""
    first: int | None = None
    for at, one in enumerate([*sure, 0.0]):
        if one >= LEAST_SURE and first is None:
            first = at
        elif first is not None and one < max(LEAST_SURE, sure[first] / 2):
            yield first, at - 1, sure[first]
            first = at if one >= LEAST_SURE else None


def _filled(
    asking: Numbers, said: Said, meant: Numbers, place: tuple[int, int], sure: float
) -> Filling | None:
    """Return the filling of a place: the likeliest words, summed over their mentions."""
    words, (begins, ends) = said.words, pointed(asking, meant)
    shares: dict[str, float] = defaultdict(float)
    places: dict[str, list[tuple[float, int, int]]] = defaultdict(list)
    for first in np.argsort(-begins)[:8].tolist():
        for last in range(first, min(first + LONGEST_SPAN, len(words))):
            if words[last].turn != words[first].turn or (last > first and _is_apart(words, last)):
                break
            if words[last].text.lower() in _POINTING_BACK:
                break  # A word that refers back itself fills nothing.
            share = float(begins[first] * ends[last])
            if not any(_LETTER.search(word.text) for word in words[first : last + 1]):
                continue  # A year alone is nobody.
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
    """Return words in a form in which "the University's" and "University" are the same."""
    said = [word.text.lower() for word in words]
    bare = said[said[0] in _ARTICLES : len(said) - (said[-1] in _OWNS)]
    return " ".join(bare or said)


def _is_apart(words: Sequence[Word], at: int) -> bool:
    """Return True if a word was not said in one breath with the one before it."""
    return words[at].start - words[at - 1].end > len(_BETWEEN) - 1


def pointed(asking: Numbers, meant: Numbers) -> tuple[Numbers, Numbers]:
    """Return for each word that was said the chance that what is meant begins, and ends, with it."""
    begins = meant[:, TO_BEGIN] @ asking[FROM_BEGIN] / POINTING**0.5
    ends = meant[:, TO_END] @ asking[FROM_END] / POINTING**0.5
    return _softmax(begins), _softmax(ends)


def _softmax(values: Numbers) -> Numbers:
    lifted = np.exp(values - values.max())
    return np.asarray(lifted / lifted.sum(), dtype=np.float32)


def read_follow_ups(weights: Path) -> FollowUps:
    """Return the part of a folder; raises LearnedError where it does not fit."""
    return FollowUps(*read_part(FOLLOW_UPS, weights, per_token=True))


@cache
def _opened(weights: Path) -> FollowUps | None:
    try:
        return read_follow_ups(weights)
    except LearnedError as error:
        logger.warning("follow-ups are read without what was learned of them: %s", error)
        return None


def open_follow_ups() -> FollowUps | None:
    """Return the learned part, None where there is none that fits."""
    return _opened(folder(FOLLOW_UPS))
