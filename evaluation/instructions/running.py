"""Items asked of a model, held to a schema or free, several at once."""

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal, Protocol

from pydantic import BaseModel, ValidationError

from assistant.models import (
    BadReplyError,
    CallLimits,
    ChatModel,
    Exchange,
    ModelError,
    ModelUnavailableError,
    read_reply,
)
from assistant.records import Message, Parameters
from evaluation.instructions.finding import FoundJson, find_json
from evaluation.instructions.items import Item

Say = Callable[[str], None]
Way = Literal["held", "free"]
# So many errors in a row, with no reply before them, are no fault of single items.
MOST_ERRORS = 8
SAID_EVERY = 100
LOOK_AGAIN_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model replied to an item in the end, as it is scored.

    `fits_at_first`: the first reply is, as it stands, of the task's form. `fits_at_last`: the last one is, or
    what was found in it. Both are None where the task asks for text. `problem` is the error that came
    instead of a reply.
    """

    item: Item
    value: object
    exchanges: tuple[Exchange, ...] = ()
    fits_at_first: bool | None = None
    fits_at_last: bool | None = None
    problem: str = ""

    @property
    def is_nothing(self) -> bool:
        return not any(one.completion.text.strip() for one in self.exchanges)


class TimedModel(ChatModel, Protocol):
    """A chat model that says how long a reply took in whatever form it was asked for."""

    def exchange(self, messages: Sequence[Message], parameters: Parameters) -> Exchange:
        """Return a whole reply; raises ModelError, also where it breaks off."""
        ...


@dataclass(frozen=True, slots=True)
class Asker:
    """A model, in which way it is asked, with what parameters and how many items at once at most."""

    model: TimedModel
    way: Way
    parameters: Parameters
    limits: CallLimits
    at_once: int

    def ask(self, item: Item) -> Reply:
        """Return the reply to an item; raises ModelUnavailableError, any other error is the reply's."""
        messages = (Message("user", item.instruction),)
        try:
            if self.way == "held" and item.task.form:
                return self._held(item, messages, item.task.form)
            return _free(item, self.model.exchange(messages, self.parameters))
        except ModelUnavailableError:
            raise
        except ModelError as error:
            return _nothing(item, problem=error.fault)

    def _held(self, item: Item, messages: Sequence[Message], form: type[BaseModel]) -> Reply:
        exchanges: list[Exchange] = []
        try:
            value = self.model.reply(messages, self.parameters, form, exchanges.append).model_dump(
                mode="json"
            )
        except BadReplyError:
            return _nothing(item, tuple(exchanges))
        # A reply of null says that there is nothing to give.
        value = item.task.nothing if value is None else value
        return Reply(item, value, tuple(exchanges), len(exchanges) == 1, fits_at_last=True)


def ask_all(asker: Asker, items: Sequence[Item], say: Say) -> list[Reply]:
    """Return the replies to all items in their order; raises ModelError where the model cannot be asked.

    What has come until then is kept by the model.
    """
    places = _Places(asker.limits)
    replies: dict[int, Reply] = {}

    def ask(item: Item) -> Reply:
        with places.one():
            return asker.ask(item)

    is_answering = False
    with ThreadPoolExecutor(asker.at_once) as pool:
        asked = {pool.submit(ask, item): index for index, item in enumerate(items)}
        try:
            for future in as_completed(asked):
                reply = replies[asked[future]] = future.result()
                is_answering = is_answering or not reply.problem
                if not is_answering and len(replies) >= min(MOST_ERRORS, len(items)):
                    raise ModelError(reply.problem)
                if len(replies) % SAID_EVERY == 0:
                    say(f"{len(replies):,} of {len(items):,} items.")
        finally:
            # Who stops waits for what is under way alone.
            pool.shutdown(wait=False, cancel_futures=True)
    return [replies[index] for index in range(len(items))]


class _Places:
    """Lets as many ask at once as the model's limits do now, so that no time is counted in their queue."""

    def __init__(self, limits: CallLimits) -> None:
        self._limits = limits
        self._inside = 0
        self._changed = threading.Condition()

    @contextmanager
    def one(self) -> Iterator[None]:
        with self._changed:
            while self._inside >= self._limits.at_once:
                self._changed.wait(LOOK_AGAIN_SECONDS)
            self._inside += 1
        try:
            yield
        finally:
            with self._changed:
                self._inside -= 1
                self._changed.notify_all()


def _free(item: Item, exchange: Exchange) -> Reply:
    text, task = exchange.completion.text, item.task
    if task.form is None or task.nothing is None:
        return Reply(item, text, (exchange,))
    found = find_json(text, task.nothing, array_may_end_as_object=task.array_may_end_as_object)
    at_first = _fits(text, task.form)
    return Reply(item, found.value, (exchange,), at_first, at_first or _found_fits(found, task.form))


def _found_fits(found: FoundJson, form: type[BaseModel]) -> bool:
    return found.how in ("whole", "within") and _fits(json.dumps(found.value), form)


def _fits(text: str, form: type[BaseModel]) -> bool:
    try:
        read_reply(text, form)
    except ValidationError:
        return False
    return True


def _nothing(item: Item, exchanges: tuple[Exchange, ...] = (), problem: str = "") -> Reply:
    """Return what counts as wrong."""
    if item.task.form is None:
        return Reply(item, "", exchanges, problem=problem)
    return Reply(item, item.task.nothing, exchanges, False, fits_at_last=False, problem=problem)
