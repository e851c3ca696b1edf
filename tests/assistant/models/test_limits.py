import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from assistant.models.limits import CallLimits, LimitedModel, shared_limits
from assistant.models.menu import available_models, open_model
from assistant.models.protocol import ModelUnavailableError, whole
from assistant.models.together import TogetherModel
from assistant.records import Message, Parameters
from corpus.settings import Settings
from tests.standin_chat import StandinChat, cut_off, refusal, reply

MESSAGES = (Message("user", "?"),)


class Gauge:
    """Counts who is under way, and the most there ever were."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._now: Counter[str] = Counter()
        self.most: Counter[str] = Counter()
        self.order: list[str] = []

    def run(self, limits: CallLimits, session: str, seconds: float = 0.01) -> None:
        with limits.call(session):
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
    assert all(one.exception() is None for one in done)
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
        assert not all(one.done() for one in many)
    assert gauge.order.index("modest") - before <= 6


def test_a_wait_without_end_is_said():
    limits = CallLimits(1, 1, longest_wait=0.05)
    with limits.call("a"):
        with pytest.raises(ModelUnavailableError, match="Too many questions"), limits.call("b"):
            pass
        with pytest.raises(ModelUnavailableError, match="question is kept"), limits.call("a"):
            pass
    with limits.call("b"):
        pass


def opened(server: StandinChat, limits: CallLimits, session: str = "s") -> LimitedModel:
    model = TogetherModel("m", "M", api_key="k", base_url=server.url, timeout=1.0, first_wait=0.01)
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
        one, other = (open_model(entry, settings, "s") for entry in available_models(settings)[:2])
        assert one.id != other.id
        streaming = one.stream(MESSAGES, Parameters())
        next(streaming)
        done = threading.Event()
        waiting = threading.Thread(target=lambda: (whole(other.stream(MESSAGES, Parameters())), done.set()))
        waiting.start()
        assert not done.wait(0.1)
        streaming.close()
        assert done.wait(5.0)
        waiting.join()
    assert shared_limits(1, 1) is shared_limits(1, 1)


def test_a_model_is_opened_once_and_its_connection_kept():
    with StandinChat(default=reply("yes")) as server:
        settings = Settings(model_url=server.url)
        entry = available_models(settings)[0]
        first, second = (open_model(entry, settings, session) for session in "ab")
        whole(first.stream(MESSAGES, Parameters()))
        whole(second.stream(MESSAGES, Parameters()))
    assert server.connections == 1
