"""Visitors' spending on models by month (UTC), and the amounts reserved for running work."""

import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any, Self
from uuid import uuid4

import sqlalchemy as sa
from sqlalchemy import func

from assistant.records import AssistantError
from assistant.storage.database import Database, database_of
from assistant.storage.owned import new_id
from assistant.storage.schema import METADATA
from assistant.storage.turns import take_turn
from assistant.wording import format_price
from corpus.settings import Settings

# The owner of the row with the spending of all visitors.
EVERYONE = ""
# The interval of renewals, and the time without one after which a reservation's process counts as dead.
HEARTBEAT_SECONDS = 60.0
LEASE_SECONDS = 900.0
# The greatest accepted forward jump of the clock of a running machine.
CLOCK_TOLERANCE = timedelta(days=1)

_SPENDING = sa.Table(
    "spending",
    METADATA,
    sa.Column("month", sa.String(7), primary_key=True),
    sa.Column("owner", sa.String(255), primary_key=True),
    sa.Column("dollars", sa.Double, nullable=False),
)
_RESERVED = sa.Table(
    "spending_reserved",
    METADATA,
    sa.Column("id", sa.String(64), primary_key=True),
    sa.Column("owner", sa.String(255), nullable=False),
    sa.Column("dollars", sa.Double, nullable=False),
    sa.Column("until", sa.Double, nullable=False),  # grows with each renewal; seconds since 1970
)
# For each boot of each machine: the time of its first entry, and its uptime then.
_CLOCKS = sa.Table(
    "spending_clocks",
    METADATA,
    sa.Column("boot", sa.String(64), primary_key=True),
    sa.Column("time", sa.Double, nullable=False),  # seconds since 1970
    sa.Column("uptime", sa.Double, nullable=False),  # seconds
)
_FREE_WRITER = "The writer without a model costs nothing and still answers."

logger = logging.getLogger(__name__)


class SpendingError(AssistantError):
    """Spending cannot be recorded, so nothing that costs money may begin."""

    def __init__(self, fault: str) -> None:
        super().__init__(fault, _FREE_WRITER)


class SpendingLimitError(SpendingError):
    """A request would cost more than is left of this month's limit."""


@dataclass(frozen=True, slots=True)
class SpendingLimits:
    """Monthly spending limits in US dollars, of all visitors together and of one; 0 is no limit."""

    everyone: float = 0.0
    visitor: float = 0.0

    @classmethod
    def of(cls, settings: Settings) -> Self:
        return cls(settings.monthly_spending, settings.monthly_spending_per_visitor)

    def __bool__(self) -> bool:
        return bool(self.everyone or self.visitor)


@dataclass(frozen=True, slots=True)
class Balance:
    """A limit, and the amounts spent and reserved this month, in US dollars."""

    limit: float
    spent: float
    reserved: float
    is_everyones: bool
    begins_anew: str

    @property
    def left(self) -> float:
        """The amount that a request beginning now may spend."""
        return max(0.0, self.limit - self.spent - self.reserved)


def describe_limit(limit: float, *, is_everyones: bool) -> str:
    """Describe a limit for readers."""
    whose = "of all visitors together" if is_everyones else "of one visitor"
    return f"Models may cost {format_price(limit)} a month for the questions {whose}"


def describe_limits(limits: SpendingLimits) -> tuple[str, ...]:
    """Describe each limit that is set, in a sentence."""
    sentences = [describe_limit(limits.everyone, is_everyones=True)] if limits.everyone else []
    sentences += [describe_limit(limits.visitor, is_everyones=False)] if limits.visitor else []
    return tuple(
        f"{sentence}; the count begins anew on the first of each month (UTC)." for sentence in sentences
    )


