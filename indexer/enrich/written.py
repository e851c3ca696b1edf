"""A paper's challenge, approach and outcome written by a model and checked against its sentences."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from pathlib import Path
from string import Template
from typing import get_args

from pydantic import BaseModel, ConfigDict, Field

from assistant.models import Complete, typed_reply
from assistant.records import Message
from corpus.records import Aspect, AspectName, Paper, Passage
from corpus.text import storable
from indexer.enrich.aspects import choose_aspects, read_sections
from indexer.enrich.data_file import Table, read_data

NOT_STATED = "not stated"
_PARTS = re.compile(r"\A# System\n(?P<system>.+?)^# User\n(?P<user>.+)\Z", re.DOTALL | re.MULTILINE)
_MARKS = str.maketrans("⟦⟧〚〛", "[][]")
_WORD = re.compile(r"[a-z0-9]+")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
# Pairs are tried among this many of the sentences that are most like the text.
_PAIRED = 8


class _Bounds(Table):
    support: float
    most_words: int
    abstract: int
    introduction: int


class _Reply(BaseModel):
    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)

    challenge: str = Field(min_length=1)
    approach: str = Field(min_length=1)
    outcome: str = Field(min_length=1)

    def text(self, name: AspectName) -> str:
        return " ".join(storable(str(getattr(self, name))).split())


@dataclass(frozen=True, slots=True)
class _Source:
    """A sentence of the paper and where it stands."""

    passage: int
    sentence: int
    text: str
    words: Counter[str]


def write_aspects(
    complete: Complete, paper: Paper, passages: Sequence[Passage], *, writer: str = "model"
) -> tuple[Aspect, ...]:
    """Return the aspects that a model writes, with the sentence that carries each; `writer` is its name.

    Where the paper does not carry a text, the chosen sentence stands in its place; what the model says is
    not stated is left out. Raises ModelError, also where the second reply is no better than the first.
    """
    sections = [[_source(place) for place in section] for section in read_sections(paper, passages)]
    sources = [source for section in sections for source in section]
    if not sources:
        return ()
    reply = typed_reply(complete, _prompt(paper, sections), _Reply, label="The model", in_words=False)
    chosen = {aspect.name: aspect for aspect in choose_aspects(paper, passages)}
    names: tuple[AspectName, ...] = get_args(AspectName)
    aspects = (_checked(name, reply.text(name), sources, chosen.get(name), writer) for name in names)
    return tuple(aspect for aspect in aspects if aspect)


def _source(place: tuple[Passage, int]) -> _Source:
    passage, index = place
    text = passage.sentence_text(index)
    return _Source(passage.number, index, text, Counter(_words(text)))


def _prompt(paper: Paper, sections: Sequence[Sequence[_Source]]) -> tuple[Message, ...]:
    bounds = _bounds()
    abstract, introduction = (" ".join(source.text for source in section) for section in sections)
    system, user = _template()
    asked = Template(user).substitute(
        title=_as_data(paper.title, 400),
        abstract=_as_data(abstract, bounds.abstract) or "(none)",
        introduction=_as_data(introduction, bounds.introduction) or "(none)",
    )
    return Message("system", system), Message("user", asked)


def _as_data(text: str, limit: int) -> str:
    """Return foreign text on one line, cut, and unable to forge a mark."""
    return " ".join(storable(text).translate(_MARKS).split())[:limit]


def _checked(
    name: AspectName, text: str, sources: Sequence[_Source], chosen: Aspect | None, writer: str
) -> Aspect | None:
    """Return a text as an aspect where the paper carries it, else the chosen sentence; None if not stated."""
    if text.rstrip(".").lower() == NOT_STATED:
        return None
    words = Counter(_words(text))
    if not 0 < words.total() <= _bounds().most_words or not _numbers_known(text, sources):
        return chosen
    ranked = sorted(sources, key=lambda source: -_f1(words, source.words))
    if _support(words, ranked[:_PAIRED]) < _bounds().support:
        return chosen
    best = ranked[0]
    overlap = round(_precision(words, best.words), 3)
    return Aspect(name, text, best.passage, best.sentence, writer=writer, overlap=overlap)


def _numbers_known(text: str, sources: Sequence[_Source]) -> bool:
    known = {number for source in sources for number in _NUMBER.findall(source.text)}
    return all(number in known for number in _NUMBER.findall(text))


def _support(words: Counter[str], sources: Sequence[_Source]) -> float:
    """Return ROUGE-1 precision against the best sentence or the best two together."""
    singles = [source.words for source in sources]
    pairs = [first + second for first, second in combinations(singles, 2)]
    return max(_precision(words, held) for held in (*singles, *pairs))


def _precision(words: Counter[str], held: Counter[str]) -> float:
    return (words & held).total() / words.total()


def _f1(words: Counter[str], held: Counter[str]) -> float:
    total = words.total() + held.total()
    return 2 * (words & held).total() / total


def _words(text: str) -> list[str]:
    """Return words as ROUGE counts them, without stemming."""
    return _WORD.findall(text.lower())


@cache
def _template() -> tuple[str, str]:
    """Return the prompt's two parts; raises ValueError where the file has not both."""
    parts = _PARTS.match((Path(__file__).parent / "prompts" / "aspects.md").read_text(encoding="utf-8"))
    if parts is None:
        raise ValueError("prompt 'aspects': a '# System' part and then a '# User' part are needed")
    return parts["system"].strip(), parts["user"].strip()


@cache
def _bounds() -> _Bounds:
    return read_data("written", _Bounds)
