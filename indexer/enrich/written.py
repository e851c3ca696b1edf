"""A paper's challenge, approach and outcome written by a model and checked against its sentences."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import get_args

from pydantic import BaseModel, ConfigDict, Field

from assistant.models import ChatModel, Exchange, ModelError, with_schema
from assistant.prompts import SPARE_TOKENS, as_line, estimate_tokens, load_prompt
from assistant.records import Message, Parameters
from corpus.records import Aspect, AspectName, Paper, Passage
from corpus.text import storable
from indexer.enrich.aspects import choose_aspects, read_sections
from indexer.enrich.data_file import Table, read_data

NOT_STATED = "not stated"
PROMPTS = Path(__file__).parent / "prompts"
# Tokens that a reply has, and that it may have; one that is cut is asked for again.
USUAL_REPLY, LONGEST_REPLY = 170, 400
_LONGEST_TITLE = 400
_WORD = re.compile(r"[a-z0-9]+")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
# Pairs are tried among this many of the sentences that are most like the text.
_PAIRED = 8


class PaperTooLongError(ModelError):
    """Not a sentence of a paper fits into what a model takes in."""


@dataclass(frozen=True, slots=True)
class AspectModel:
    """A model that writes aspects, and how it is asked.

    `context` is what it takes in, in tokens, its reply included; `price` what a call costs by its tokens, as
    `ModelEntry.price` tells it; `at_once` how many calls may be under way.
    """

    model: ChatModel
    parameters: Parameters
    context: int
    price: Callable[[int | None, int | None], float | None]
    at_once: int

    @property
    def name(self) -> str:
        """The name that what it writes is kept under."""
        return self.model.id


class _Bounds(Table):
    support: float
    most_words: int
    abstract: int
    introduction: int


class AspectsReply(BaseModel):
    """A model's reply: the three texts."""

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
    writer: AspectModel,
    paper: Paper,
    passages: Sequence[Passage],
    on_exchange: Callable[[Exchange], None] | None = None,
) -> tuple[Aspect, ...]:
    """Return the aspects that a model writes, with the sentence that carries each.

    Where the paper does not carry a text, the chosen sentence stands in its place; what the model says is
    not stated is left out. Raises ModelError, also where the second reply is no better than the first.
    """
    sections = _sections(paper, passages)
    sources = [source for section in sections for source in section]
    if not sources:
        return ()
    messages = _messages(writer, paper, sections)
    reply = writer.model.reply(messages, writer.parameters, AspectsReply, on_exchange)
    chosen = {aspect.name: aspect for aspect in choose_aspects(paper, passages)}
    names: tuple[AspectName, ...] = get_args(AspectName)
    aspects = (_checked(name, reply.text(name), sources, chosen.get(name), writer.name) for name in names)
    return tuple(aspect for aspect in aspects if aspect)


def prompt_tokens(writer: AspectModel, paper: Paper, passages: Sequence[Passage]) -> int:
    """Estimate the prompt tokens for a paper from above; raises PaperTooLongError."""
    sections = _sections(paper, passages)
    return _tokens(_messages(writer, paper, sections)) if any(sections) else 0


def _sections(paper: Paper, passages: Sequence[Passage]) -> list[list[_Source]]:
    return [[_source(place) for place in section] for section in read_sections(paper, passages)]


def _source(place: tuple[Passage, int]) -> _Source:
    passage, index = place
    text = passage.sentence_text(index)
    return _Source(passage.number, index, text, Counter(_words(text)))


def _messages(
    writer: AspectModel, paper: Paper, sections: Sequence[Sequence[_Source]]
) -> tuple[Message, ...]:
    """Render a paper's prompt, with abstract and introduction cut at their ends to fit."""
    bounds, prompt = _bounds(), load_prompt("aspects", PROMPTS)
    title = as_line(storable(paper.title))[:_LONGEST_TITLE]
    room = writer.context - writer.parameters.max_tokens - SPARE_TOKENS
    room -= _tokens(prompt.render(title=title, abstract="", introduction=""))
    abstract = _beginning(sections[0], bounds.abstract, room)
    introduction = _beginning(sections[1], bounds.introduction, room - estimate_tokens(abstract))
    if not (abstract if sections[0] else introduction):
        raise PaperTooLongError(
            f"not a sentence of it fits into what {writer.model.label} takes in ({writer.context:,} tokens,"
            f" {writer.parameters.max_tokens:,} of them for its reply); choose a model with a longer context"
        )
    return prompt.render(title=title, abstract=abstract or "(none)", introduction=introduction or "(none)")


def _tokens(messages: Sequence[Message]) -> int:
    """Estimate the tokens of messages from above, with the schema of the reply where it is sent in words."""
    return sum(estimate_tokens(message.content) for message in with_schema(messages, AspectsReply))


def _beginning(sources: Sequence[_Source], characters: int, tokens: int) -> str:
    """Return as many of the first sentences as fit, on one line and unable to forge a mark."""
    text = ""
    for source in sources:
        longer = f"{text} {as_line(storable(source.text))}".strip()
        if len(longer) > characters or estimate_tokens(longer) > tokens:
            break
        text = longer
    return text


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
def _bounds() -> _Bounds:
    return read_data("written", _Bounds)