class SpendingStore(Database):
    """The store of spending; each update is one transaction, so that concurrent requests count.

    Every method raises SpendingError except `spend` and `release`, which are called after the expense.
    """

    keeps = "records of spending"
    tables = (_SPENDING, _RESERVED, _CLOCKS)
    error = SpendingError

    def __init__(
        self,
        url: str | Path,
        limits: SpendingLimits,
        clock: Callable[[], datetime] | None = None,
        uptime: Callable[[], float] | None = None,
    ) -> None:
        """Open the database at an SQLAlchemy URL, or the SQLite file at a path.

        By default, `clock` is that of the database server, or of this machine for SQLite; `uptime` is in
        seconds.
        """
        self._limits = limits
        self._clock, self._uptime = clock, uptime or _uptime
        self._lock = threading.Lock()
        self._unstored: list[tuple[str, float]] = []
        # The reservations of this process, with owner and rest.
        self._held: dict[str, tuple[str, float]] = {}
        # The last seen renewal of each reservation, and this machine's uptime then.
        self._renewed: dict[str, tuple[float, float]] = {}
        self._heartbeat: threading.Thread | None = None
        self._closed = threading.Event()
        self._distrusted = ""
        super().__init__(url)

    @classmethod
    def open(cls, settings: Settings) -> Self:
        """Open the database of the settings; raises SpendingError, also for one in memory."""
        store = cls(database_of(settings), SpendingLimits.of(settings))
        if store._is_in_memory:
            store.close()
            raise SpendingError(
                "The records of spending would be lost with this process: it has no database."
            )
        return store

    def close(self) -> None:
        self._closed.set()
        super().close()

    def balances(self, owner: str) -> tuple[Balance, ...]:
        """Return the balance of this month for each limit that applies to an owner."""
        with self._reading() as connection:
            return self._balances(connection, self._moment(connection), owner)

    def check(self, owner: str, dollars: float, what: str) -> None:
        """Raise SpendingLimitError if `dollars` exceed what is left of a limit; `what` names the request."""
        _check(self.balances(owner), dollars, what)

    def reserve(self, owner: str, dollars: float, what: str) -> str:
        """Reserve the greatest cost of a request and return the reservation's id; raises what `check` does.

        The reservation is renewed until it is released.
        """
        identifier = new_id()
        with self._counting() as (connection, moment):
            in_use = {row.id for row in self._in_use(connection)}
            connection.execute(sa.delete(_RESERVED).where(_RESERVED.c.id.not_in(in_use)))
            _check(self._balances(connection, moment, owner), dollars, what)
            _reserve(connection, moment, identifier, owner, dollars)
        with self._lock:
            self._held[identifier] = (owner, dollars)
        self._keep_renewing()
        return identifier

    def spend(self, owner: str, dollars: float, reservation: str = "") -> None:
        """Record an expense, first from its reservation; if that fails, it is recorded later."""
        with self._lock:
            if reservation in self._held:
                left = self._held[reservation][1]
                self._held[reservation] = (owner, max(0.0, left - dollars))
        try:
            with self._counting() as (connection, moment):
                _spend(connection, moment, owner, dollars)
                connection.execute(_renewal(reservation, moment, dollars))
        except SpendingError as error:
            logger.warning("%.6f dollars are counted later: %s", dollars, error)
            with self._lock:
                self._unstored.append((owner, dollars))
            self._keep_renewing()

    def release(self, reservation: str) -> None:
        """Release the reservation of a request that has ended."""
        with self._lock:
            self._held.pop(reservation, None)
        try:
            with self._counting() as (connection, _):
                connection.execute(sa.delete(_RESERVED).where(_RESERVED.c.id == reservation))
        except SpendingError as error:
            logger.warning("what was set aside is free in %.0f s: %s", LEASE_SECONDS, error)

    def change_owner(self, before: str, after: str) -> None:
        """Transfer the spending and reservations of one owner to another."""
        spent = sa.select(_SPENDING.c.month, _SPENDING.c.dollars).where(_SPENDING.c.owner == before)
        with self._counting() as (connection, _):
            for month, dollars in connection.execute(spent).all():
                _add(connection, month, after, dollars)
            connection.execute(sa.delete(_SPENDING).where(_SPENDING.c.owner == before))
            reserved = sa.update(_RESERVED).where(_RESERVED.c.owner == before)
            connection.execute(reserved.values(owner=after))

    @contextmanager
    def _counting(self) -> Iterator[tuple[sa.Connection, datetime]]:
        """Open an exclusive transaction on spending, and first record expenses that failed before."""
        with self._lock:
            waiting, self._unstored = self._unstored, []
        try:
            with self._writing() as connection:
                take_turn(connection, "spending")
                moment = self._begin(connection)
                for owner, dollars in waiting:
                    _spend(connection, moment, owner, dollars)
                yield connection, moment
        except BaseException:
            with self._lock:
                self._unstored = [*waiting, *self._unstored]
            raise

    def _begin(self, connection: sa.Connection) -> datetime:
        """Register this boot's first entry, begin a new month if due, and return the time."""
        this_boot = _CLOCKS.c.boot == _boot()
        known = sa.update(_CLOCKS).where(this_boot, _CLOCKS.c.uptime <= self._uptime()).values(boot=_boot())
        # A change first, so that SQLite takes the write lock before reading.
        is_known = connection.execute(known).rowcount > 0
        moment = self._moment(connection)
        if not is_known:
            connection.execute(sa.delete(_CLOCKS).where(this_boot))
            values = {"boot": _boot(), "time": moment.timestamp(), "uptime": self._uptime()}
            connection.execute(sa.insert(_CLOCKS), values)
        _add(connection, _month(moment), EVERYONE, 0.0)
        return moment

    def _moment(self, connection: sa.Connection) -> datetime:
        """Return the time by which spending is counted.

        It is never before the newest month recorded, so that a clock set back opens no earlier month. It is
        never ahead of the uptime passed since this boot's first entry, so that a clock set forward begins no
        new month. After a reboot the clock is trusted, since the time off is unknown.
        """
        newest = connection.scalar(sa.select(func.max(_SPENDING.c.month)))
        begun = datetime.strptime(f"{newest or '1970-01'} +0000", "%Y-%m %z")
        told = max(self._told(connection), begun)
        passed = self._uptime() - _CLOCKS.c.uptime
        query = sa.select(_CLOCKS.c.time + passed).where(_CLOCKS.c.boot == _boot(), passed >= 0)
        seconds = connection.scalar(query)
        if seconds is None:
            return told
        believed = max(datetime.fromtimestamp(seconds, UTC), begun)
        if told - believed <= CLOCK_TOLERANCE:
            return told
        self._distrust(told, believed)
        return believed

    def _told(self, connection: sa.Connection) -> datetime:
        """Return the time of the clock that all processes share."""
        if self._clock is None and connection.dialect.name == "postgresql":
            told: datetime = connection.execute(sa.select(func.clock_timestamp())).scalar_one()
            return told.astimezone(UTC)
        return self._clock() if self._clock else datetime.now(UTC)

    def _distrust(self, told: datetime, believed: datetime) -> None:
        if self._distrusted != _month(told):
            self._distrusted = _month(told)
            logger.warning(
                "The clock says %s, but by the time that has passed it is %s: spending is still counted for "
                "%s. If the clock is right, start this machine again "
                "(docs/operations/limits-and-spending.md).",
                *(f"{moment:%Y-%m-%d}" for moment in (told, believed)),
                _month(believed),
            )

    def _balances(self, connection: sa.Connection, moment: datetime, owner: str) -> tuple[Balance, ...]:
        limits = ((self._limits.everyone, EVERYONE), (self._limits.visitor, owner))
        reserved = self._in_use(connection)
        return tuple(_balance(connection, moment, limit, whose, reserved) for limit, whose in limits if limit)

    def _in_use(self, connection: sa.Connection) -> list[sa.Row[Any]]:
        """Return the reservations without those of dead processes, which were not renewed for a lease.

        The lease is measured by this machine's uptime since it saw the last renewal, whatever its clock says.
        """
        rows = list(connection.execute(sa.select(_RESERVED)).all())
        with self._lock:
            now, before = self._uptime(), self._renewed
            self._renewed = {
                row.id: before[row.id] if before.get(row.id, (None,))[0] == row.until else (row.until, now)
                for row in rows
            }
            held, renewed = set(self._held), self._renewed
        return [row for row in rows if row.id in held or now - renewed[row.id][1] <= LEASE_SECONDS]

    def _keep_renewing(self) -> None:
        with self._lock:
            if self._heartbeat is None and not self._closed.is_set():
                self._heartbeat = threading.Thread(target=self._renew, name="spending", daemon=True)
                self._heartbeat.start()

    def _renew(self) -> None:
        """Renew the reservations of this process and record failed expenses, while there are any."""
        while not self._closed.wait(HEARTBEAT_SECONDS):
            with self._lock:
                held = tuple(self._held)
                if not (held or self._unstored):
                    self._heartbeat = None
                    return
            try:
                with self._counting() as (connection, moment):
                    for identifier in held:
                        self._renew_one(connection, moment, identifier)
            except SpendingError as error:
                logger.warning("reservations are renewed later: %s", error)

    def _renew_one(self, connection: sa.Connection, moment: datetime, identifier: str) -> None:
        """Renew a reservation, or recreate it if another process deleted it as dead."""
        with self._lock:
            held = self._held.get(identifier)
        if held and not connection.execute(_renewal(identifier, moment)).rowcount:
            _reserve(connection, moment, identifier, *held)


