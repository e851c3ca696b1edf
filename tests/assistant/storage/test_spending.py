"""Spending, counted in real databases by threads, connections and processes at once."""

import logging
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa

from assistant.storage import spending
from assistant.storage.conversations import ConversationStore
from assistant.storage.spending import (
    LEASE_SECONDS,
    SpendingError,
    SpendingLimitError,
    SpendingLimits,
    SpendingStore,
)
from corpus.errors import CorpusError
from corpus.settings import Settings, read_settings
from tests.assistant.storage.test_conversations import change

LIMITS = SpendingLimits(everyone=10.0, visitor=4.0)


class Clock:
    """The clock of a machine, which can be set, and how long the machine runs, which cannot."""

    def __init__(self):
        self.now = datetime(2026, 11, 30, 23, 50, tzinfo=UTC)
        self.running = 1000.0

    def __call__(self):
        return self.now

    def uptime(self):
        return self.running

    def passes(self, **time):
        self.now += timedelta(**time)
        self.running += timedelta(**time).total_seconds()


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def reopened(url, clock):
    stores = []

    def opened(limits=LIMITS):
        stores.append(SpendingStore(url, limits, clock, clock.uptime))
        return stores[-1]

    yield opened
    for store in stores:
        store.close()


def spent(store, owner):
    return [balance.spent for balance in store.balances(owner)]


def test_what_is_spent_is_counted_for_everyone_and_for_each_and_survives_a_restart(store, reopened):
    store.spend("ada", 1.5)
    store.spend("ada", 0.25)
    store.spend("bob", 2.0)
    store.close()
    assert spent(reopened(), "ada") == [3.75, 1.75]
    assert spent(reopened(), "bob") == [3.75, 2.0]
    assert spent(reopened(), "new") == [3.75, 0.0]


def test_a_limit_that_is_reached_is_said_with_all_its_figures(store):
    store.spend("ada", 3.9)
    store.check("ada", 0.05, "question")
    store.check("bob", 3.9, "question")
    with pytest.raises(SpendingError) as refused:
        store.check("ada", 0.5, "comparison")
    said = str(refused.value)
    assert "Models may cost $4.00 a month for the questions of one visitor: $0.1000 of it is left" in said
    assert "this comparison could cost $0.5000. The limit begins anew on 1 December 2026 (UTC)." in said
    assert "The writer without a model costs nothing and still answers." in said
    store.spend("ada", 0.1)
    with pytest.raises(SpendingError, match="nothing of it is left"):
        store.reserve("ada", 0.01, "question")


def test_all_visitors_together_have_a_limit_whoever_asks(store):
    for number in range(5):
        store.spend(f"visitor {number}", 2.0)
    with pytest.raises(SpendingError, match=r"\$10\.00 a month for the questions of all visitors together"):
        store.check("new", 0.01, "question")


def test_a_new_month_begins_anew(store, clock):
    store.spend("ada", 4.0)
    clock.passes(minutes=20)
    assert spent(store, "ada") == [0.0, 0.0]
    store.spend("ada", 1.0)
    clock.passes(days=40)
    assert [balance.begins_anew for balance in store.balances("ada")] == ["1 February 2027 (UTC)"] * 2
    assert spent(store, "ada") == [0.0, 0.0]


@pytest.mark.parametrize("days", [31, 400])
def test_fault_a_clock_that_jumped_ahead_began_a_month_for_free(reopened, clock, caplog, days):
    clock.now = datetime(2026, 11, 10, tzinfo=UTC)
    with caplog.at_level(logging.WARNING):
        reopened().spend("ada", 3.9)
        clock.now += timedelta(days=days)
        # Another process, and the same one later.
        for store in (reopened(), reopened()):
            with pytest.raises(SpendingLimitError, match="begins anew on 1 December 2026"):
                store.reserve("ada", 0.5, "question")
            clock.passes(days=1)
    assert "spending is still counted for 2026-11" in caplog.text
    # The month ends when it really does.
    clock.passes(days=20)
    assert spent(reopened(), "ada") == [0.0, 0.0]


def test_fault_a_clock_that_was_set_back_counted_in_a_month_of_its_own(store, clock):
    store.spend("ada", 4.0)
    clock.now -= timedelta(days=300)
    with pytest.raises(SpendingLimitError, match="nothing of it is left"):
        store.reserve("ada", 0.5, "question")


