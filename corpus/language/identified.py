"""Identification of the language of a text, by the small model of py3langid.

For a paper a likely language is enough. For a question it must be certain: an English question taken for
another language would be refused, and questions are short and full of names.
"""

import re
import tomllib
import unicodedata
from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

from corpus.language.stemming import ENGLISH, stop_words
from corpus.text import words

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

UNTOLD = "und"  # an unknown language that is certainly not English
_SHORTEST_WORD = 3
_TEXTS_KEPT = 1024
# "Von Mises", "de la Cruz", "El Niño", "Die Hard" are names in any language.
_NAME_PARTICLES = re.compile(
    r"\b(?:(?i:von|van|der|die|das|de|del|della|di|do|dos|das|le|la|les|el|los|las|il|zu)\s{1,3}){1,3}(?=[A-Z])"
)
_QUOTED = re.compile(r"[\"“”«»„][^\"“”«»„]{1,200}[\"“”«»„]|(?<!\w)'[^']{2,60}'|\$[^$]{1,200}\$|`[^`]{1,200}`")
_PLAIN = re.compile(r"[^\W\d_]+")
_LATIN_WORD = re.compile(r"[A-Za-z0-9]+")


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class _OfPapers(_Table):
    letters: int
    sure: float
    read: int
    english_share: float


class _OfQuestions(_Table):
    sure: float
    english: float
    words: int
    english_of_few: float
    marked_sure: float
    marked_english: float
    english_share: float


class _Languages(_Table):
    known: str
    paper: _OfPapers
    question: _OfQuestions
    words: dict[str, str]

    @property
    def all_words(self) -> frozenset[str]:
        return frozenset(word for listed in self.words.values() for word in listed.split())


def language_of_text(text: str) -> str:
    """Identify the language of a text, ISO 639-1; "" if it is too short or uncertain."""
    bars = _languages().paper
    text = text[: bars.read]
    if sum(map(str.isalpha, text)) < bars.letters:
        return ""
    text_words = words(text)
    if text_words and _english_words(text_words) >= bars.english_share * len(text_words):
        return ENGLISH
    code, sure = _ranked(text)[0]
    return code if sure >= bars.sure else ""


@lru_cache(maxsize=_TEXTS_KEPT)
def foreign_language(text: str) -> str:
    """Identify the language of a short text that is certainly not English, else return "".

    Returns UNTOLD if the language is uncertain.
    """
    unquoted = _QUOTED.sub(" ", text)
    if _is_in_other_letters(unquoted):
        return _likeliest(unquoted)
    nameless, text_words = _NAME_PARTICLES.sub(" ", unquoted), words(unquoted)
    is_marked = not _languages().all_words.isdisjoint(words(nameless))
    marked = sum(word in _languages().all_words for word in text_words) if is_marked else 0
    english = _english_words(text_words)
    if marked > max(1, english):
        return _likeliest(unquoted)
    if not is_marked and text_words and english >= _languages().question.english_share * len(text_words):
        return ""
    return _surely_foreign(nameless, is_marked=0 < marked >= english)


def _english_words(told: Sequence[str]) -> int:
    """Count the English function words."""
    return sum(word in stop_words() for word in told)


def _is_in_other_letters(text: str) -> bool:
    """Return True if most letters of a text are not Latin, and not only symbols of formulas: "σ(α)".

    Letters of Latin names do not count: "ColBERTv2 的索引有多大？".
    """
    nameless = _LATIN_WORD.sub(lambda word: word[0] if word[0].isalpha() and word[0].islower() else " ", text)
    letters = [character for character in nameless if character.isalpha()]
    others = [letter for letter in letters if "LATIN" not in unicodedata.name(letter, "")]
    written = (run for run in _PLAIN.findall(text) if len(run) > 1)
    return len(others) * 2 > len(letters) and any(set(run) & set(others) for run in written)


def _surely_foreign(text: str, *, is_marked: bool) -> str:
    bars = _languages().question
    ranked = _ranked(text)
    (code, sure), english = ranked[0], dict(ranked)[ENGLISH]
    if is_marked and sure >= bars.marked_sure and english <= bars.marked_english:
        return code
    plain = sum(len(word) >= _SHORTEST_WORD and word.islower() for word in _PLAIN.findall(text))
    least = bars.english if plain >= bars.words else bars.english_of_few
    return code if sure >= bars.sure and english <= least and plain > 1 else ""


def _likeliest(text: str) -> str:
    """Return the likeliest language of a text that is not in English."""
    others = [(code, sure) for code, sure in _ranked(text) if code != ENGLISH]
    code, sure = others[0]
    return code if sure >= _languages().question.sure else UNTOLD


def _ranked(text: str) -> Sequence[tuple[str, float]]:
    return [(str(code), float(sure)) for code, sure in _identifier().rank(text)]


@cache
def _languages() -> _Languages:
    file = Path(__file__).with_name("languages.toml").read_text(encoding="utf-8")
    return _Languages.model_validate(tomllib.loads(file))


@cache
def _identifier() -> "LanguageIdentifier":
    from py3langid.langid import MODEL_FILE, LanguageIdentifier  # noqa: PLC0415 - a second to load

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    identifier.set_languages(_languages().known.split())
    return identifier
