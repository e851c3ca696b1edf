"""A paper's challenge, approach and outcome, written by a model and checked against its sentences."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import get_args

from pydantic import BaseModel, ConfigDict, Field

from assistant.checking.mending.roles import exchanges_words
from assistant.checking.scorer import SupportScorer
from assistant.checking.thresholds import thresholds
from assistant.models.menu import ModelEntry, open_model
from assistant.models.protocol import ChatModel, Exchange, ModelError
from assistant.models.typed import with_schema
from assistant.prompts.material import SPARE_TOKENS, estimate_tokens
from assistant.prompts.render import as_line, load_prompt
from assistant.records import Message, Parameters
from corpus.encoders.base import Encoder
from corpus.records import Aspect, AspectName, Paper, Passage
from corpus.settings import Settings
from corpus.text import storable
from indexer.enrich.aspects import choose_aspects, read_sections
from indexer.enrich.data_file import Table, read_data

NOT_STATED = "not stated"
PROMPTS = Path(__file__).parent / "prompts"
# Tokens of a usual reply, and the limit; a truncated reply is requested again.
USUAL_REPLY, LONGEST_REPLY = 170, 400
_LONGEST_TITLE = 400
_WORD = re.compile(r"[a-z0-9]+")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


class PaperTooLongError(ModelError):
    """No sentence of a paper fits into a model's context."""


@dataclass(frozen=True, slots=True)
class AspectModel:
    """A model that writes aspects, its parameters, and the scorer that checks its texts.

    `context` is in tokens, reply included; `price` is that of a call by its tokens, as `ModelEntry.price`;
    `at_once` is the most parallel calls.
    """

    model: ChatModel
    scorer: SupportScorer
    parameters: Parameters
    context: int
    price: Callable[[int | None, int | None], float | None]
    at_once: int

    @property
    def name(self) -> str:
        """The name stored with the aspects it writes."""
        return self.model.id


def open_aspect_model(entry: ModelEntry, settings: Settings, encoder: Encoder) -> AspectModel:
    """Return a model that writes aspects, with deterministic parameters."""
    usual = settings.max_tokens or entry.max_tokens
    # A larger limit than usual is for reasoning tokens.
    longest = usual if usual > Parameters().max_tokens else LONGEST_REPLY
    parameters = Parameters(
        temperature=0.0,
        top_p=1.0,
        max_tokens=min(max(longest, LONGEST_REPLY), entry.context // 2),
        repetition_penalty=settings.repetition_penalty,
    )
    price = (lambda *_: 0.0) if entry.served_by.runs_here else entry.price
    model, scorer = open_model(entry, settings), SupportScorer(encoder)
    return AspectModel(model, scorer, parameters, entry.context, price, settings.model_calls)


class _Bounds(Table):
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
    """A sentence of the paper and its position."""

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
    """Return the aspects that a model writes, each with the sentence that supports it.

    If the paper does not support a text, the chosen sentence replaces it; an aspect that the model calls not
    stated is left out. Raises ModelError, also if the second reply is invalid too.
    """
    sections = _sections(paper, passages)
    sources = [source for section in sections for source in section]
    if not sources:
        return ()
    messages = _messages(writer, paper, sections)
    reply = writer.model.reply(messages, writer.parameters, AspectsReply, on_exchange)
    chosen = {aspect.name: aspect for aspect in choose_aspects(paper, passages)}
    names: tuple[AspectName, ...] = get_args(AspectName)
    aspects = (_checked(name, reply.text(name), sources, chosen.get(name), writer) for name in names)
    return tuple(aspect for aspect in aspects if aspect)


def prompt_tokens(writer: AspectModel, paper: Paper, passages: Sequence[Passage]) -> int:
    """Return an upper estimate of the prompt tokens for a paper; raises PaperTooLongError."""
    sections = _sections(paper, passages)
    return _tokens(_messages(writer, paper, sections)) if any(sections) else 0


def _sections(paper: Paper, passages: Sequence[Passage]) -> list[list[_Source]]:
    return [
        [
            _Source(passage.number, index, text, Counter(_words(text)))
            for passage, index in section
            for text in [passage.sentence_text(index)]
        ]
        for section in read_sections(paper, passages)
    ]


def _messages(
    writer: AspectModel, paper: Paper, sections: Sequence[Sequence[_Source]]
) -> tuple[Message, ...]:
    """Render a paper's prompt, with abstract and introduction truncated to fit."""
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
    """Return an upper estimate of the tokens of messages, with the reply's schema if it is sent as text."""
    return sum(estimate_tokens(message.content) for message in with_schema(messages, AspectsReply))


def _beginning(sources: Sequence[_Source], characters: int, tokens: int) -> str:
    """Return as many of the first sentences as fit, on one line, without the prompt's markers."""
    text = ""
    for source in sources:
        longer = f"{text} {as_line(storable(source.text))}".strip()
        if len(longer) > characters or estimate_tokens(longer) > tokens:
            break
        text = longer
    return text


def _checked(
    name: AspectName, text: str, sources: Sequence[_Source], chosen: Aspect | None, writer: AspectModel
) -> Aspect | None:
    """Return a text as an aspect if the paper supports it, else the chosen sentence; None if not stated."""
    if text.rstrip(".").lower() == NOT_STATED:
        return None
    words = Counter(_words(text))
    if not 0 < words.total() <= _bounds().most_words:
        return chosen
    best = _carrier(text, sources, writer.scorer)
    if best is None:
        return chosen
    overlap = round((words & best.words).total() / words.total(), 3)
    return Aspect(name, text, best.passage, best.sentence, writer=writer.name, overlap=overlap)


def _carrier(text: str, sources: Sequence[_Source], scorer: SupportScorer) -> _Source | None:
    """Return the sentence that supports a text best, None if the paper does not support it."""
    sentences = [source.text for source in sources]
    numbers = {number for sentence in sentences for number in _NUMBER.findall(sentence)}
    if not numbers.issuperset(_NUMBER.findall(text)) or exchanges_words(text, sentences):
        return None
    (support,) = scorer.reader().weigh([text], [sentences])
    is_carried = support.score >= thresholds().support.found
    return sources[support.sentence] if is_carried and support.sentence is not None else None


def _words(text: str) -> list[str]:
    """Return the words as ROUGE tokenises them, without stemming."""
    return _WORD.findall(text.lower())


@cache
def _bounds() -> _Bounds:
    return read_data("written", _Bounds)
