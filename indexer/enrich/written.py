"""A paper's challenge, approach and outcome written by a model and checked against its sentences."""

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
# Tokens that a reply has, and that it may have; one that is cut is asked for again.
USUAL_REPLY, LONGEST_REPLY = 170, 400
_LONGEST_TITLE = 400
_WORD = re.compile(r"[a-z0-9]+")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


class PaperTooLongError(ModelError):
    """Not a sentence of a paper fits into what a model takes in."""


@dataclass(frozen=True, slots=True)
class AspectModel:
    """A model that writes aspects, how it is asked, and what checks its texts.

    `context` is what it takes in, in tokens, its reply included; `price` what a call costs by its tokens, as
    `ModelEntry.price` tells it; `at_once` how many calls may be under way.
    """

    model: ChatModel
    scorer: SupportScorer
    parameters: Parameters
    context: int
    price: Callable[[int | None, int | None], float | None]
    at_once: int

    @property
    def name(self) -> str:
        """The name that what it writes is kept under."""
        return self.model.id


def open_aspect_model(entry: ModelEntry, settings: Settings, encoder: Encoder) -> AspectModel:
    """Return a model that writes aspects, with parameters that leave nothing to chance."""
    usual = settings.max_tokens or entry.max_tokens
    # Who is given more than is usual needs it for thoughts.
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
    aspects = (_checked(name, reply.text(name), sources, chosen.get(name), writer) for name in names)
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
    """Return the sentence that supports a text best, None unless the paper supports all of it."""
    sentences = [source.text for source in sources]
    if not _numbers_known(text, sources) or exchanges_words(text, sentences):
        return None
    (support,) = scorer.reader().weigh([text], [sentences])
    is_carried = support.score >= thresholds().support.found
    return sources[support.sentence] if is_carried and support.sentence is not None else None


def _numbers_known(text: str, sources: Sequence[_Source]) -> bool:
    known = {number for source in sources for number in _NUMBER.findall(source.text)}
    return all(number in known for number in _NUMBER.findall(text))


def _words(text: str) -> list[str]:
    """Return words as ROUGE counts them, without stemming."""
    return _WORD.findall(text.lower())


@cache
def _bounds() -> _Bounds:
    return read_data("written", _Bounds)
