"""The kinds part: the kind of answer that a question asks for, by the words and phrases in it.

It is a multinomial logistic regression over a few hundred cues, which needs no encoder. `paper-trail train
kinds` fits it and writes its card.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from assistant.learned.parts import SHIPPED, read_card_as
from assistant.records import RequestKind

KINDS = "kinds"
LONGEST_READ = 60  # words of a question
_WORD = re.compile(r"[a-z]{1,40}|\d{1,40}|[^\w\s]")
_NAME = re.compile(r"[A-Z]\w{0,40}[A-Z0-9]|[a-z][A-Z]")


class KindsCard(BaseModel):
    """The card of the part: for each kind its intercept, and for each cue its weights in that order."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    kinds: tuple[RequestKind, ...]
    intercepts: tuple[float, ...]
    cues: Mapping[str, Sequence[float]]
    provenance: Mapping[str, object]


def cues_of(question: str) -> frozenset[str]:
    """Return the cues in a question: its words, pairs of them, how it begins, its length, a name.

    A number is "0". A cue with "^" begins the question, one with "#" is no text.
    """
    found = ["0" if word.isdigit() else word for word in _WORD.findall(question.lower())[:LONGEST_READ]]
    pairs = (f"{word} {after}" for word, after in pairwise(found))
    begins = (f"^{' '.join(found[:count])}" for count in (1, 2, 3) if len(found) >= count)
    length = "#short" if len(found) <= 5 else "#middling" if len(found) <= 9 else "#long"
    return frozenset((*found, *pairs, *begins, length, *(("#name",) if _NAME.search(question) else ())))


def likeliest(card: KindsCard, question: str, among: Collection[RequestKind] = ()) -> RequestKind:
    """Return the kind that a question most likely asks for, of those in `among` where any are named."""
    sums = list(card.intercepts)
    for cue in cues_of(question):
        for index, weight in enumerate(card.cues.get(cue, ())):
            sums[index] += weight
    chosen = [
        (total, kind) for total, kind in zip(sums, card.kinds, strict=True) if kind in (among or card.kinds)
    ]
    return max(chosen)[1]


@cache
def read_kinds(folder: Path = SHIPPED) -> KindsCard:
    """Return the part in a folder; raises LearnedError."""
    return read_card_as(KindsCard, folder / f"{KINDS}.json")
