"""A model that marks texts of several systems in one prompt, several times, each time in another order."""

import random
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, create_model

from assistant.generators import default_parameters
from assistant.models import ChatModel, Exchange, ModelError, available_models, open_model
from assistant.prompts import estimate_tokens
from assistant.records import Message, Parameters
from corpus.settings import Settings
from evaluation.input_files import EvaluationError

Mark = Literal[1, 2, 3, 4, 5]
Marks = Mapping[str, int]
REPLY_TOKENS, REPLY_TOKENS_PER_TEXT = 100, 250
LONGEST_ANALYSIS = 600


@dataclass(frozen=True, slots=True)
class Ballot:
    """What is sent for one vote: the texts by their index in the order shown, and the prompt that does so."""

    order: tuple[int, ...]
    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class JudgeVote:
    """One vote: the order shown, and for each text its marks, what was said of it, and the best, mapped back.

    `problem` says why a vote had to be discarded, `served` which model the server says has voted where that
    is not the one asked.
    """

    order: tuple[int, ...]
    marks: tuple[Marks, ...] = ()
    analyses: tuple[str, ...] = ()
    best: int | None = None
    problem: str = ""
    served: str = ""


@dataclass(frozen=True, slots=True)
class Judge:
    """A chat model that marks; of so many tokens takes its `context` in."""

    model: ChatModel
    parameters: Parameters
    context: int
    at_once: int = 4

    def cast(self, ballots: Sequence[Ballot], dimensions: tuple[str, ...]) -> Iterator[tuple[int, JudgeVote]]:
        """Yield the index of each ballot with its vote, as they come."""
        with ThreadPoolExecutor(self.at_once) as pool:
            asked = {
                pool.submit(self._vote, ballot, dimensions): index for index, ballot in enumerate(ballots)
            }
            try:
                for vote in as_completed(asked):
                    yield asked[vote], vote.result()
            finally:
                # Who stops waits for what is under way alone.
                pool.shutdown(wait=False, cancel_futures=True)

    def check_room(self, ballot: Ballot) -> None:
        """Raise EvaluationError where the judge cannot take a prompt in and reply."""
        needed = sum(estimate_tokens(message.content) for message in ballot.messages)
        needed += self.parameters_for(ballot).max_tokens
        if needed > self.context:
            raise EvaluationError(
                f"The judge {self.model.label} takes in {self.context:,} tokens; {len(ballot.order)} texts"
                f" together need about {needed:,}. Judge fewer at once, or choose another judge."
            )

    def parameters_for(self, ballot: Ballot) -> Parameters:
        """Return the parameters that leave room for what is said of each text."""
        return replace(self.parameters, max_tokens=REPLY_TOKENS + REPLY_TOKENS_PER_TEXT * len(ballot.order))

    def own_among(self, writers: Mapping[str, Collection[str]]) -> tuple[str, ...]:
        """Return the systems that the judge itself wrote for, of the models that wrote for each."""
        return tuple(name for name, models in writers.items() if self.model.id in models)

    def calls_said(self, calls: int) -> str:
        """Return what people are told before the judge is asked."""
        return f"The judge {self.model.label} is asked {calls:,} times, at most twice as often."

    def _vote(self, ballot: Ballot, dimensions: tuple[str, ...]) -> JudgeVote:
        order = ballot.order
        asked: list[Exchange] = []
        try:
            form = judgement(len(order), dimensions)
            reply = self.model.reply(ballot.messages, self.parameters_for(ballot), form, asked.append)
            given = reply.model_dump()
        except ModelError as error:
            return JudgeVote(order, problem=error.fault)
        shown = {index: given[f"text_{place}"] for place, index in enumerate(order, start=1)}
        return JudgeVote(
            order=order,
            marks=tuple({name: shown[index][name] for name in dimensions} for index in sorted(order)),
            analyses=tuple(shown[index]["analysis"] for index in sorted(order)),
            best=order[given["best"] - 1],
            served=asked[-1].completion.served if asked else "",
        )


def open_judge(name: str, settings: Settings) -> Judge:
    """Return the model of that name as a judge; raises EvaluationError when it cannot be chosen."""
    entries = {entry.id: entry for entry in available_models(settings)}
    if name not in entries:
        raise EvaluationError(
            f"There is no model {name!r} to judge. Available: {', '.join(entries) or 'none'}. Set"
            " TOGETHER_API_KEY for hosted models, or PAPER_TRAIL_MODEL_URL for a server of your own."
        )
    entry = entries[name]
    return Judge(
        model=open_model(entry, settings),
        parameters=default_parameters(settings, entry),
        context=entry.context,
        at_once=settings.model_calls,
    )


def shown_orders(systems: int, votes: int, seed: int | str) -> tuple[tuple[int, ...], ...]:
    """Return the order in which each vote is shown the systems.

    Shuffled, and then turned by one for as many votes as there are systems, so that each has each place
    equally often: a judge who prefers a place prefers no system.
    """
    # Not for secrets: the same orders each time.
    chance = random.Random(seed)
    orders: list[tuple[int, ...]] = []
    while len(orders) < votes:
        shuffled = chance.sample(range(systems), systems)
        orders += [tuple(shuffled[turn:] + shuffled[:turn]) for turn in range(systems)]
    return tuple(orders[:votes])


class _Judgement(BaseModel):
    model_config = ConfigDict(extra="forbid")


@cache
def judgement(texts: int, dimensions: tuple[str, ...]) -> type[BaseModel]:
    """Return the form of a vote: for each text an analysis and a mark for each quality, and the best."""
    marks = dict.fromkeys(dimensions, (Mark, ...))
    judged = create_model(  # type: ignore[call-overload]
        "Judged", __base__=_Judgement, analysis=(str, Field(max_length=LONGEST_ANALYSIS)), **marks
    )
    numbers = Literal[tuple(range(1, texts + 1))]  # type: ignore[valid-type]
    shown = {f"text_{place}": (judged, ...) for place in range(1, texts + 1)}
    return create_model("Judgement", __base__=_Judgement, **shown, best=(numbers, ...))  # type: ignore[call-overload, no-any-return]
