"""The perspective of a question: "from an efficiency perspective", "on cost"."""

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from assistant.questions.vocabulary import stems
from corpus.text import words

_POINT = r"(?:perspective|point of view|viewpoint|standpoint|angle|lens)"
_ANGLE = r"(?P<{}>[\w-]{{3,30}}(?: (?:and )?[\w-]{{3,30}}){{0,3}}?)"
_FRAME = re.compile(
    rf",? ?\b(?:from|under|through|in) (?:an?|the|its|their) {_ANGLE.format('a')} {_POINT}\b"
    rf"|,? ?\b(?:from|under|through) the {_POINT} of (?:its |their |the )?{_ANGLE.format('b')}(?=[,;:.?!]|$)"
    rf"|,? ?\b(?:in terms of|with (?:regard|respect) to|with (?:a |the )?focus on|focus(?:ing|ed) on) "
    rf"(?:its |their |the )?{_ANGLE.format('c')}(?=[,;:.?!]|$)",
    re.IGNORECASE,
)
# "Compare A and B on cost": of words that are known to name one.
_ON = re.compile(
    r"^\W*(?:compare|contrast|summari[sz]e)\b.{1,200}\b(?:on|by) (?:its |their |the )?([\w-]{3,30})\W*$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Perspective:
    """A perspective: its name in the question, and a pattern of sentences that take it.

    `plain` is its name in papers, "" if that is the same.
    """

    name: str
    said: re.Pattern[str] | None
    plain: str = ""

    def is_taken_by(self, sentence: str) -> bool:
        """Return True if a sentence has words of the perspective's name or matches its pattern."""
        if self.said and self.said.search(sentence):
            return True
        return bool(stems(self.name) & stems(sentence))


@cache
def known() -> tuple[tuple[frozenset[str], re.Pattern[str], str], ...]:
    """Return for each perspective the words that name it, its pattern and its name in papers."""
    table = tomllib.loads(Path(__file__).with_name("perspectives.toml").read_text(encoding="utf-8"))
    return tuple(
        (frozenset(entry["asked"].split()), re.compile(entry["said"], re.IGNORECASE), entry.get("plain", ""))
        for entry in table.values()
    )


def perspective_of(question: str) -> Perspective | None:
    """Return the perspective that a question names, None if it names none."""
    frame, on = _FRAME.search(question), _ON.search(question)
    name = next(filter(None, frame.groups()), "") if frame else on[1] if on else ""
    name_words = set(words(name))
    pattern, plain = next(
        ((pattern, plain) for naming, pattern, plain in known() if naming & name_words), (None, "")
    )
    return Perspective(name, pattern, plain) if frame or pattern else None


def in_plain_words(question: str) -> str:
    """Return a question with its perspective in the words of papers.

    "Tell me more about X from an empirical perspective" asks for X in terms of its results.
    """
    perspective = perspective_of(question)
    if perspective is None or not perspective.plain or not _FRAME.search(question):
        return question
    return _FRAME.sub(f" in terms of its {perspective.plain}", question, count=1)


def without_perspective(question: str) -> str:
    """Return a question without the words that name its perspective."""
    return _FRAME.sub("", question, count=1)
