import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

import pytest

from assistant.models.limits import SEEN_TO_WAIT, CallLimits, LimitedModel, Place
from assistant.models.menu import available_models, open_model
from assistant.models.protocol import ModelUnavailableError, whole
from assistant.models.together import Patience, TogetherModel
from assistant.records import Message, Parameters
from corpus.settings import Settings
from tests.standin_chat import StandinChat, cut_off, refusal, reply

MESSAGES = (Message("user", "?"),)


@contextmanager
def called(limits: CallLimits, session: str = "") -> Iterator[Place]:
    """Hold a place for as long as a block runs."""
    with limits.queue(session) as place:
        while not place.wait(0.01):
            pass
        yield place


class Gauge:
    """Counts who is under way, and the most there ever were."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._now: Counter[str] = Counter()
        self.most: Counter[str] = Counter()
        self.order: list[str] = []

    def run(self, limits: CallLimits, session: str, seconds: float = 0.01) -> None:
        with called(limits, session):
            with self._lock:
                self._now.update((session, "all"))
                self.order.append(session)
                self.most |= self._now
            time.sleep(seconds)
            with self._lock:
                self._now.subtract((session, "all"))


@pytest.mark.parametrize(("at_once", "per_session"), [(1, 1), (3, 2), (5, 2), (2, 9)])
def test_no_more_calls_are_under_way_than_may_be(at_once, per_session):
    limits, gauge = CallLimits(at_once, per_session), Gauge()
    with ThreadPoolExecutor(12) as pool:
        done = [pool.submit(gauge.run, limits, session) for session in "abc" * 6]
    assert all(future.exception() is None for future in done)
    assert gauge.most["all"] == min(at_once, 3 * per_session)
    assert max(gauge.most[session] for session in "abc") <= per_session
    assert len(gauge.order) == 18


def test_calls_of_no_session_are_bound_by_the_first_limit_alone():
    limits, gauge = CallLimits(5, 1), Gauge()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: gauge.run(limits, "", 0.03), range(8)))
    assert gauge.most["all"] == 5


def test_one_session_cannot_starve_another():
    limits, gauge = CallLimits(2, 2), Gauge()
    with ThreadPoolExecutor(30) as pool:
        many = [pool.submit(gauge.run, limits, "greedy", 0.03) for _ in range(20)]
        while not gauge.order:
            time.sleep(0.001)
        before = len(gauge.order)
        pool.submit(gauge.run, limits, "modest").result()
        assert not all(future.done() for future in many)
    assert gauge.order.index("modest") - before <= 6


def test_a_wait_without_end_is_reported():
    limits = CallLimits(1, 1, longest_wait=0.05)
    with called(limits, "a"):
        with pytest.raises(ModelUnavailableError, match="Too many questions"), called(limits, "b"):
            pass
        with pytest.raises(ModelUnavailableError, match="question is kept"), called(limits, "a"):
            pass
    with called(limits, "b"):
        pass


def opened(server: StandinChat, limits: CallLimits, session: str = "s") -> LimitedModel:
    model = TogetherModel(
        "m", "M", api_key="k", base_url=server.url, patience=Patience(1, 1), first_wait=0.01
    )
    return LimitedModel("m", "M", lambda: model, limits, session)


def test_a_place_is_given_back_however_a_call_ends():
    limits = CallLimits(1, 1, longest_wait=0.5)
    endings = [reply("whole"), cut_off("ha"), refusal(401), reply("word " * 200, wait_between=0.01)]
    with StandinChat(*endings, reply("last")) as server:
        model = opened(server, limits)
        assert whole(model.stream(MESSAGES, Parameters())).text == "whole"
        assert whole(model.stream(MESSAGES, Parameters())).finish_reason == "interrupted"
        with pytest.raises(Exception, match="refused"):
            whole(model.stream(MESSAGES, Parameters()))
        stopped = model.stream(MESSAGES, Parameters())
        next(stopped)
        stopped.close()
        assert whole(model.stream(MESSAGES, Parameters())).text == "last"


def test_a_stream_holds_its_place_until_it_ends():
    limits = CallLimits(1, 1, longest_wait=0.05)
    with StandinChat(default=reply("some words")) as server:
        first, second = opened(server, limits, "a"), opened(server, limits, "b")
        streaming = first.stream(MESSAGES, Parameters())
        next(streaming)
        with pytest.raises(ModelUnavailableError):
            whole(second.stream(MESSAGES, Parameters()))
        assert len(server.requests) == 1
        streaming.close()
        assert whole(second.stream(MESSAGES, Parameters())).text == "some words"


def test_all_models_of_a_process_share_the_limits_of_its_settings():
    with StandinChat(default=reply("some words")) as server:
        settings = Settings(model_url=server.url, model_calls=1, model_calls_per_session=1)
        first, other = (open_model(entry, settings, "s") for entry in available_models(settings)[:2])
        assert first.id != other.id
        streaming = first.stream(MESSAGES, Parameters())
        next(streaming)
        done = threading.Event()
        waiting = threading.Thread(target=lambda: (whole(other.stream(MESSAGES, Parameters())), done.set()))
        waiting.start()
        assert not done.wait(0.1)
        streaming.close()
        assert done.wait(5.0)
        waiting.join()


def test_a_model_is_opened_once_and_its_connection_kept():
    with StandinChat(default=reply("yes")) as server:
        settings = Settings(model_url=server.url)
        entry = available_models(settings)[0]
        first, second = (open_model(entry, settings, session) for session in "ab")
        whole(first.stream(MESSAGES, Parameters()))
        whole(second.stream(MESSAGES, Parameters()))
    assert server.connections == 1


def test_what_a_server_takes_at_once_is_measured():
    """The limit grows as long as all that are under way begin before one of them has ended."""
    limits = CallLimits(5, 9, is_measured=True)
    for expected in (2, 3, 4, 5, 5):
        assert limits.at_once == expected
        with ExitStack() as calls:
            for place in [calls.enter_context(called(limits)) for _ in range(limits.at_once)]:
                place.go_on("word")


def test_a_server_of_one_slot_is_found_out_and_asked_for_one_thing_at_a_time():
    limits = CallLimits(5, 9, is_measured=True)
    for _ in range(SEEN_TO_WAIT):
        with called(limits) as first:
            second = limits.queue()
            assert second.wait()
            first.go_on("word")
        second.go_on("word")
        limits.leave(second)
    assert limits.at_once == 1


def test_time_in_the_queue_is_no_silence_of_the_server():
    """The third call of a server with two slots waited there, and its time ran out."""
    slow = reply("Yes.", "Yes.", wait_before=1.0)
    with StandinChat(default=slow, pages={"/v1/models": {"data": [{"id": "m"}]}, "/slots": [{}]}) as server:
        settings = Settings(TOGETHER_API_KEY="", model_url=server.url, model_timeout=2.5)
        (entry,) = available_models(settings)
        models = [open_model(entry, settings, session) for session in "abc"]
        with ThreadPoolExecutor(3) as pool:
            done = list(pool.map(lambda model: whole(model.stream(MESSAGES, Parameters())), models))
    assert [(reply.text, reply.attempts) for reply in done] == [("Yes.", 1)] * 3
    assert server.most_at_once == 1


def test_who_waits_for_a_place_can_be_stopped():
    limits = CallLimits(1, 1)
    with StandinChat(default=reply("yes")) as server, called(limits):
        waiting = opened(server, limits).stream(MESSAGES, Parameters())
        assert [next(waiting) for _ in range(3)] == [""] * 3
        waiting.close()
    assert not server.requests
    assert limits.queue().wait(0.01)