@lru_cache(maxsize=1)
def _boot() -> str:
    """Return an id of this boot of the machine, or of this process if the system has none."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()[:64]
    except OSError:
        return str(uuid4())


def _uptime() -> float:
    """Return the machine's uptime in seconds, including sleep."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


def _balance(
    connection: sa.Connection,
    moment: datetime,
    limit: float,
    owner: str,
    reserved: Iterable[sa.Row[Any]],
) -> Balance:
    spent = sa.select(_SPENDING.c.dollars).where(_is_of(_month(moment), owner))
    following = moment.replace(day=1) + timedelta(days=31)
    return Balance(
        limit,
        connection.scalar(spent) or 0.0,
        sum(row.dollars for row in reserved if owner in (EVERYONE, row.owner)),
        is_everyones=owner == EVERYONE,
        begins_anew=f"1 {following:%B %Y} (UTC)",
    )


def _spend(connection: sa.Connection, moment: datetime, owner: str, dollars: float) -> None:
    _add(connection, _month(moment), owner, dollars)
    _add(connection, _month(moment), EVERYONE, dollars)


def _add(connection: sa.Connection, month: str, owner: str, dollars: float) -> None:
    adding = sa.update(_SPENDING).where(_is_of(month, owner)).values(dollars=_SPENDING.c.dollars + dollars)
    if not connection.execute(adding).rowcount:
        connection.execute(sa.insert(_SPENDING), {"month": month, "owner": owner, "dollars": dollars})


