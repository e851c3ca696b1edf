"""Examples as the product's own answering prompt and the reply that is wanted to it."""

import random
import tomllib
from collections.abc import Callable, Generator, Sequence
from functools import cache
from pathlib import Path
from string import Template

from assistant.generators import PromptedGenerator, by_rank
from assistant.models import Completion, Enough, Exchange, ModelError, OnPiece, Schema
from assistant.prompts import NO_ANSWER, as_line
from assistant.questions import request_kind
from assistant.records import CallLog, Draft, Message, Parameters, Rewrite
from corpus.records import Scope
from corpus.text import shortened
from training.truthreader.citing import written
from training.truthreader.context import fewer_papers
from training.truthreader.dialogue import as_turn
from training.truthreader.records import Dropped, Example, Row

REFUSALS = Path(__file__).parent / "prompts" / "refusals.toml"
TITLES, LONGEST_TITLE = 3, 80


class _ListeningModel:
    """A model that writes nothing and keeps what it was sent."""

    id = label = "the model in training"

    def __init__(self) -> None:
        self.messages: tuple[Message, ...] = ()

    def stream(
        self,
        messages: Sequence[Message],
        parameters: Parameters,  # noqa: ARG002
        enough: Enough | None = None,  # noqa: ARG002
    ) -> Generator[str, None, Completion]:
        self.messages = tuple(messages)
        yield ""
        return Completion("")

    def reply(
        self,
        messages: Sequence[Message],  # noqa: ARG002
        parameters: Parameters,  # noqa: ARG002
        schema: type[Schema],
        on_exchange: Callable[[Exchange], None] | None = None,  # noqa: ARG002
        on_piece: OnPiece | None = None,  # noqa: ARG002
    ) -> Schema:
        raise ModelError(f"Nothing is asked for in the form of {schema.__name__}.")


def render(example: Example, context: int, chance: random.Random) -> Row | Dropped:
    """Return an example as the messages that the product would send a model of so many tokens, and the reply.

    Uncited papers that do not fit go; where even the cited ones do not, the example is dropped.
    """
    fitting = fewer_papers(example, lambda one: _sent(one, context) is not None)
    messages = _sent(fitting, context) if fitting else None
    if fitting is None or messages is None:
        return Dropped(example.pair.id, "rendering", "too long for the context", example.pair.question)
    reply = answer_text(fitting, chance)
    return Row(
        id=f"{example.pair.id}:{example.change}",
        kind=example.pair.kind,
        history_type=fitting.history_type,
        change=fitting.change,
        is_refusal=not fitting.sentences,
        cited=fitting.cited,
        papers=tuple(paper.paper.id for paper in fitting.evidence.papers),
        messages=(*messages, Message("assistant", reply)),
    )


def answer_text(example: Example, chance: random.Random) -> str:
    """Return the reply that is wanted: the cited answer, or the line that the product reads as a refusal."""
    if not example.sentences:
        return f"{NO_ANSWER} {_reason(example, chance)}"
    open_end = f" {chance.choice(_wordings()['open'])}" if example.is_partial else ""
    return written(example.sentences) + open_end


def _sent(example: Example, context: int) -> tuple[Message, ...] | None:
    """Return what the product sends, None where it would have to leave a passage out."""
    model = _ListeningModel()
    scope = _scope(example)
    question = example.pair.question
    rewrite = Rewrite(question, question, kind=request_kind(question, scope))
    turns = tuple(map(as_turn, example.history))
    generator = PromptedGenerator(model, context=context, order=by_rank)
    try:
        draft = _draft(generator.write_draft(rewrite, turns, example.evidence, CallLog()))
    except ModelError:
        return None
    return None if draft.left_out else model.messages


def _scope(example: Example) -> Scope:
    """Return what is asked: a summary of the one paper alone, anything else of the whole corpus."""
    papers = example.evidence.papers
    alone = example.pair.kind == "summary" and len(papers) == 1
    return Scope(papers=(papers[0].paper.id,)) if alone else Scope()


def _draft(pieces: Generator[str, None, Draft]) -> Draft:
    while True:
        try:
            next(pieces)
        except StopIteration as end:
            draft: Draft = end.value
            return draft


def _reason(example: Example, chance: random.Random) -> str:
    titles = [shortened(as_line(one.paper.title), LONGEST_TITLE) for one in example.evidence.papers]
    named = ", ".join(f"“{title}”" for title in titles[:TITLES])
    rest = " and other papers" if len(titles) > TITLES else ""
    return Template(chance.choice(_wordings()["reasons"])).substitute(titles=f"{named}{rest}")


@cache
def _wordings() -> dict[str, list[str]]:
    return tomllib.loads(REFUSALS.read_text(encoding="utf-8"))
