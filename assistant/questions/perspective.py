"""From where a question wants something looked at: "from an efficiency perspective", "on cost"."""

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
    """A perspective by its name in the question, and what a sentence shows that speaks of it.

    `plain` is what papers call it, "" where that is its name.
    """

    name: str
    said: re.Pattern[str] | None
    plain: str = ""

    def is_taken_by(self, sentence: str) -> bool:
        """Return True if a sentence speaks of what is looked at: by its words, or by others that tell it."""
        if self.said and self.said.search(sentence):
            return True
        return bool(stems(self.name) & stems(sentence))


@cache
def known() -> tuple[tuple[frozenset[str], re.Pattern[str], str], ...]:
    """Return the perspectives that are known: the words that name each, what speaks of it, its plain name."""
    table = tomllib.loads(Path(__file__).with_name("perspectives.toml").read_text(encoding="utf-8"))
    return tuple(
        (frozenset(entry["asked"].split()), re.compile(entry["said"], re.IGNORECASE), entry.get("plain", ""))
        for entry in table.values()
    )


def perspective_of(question: str) -> Perspective | None:
    """Return the perspective that a question names, None where it names none."""
    found, on = _FRAME.search(question), _ON.search(question)
    name = next(filter(None, found.groups()), "") if found else on[1] if on else ""
    named = set(words(name))
    said, plain = next(((said, plain) for asked, said, plain in known() if asked & named), (None, ""))
    return Perspective(name, said, plain) if found or said else None


def in_plain_words(question: str) -> str:
    """Return a question with its perspective in the words that papers have for it.

    "Tell me more about X from an empirical perspective" asks for X in terms of its results.
    """
    perspective = perspective_of(question)
    if perspective is None or not perspective.plain or not _FRAME.search(question):
        return question
    return _FRAME.sub(f" in terms of its {perspective.plain}", question, count=1)


def without_perspective(question: str) -> str:
    """Return a question without the words that name its perspective."""
    return _FRAME.sub("", question, count=1)