def _is_of(month: str, owner: str) -> sa.ColumnElement[bool]:
    return sa.and_(_SPENDING.c.month == month, _SPENDING.c.owner == owner)


def _month(moment: datetime) -> str:
    return moment.strftime("%Y-%m")


def _reserve(
    connection: sa.Connection, moment: datetime, identifier: str, owner: str, dollars: float
) -> None:
    until = moment.timestamp() + LEASE_SECONDS
    values = {"id": identifier, "owner": owner, "dollars": dollars, "until": until}
    connection.execute(sa.insert(_RESERVED), values)


def _renewal(reservation: str, moment: datetime, dollars: float = 0.0) -> sa.Update:
    """Return the statement that renews a reservation and lowers it by the dollars spent."""
    held = _RESERVED.c
    rest = sa.case((held.dollars > dollars, held.dollars - dollars), else_=0.0)
    until = moment.timestamp() + LEASE_SECONDS
    # It grows even if the clock is set back.
    later = sa.case((held.until < until, until), else_=held.until + 1.0)
    return sa.update(_RESERVED).where(held.id == reservation).values(dollars=rest, until=later)


def _check(balances: tuple[Balance, ...], dollars: float, what: str) -> None:
    for balance in balances:
        if balance.left < dollars:
            left = f"{format_price(balance.left)} of it is left" if balance.left else "nothing of it is left"
            limit = describe_limit(balance.limit, is_everyones=balance.is_everyones)
            raise SpendingLimitError(
                f"{limit}: {left}, and this {what} could cost {format_price(dollars)}. The limit begins anew "
                f"on {balance.begins_anew}."
            )