def test_a_server_that_was_off_for_two_months_begins_a_new_one(reopened, clock, path):
    reopened().spend("ada", 4.0)
    change(path, "UPDATE spending_clocks SET boot = 'of the start before'")
    clock.now += timedelta(days=62)
    clock.running = 10.0
    assert spent(reopened(), "ada") == [0.0, 0.0]
    reopened().spend("ada", 1.0)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT COUNT(*) FROM spending_clocks").fetchone() == (2,)


def test_fault_a_clock_deleted_what_was_counted_of_months(store, path, clock):
    store.spend("ada", 4.0)
    for _ in range(3):
        clock.passes(days=31)
        store.spend("ada", 1.0)
    with closing(sqlite3.connect(path)) as connection:
        months = connection.execute("SELECT month, dollars FROM spending WHERE owner = '' ORDER BY month")
        assert months.fetchall() == [("2026-11", 4.0), ("2026-12", 1.0), ("2027-01", 1.0), ("2027-03", 1.0)]


def test_on_postgresql_the_clock_of_the_server_counts(postgres):
    with closing(SpendingStore(postgres.new_database(), LIMITS)) as store:
        store.spend("ada", 1.0)
        now = datetime.now(UTC)
        assert store.balances("ada")[0].begins_anew in {
            f"1 {moment.replace(day=1) + timedelta(days=31):%B %Y} (UTC)"
            for moment in (now, datetime.now(UTC))
        }
        assert spent(store, "ada") == [1.0, 1.0]


def test_what_is_set_aside_is_spent_first_and_free_again_at_the_end(store):
    reservation = store.reserve("ada", 3.0, "comparison")
    with pytest.raises(SpendingError, match=r"\$1\.00 of it is left"):
        store.reserve("ada", 1.5, "question")
    store.spend("ada", 2.0, reservation)
    assert [(balance.spent, balance.reserved) for balance in store.balances("ada")] == [(2.0, 1.0)] * 2
    # Running work ends normally, beyond its reservation and beyond the limit.
    store.spend("ada", 2.5, reservation)
    assert [(balance.spent, balance.reserved, balance.left) for balance in store.balances("ada")][1] == (
        4.5,
        0.0,
        0.0,
    )
    store.release(reservation)
    store.release("no such reservation")
    assert [balance.reserved for balance in store.balances("bob")] == [0.0, 0.0]


def test_what_a_crash_left_set_aside_is_free_after_a_while(reopened, clock):
    crashed, store = reopened(), reopened()
    crashed.reserve("ada", 4.0, "question")
    crashed.close()
    for _ in range(2):
        with pytest.raises(SpendingLimitError):
            store.check("ada", 4.0, "question")
        clock.passes(seconds=LEASE_SECONDS / 2)
    clock.passes(seconds=2)
    store.check("ada", 4.0, "question")
    store.release(store.reserve("ada", 4.0, "question"))
    assert [balance.reserved for balance in store.balances("ada")] == [0.0, 0.0]


def test_fault_a_reservation_was_dropped_while_its_work_was_under_way(reopened, clock, monkeypatch):
    monkeypatch.setattr(spending, "HEARTBEAT_SECONDS", 0.01)
    working, other = reopened(), reopened()
    reservation = working.reserve("ada", 4.0, "comparison")
    for _ in range(3):
        with pytest.raises(SpendingLimitError):
            other.reserve("ada", 1.0, "question")
        clock.passes(seconds=LEASE_SECONDS - 1)
        before = until(other, reservation)
        deadline = time.monotonic() + 30
        while until(other, reservation) == before:
            assert time.monotonic() < deadline
            time.sleep(0.01)
    # A reservation dropped by another process is made again.
    with other._writing() as connection:
        connection.execute(sa.delete(spending._RESERVED))
    deadline = time.monotonic() + 30
    while not other.balances("ada")[0].reserved:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    working.release(reservation)
    assert [balance.reserved for balance in other.balances("ada")] == [0.0, 0.0]


def until(store, reservation):
    return store._value(sa.select(spending._RESERVED.c.until).where(spending._RESERVED.c.id == reservation))


def test_fault_a_clock_that_jumped_ahead_freed_what_was_set_aside(reopened, clock):
    working, other = reopened(), reopened()
    working.reserve("ada", 4.0, "comparison")
    clock.now += timedelta(days=1)
    with pytest.raises(SpendingLimitError):
        other.reserve("ada", 1.0, "question")


