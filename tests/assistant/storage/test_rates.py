"""Allowances that several processes share, in SQLite and PostgreSQL."""

from concurrent.futures import ThreadPoolExecutor

import pytest
import sqlalchemy as sa

from assistant.storage import rates
from assistant.storage.rates import RateStore

STORE = RateStore
MOST = 600.0


def rows(store):
    return store._value(sa.select(sa.func.count()).select_from(rates._RATES))


def test_of_many_at_once_over_several_connections_no_more_take_than_may(reopened):
    stores = [reopened() for _ in range(3)]

    def take(number):
        return not stores[number % 3].take({"visitor": 100.0, "everyone": 1.0}, MOST)

    with ThreadPoolExecutor(9) as threads:
        assert sum(threads.map(take, range(30))) == 6
    assert rows(stores[0]) == 2


def test_who_is_refused_takes_nothing_and_is_told_by_how_much(store):
    assert store.take({"visitor": 500.0, "everyone": 1.0}, MOST) == {}
    over = store.take({"visitor": 200.0, "everyone": 1.0}, MOST)
    assert over["visitor"] == pytest.approx(100.0, abs=60.0) and over["everyone"] < 0
    assert store.take({"other": 500.0, "everyone": 598.0}, MOST) == {}


def test_allowances_that_are_whole_again_are_forgotten(reopened):
    reopened().take({f"visitor {number}": -1.0 for number in range(20)}, MOST)
    store = reopened()
    store.take({"visitor": 1.0}, MOST)
    assert rows(store) == 1


def test_fault_a_clock_that_had_been_ahead_kept_everybody_out_until_it_was_reached(reopened, monkeypatch):
    now = 1_000_000.0 + 365 * 86400
    monkeypatch.setattr(RateStore, "_now", lambda *_: now)
    store = reopened()
    assert store.take({"visitor": 60.0, "everyone": 1.0}, MOST) == {}
    now = 1_000_000.0
    assert store.take({"visitor": MOST, "everyone": 1.0}, MOST) == {}
    assert store.take({"visitor": 60.0, "everyone": 1.0}, MOST)["visitor"] == pytest.approx(60.0)
    now += 61.0
    assert store.take({"visitor": 60.0, "everyone": 1.0}, MOST) == {}