def test_twenty_at_once_over_two_connections_do_not_overrun(reopened):
    stores = [reopened(SpendingLimits(everyone=1.0)) for _ in range(2)]

    def begin(number):
        try:
            return stores[number % 2].reserve(f"visitor {number}", 0.15, "question")
        except SpendingError:
            return ""

    with ThreadPoolExecutor(20) as pool:
        begun = list(filter(None, pool.map(begin, range(20))))
        assert len(begun) == 6
        list(pool.map(lambda reservation: stores[0].spend("visitor", 0.1, reservation), begun))
        list(pool.map(stores[1].release, begun))
    (balance,) = stores[1].balances("visitor")
    assert balance.spent == pytest.approx(0.6) and balance.reserved == 0.0


SPENDS = """
import sys
from pathlib import Path
from assistant.storage.spending import SpendingLimits, SpendingStore
store = SpendingStore(Path(sys.argv[1]), SpendingLimits(everyone=100.0))
for _ in range(50):
    store.release(store.reserve("ada", 0.5, "question"))
    store.spend("ada", 0.25)
"""


def test_two_processes_that_begin_a_month_at_once_lose_nothing(root, path):
    command = [sys.executable, "-c", SPENDS, str(path)]
    both = [subprocess.Popen(command, cwd=root) for _ in range(2)]
    assert [thread.wait(60) for thread in both] == [0, 0]
    with closing(SpendingStore(path, LIMITS)) as store:
        assert [(balance.spent, balance.reserved) for balance in store.balances("ada")] == [(25.0, 0.0)] * 2


def test_a_database_of_before_gets_the_tables_and_loses_nothing(path):
    with closing(ConversationStore(path)) as conversations:
        kept = conversations.start("ada", "Fusion")
    with closing(SpendingStore(path, LIMITS)) as store:
        store.spend("ada", 1.0)
    with closing(ConversationStore(path)) as conversations:
        assert conversations.get(kept.id) == kept
        conversations.delete(kept.id)
    with closing(SpendingStore(path, LIMITS)) as store:
        assert spent(store, "ada") == [1.0, 1.0]


def test_what_cannot_be_stored_is_counted_with_what_comes_next(store, path, caplog):
    store.spend("ada", 1.0)
    change(path, "ALTER TABLE spending RENAME TO away")
    with caplog.at_level(logging.WARNING):
        store.spend("ada", 0.5)
        store.release("any")
    assert "0.500000 dollars are counted later" in caplog.text and "free in 900 s" in caplog.text
    with pytest.raises(SpendingError, match=r"records of spending at .* cannot be used"):
        store.reserve("ada", 0.1, "question")
    change(path, "ALTER TABLE away RENAME TO spending")
    store.spend("bob", 0.25)
    assert (spent(store, "ada"), spent(store, "bob")) == ([1.75, 1.5], [1.75, 0.25])


def test_fault_what_could_not_be_stored_was_not_counted_until_more_was_spent(store, path):
    change(path, "ALTER TABLE spending RENAME TO away")
    store.spend("ada", 3.9)
    change(path, "ALTER TABLE away RENAME TO spending")
    with pytest.raises(SpendingLimitError):
        store.reserve("ada", 0.5, "question")


def test_fault_what_was_spent_was_counted_in_memory_and_forgotten():
    settings = Settings(monthly_spending=5.0, conversations="sqlite://")
    with pytest.raises(SpendingError, match="it has no database"):
        SpendingStore.open(settings)


def test_what_an_owner_spent_is_added_to_what_another_did(store, clock):
    store.spend("ada", 1.0)
    store.spend("bob", 0.5)
    store.reserve("ada", 1.0, "question")
    store.change_owner("ada", "bob")
    assert [(balance.spent, balance.reserved) for balance in store.balances("bob")] == [(1.5, 1.0)] * 2
    assert [(balance.spent, balance.reserved) for balance in store.balances("ada")] == [
        (1.5, 1.0),
        (0.0, 0.0),
    ]


@pytest.mark.parametrize("value", ["-1", "nan", "inf", "much"])
def test_a_limit_that_cannot_be_is_named(monkeypatch, value):
    monkeypatch.setenv("PAPER_TRAIL_MONTHLY_SPENDING", value)
    with pytest.raises(CorpusError, match="PAPER_TRAIL_MONTHLY_SPENDING"):
        read_settings()


def test_the_settings_say_what_is_limited(monkeypatch):
    assert not SpendingLimits.of(read_settings())
    monkeypatch.setenv("PAPER_TRAIL_MONTHLY_SPENDING", "20")
    monkeypatch.setenv("PAPER_TRAIL_MONTHLY_SPENDING_PER_VISITOR", "0.5")
    assert SpendingLimits.of(read_settings()) == SpendingLimits(20.0, 0.5)
