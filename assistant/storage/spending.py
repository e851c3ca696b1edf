"""What visitors spend on models, month by month (UTC), and what is set aside for what is under way."""

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Self

import sqlalchemy as sa
from sqlalchemy import func
from sqlalchemy.exc import IntegrityError

from assistant.records import AssistantError
from assistant.storage.database import Database, database_of
from assistant.storage.owned import new_id
from assistant.storage.schema import METADATA
from assistant.wording import price_said
from corpus.settings import Settings

# Whose row holds what all visitors have spent together.
EVERYONE = ""
# What is set aside for work of which nothing is heard for so long is free again: its process has died.
LEASE_SECONDS = 900.0

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
    sa.Column("until", sa.Double, nullable=False),  # seconds since 1970
)

logger = logging.getLogger(__name__)


class SpendingError(AssistantError):
    """Something would cost more than may be spent this month, or what is spent cannot be counted."""


@dataclass(frozen=True, slots=True)
class SpendingLimits:
    """How many US dollars a month all visitors together may spend, and one of them; 0 is no limit."""

    everyone: float = 0.0
    visitor: float = 0.0

    @classmethod
    def of(cls, settings: Settings) -> Self:
        return cls(settings.monthly_spending, settings.monthly_spending_per_visitor)

    def __bool__(self) -> bool:
        return bool(self.everyone or self.visitor)


@dataclass(frozen=True, slots=True)
class Balance:
    """A limit, what of it is spent this month, and what is set aside; in US dollars."""

    limit: float
    spent: float
    reserved: float
    is_everyones: bool
    begins_anew: str

    @property
    def left(self) -> float:
        """What can be spent by something that begins now."""
        return max(0.0, self.limit - self.spent - self.reserved)


def limit_said(limit: float, *, is_everyones: bool) -> str:
    """Return a limit as readers are told of it."""
    whose = "of all visitors together" if is_everyones else "of one visitor"
    return f"Models may cost {price_said(limit)} a month for the questions {whose}"


def limits_said(limits: SpendingLimits) -> tuple[str, ...]:
    """Return what is limited, a sentence for each limit that is set."""
    said = [limit_said(limits.everyone, is_everyones=True)] if limits.everyone else []
    said += [limit_said(limits.visitor, is_everyones=False)] if limits.visitor else []
    return tuple(f"{one}; the count begins anew on the first of each month (UTC)." for one in said)


class SpendingStore(Database):
    """What is spent, counted in one transaction each time, so that several who ask at once are all seen.

    Every method raises SpendingError, but for `spend` and `release`, which come when the money is gone.
    """

    keeps = "records of spending"
    tables = (_SPENDING, _RESERVED)
    error = SpendingError

    def __init__(
        self,
        url: str | Path,
        limits: SpendingLimits,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """Open the database at an SQLAlchemy URL, or the SQLite file at a path."""
        super().__init__(url)
        self._limits = limits
        self._clock = clock
        self._unstored: list[tuple[str, float]] = []
        self._lock = threading.Lock()

    @classmethod
    def open(cls, settings: Settings) -> Self:
        """Open the database that these settings name; raises SpendingError."""
        return cls(database_of(settings), SpendingLimits.of(settings))

    @classmethod
    def in_memory(cls, settings: Settings) -> Self:
        """Count as long as this process lives."""
        return cls("sqlite://", SpendingLimits.of(settings))

    def balances(self, owner: str) -> tuple[Balance, ...]:
        """Return how this month stands with each limit that binds an owner."""
        with self._reading() as connection:
            return self._balances(connection, self._clock(), owner)

    def check(self, owner: str, dollars: float, what: str) -> None:
        """Raise SpendingError where something that may cost so much does not fit in what is left."""
        _check(self.balances(owner), dollars, what)

    def reserve(self, owner: str, dollars: float, what: str) -> str:
        """Set aside what something may cost and return an id for it; raises what `check` does."""
        identifier = new_id()
        with self._counting() as (connection, moment):
            connection.execute(sa.delete(_RESERVED).where(_RESERVED.c.until <= moment.timestamp()))
            _check(self._balances(connection, moment, owner), dollars, what)
            values = {"id": identifier, "owner": owner, "dollars": dollars, "until": _lease(moment)}
            connection.execute(sa.insert(_RESERVED), values)
        return identifier

    def spend(self, owner: str, dollars: float, reservation: str = "") -> None:
        """Count what was spent, of what was set aside for it first.

        What cannot be stored now is stored with what is spent next.
        """
        with self._lock:
            waiting, self._unstored = [*self._unstored, (owner, dollars)], []
        try:
            with self._counting() as (connection, moment):
                for one, unstored in waiting:
                    _add(connection, moment, one, unstored)
                    _add(connection, moment, EVERYONE, unstored)
                connection.execute(_taken_from(reservation, dollars, _lease(moment)))
        except SpendingError as error:
            logger.warning("%.6f dollars are counted later: %s", dollars, error)
            with self._lock:
                self._unstored += waiting

    def release(self, reservation: str) -> None:
        """Set nothing aside any more for something that has ended."""
        try:
            with self._counting() as (connection, _):
                connection.execute(sa.delete(_RESERVED).where(_RESERVED.c.id == reservation))
        except SpendingError as error:
            logger.warning("what was set aside is free in %.0f s: %s", LEASE_SECONDS, error)

    @contextmanager
    def _counting(self) -> Iterator[tuple[sa.Connection, datetime]]:
        """Change a month, of which the total is locked: of two processes that do, one waits."""
        moment = self._clock()
        of_all = _is_of(moment, EVERYONE)
        locking = sa.update(_SPENDING).where(of_all).values(dollars=_SPENDING.c.dollars)
        with self._writing() as connection:
            if not connection.execute(locking).rowcount:
                self._begin_month(connection, moment)
                connection.execute(locking)
            yield connection, moment

    def _begin_month(self, connection: sa.Connection, moment: datetime) -> None:
        """Make the row of a month's total, and drop the months before the last.

        The last one stays: another process may have a slower clock.
        """
        last = moment.replace(day=1) - timedelta(days=1)
        connection.execute(sa.delete(_SPENDING).where(_SPENDING.c.month < _month(last)))
        try:
            with connection.begin_nested():
                values = {"month": _month(moment), "owner": EVERYONE, "dollars": 0.0}
                connection.execute(sa.insert(_SPENDING), values)
        except IntegrityError:
            logger.info("another process has just begun the month at %s", self._name)

    def _balances(self, connection: sa.Connection, moment: datetime, owner: str) -> tuple[Balance, ...]:
        limits = ((self._limits.everyone, EVERYONE), (self._limits.visitor, owner))
        return tuple(_balance(connection, moment, limit, whose) for limit, whose in limits if limit)


def _balance(connection: sa.Connection, moment: datetime, limit: float, owner: str) -> Balance:
    spent = sa.select(_SPENDING.c.dollars).where(_is_of(moment, owner))
    reserved = sa.select(func.sum(_RESERVED.c.dollars)).where(_RESERVED.c.until > moment.timestamp())
    if owner != EVERYONE:
        reserved = reserved.where(_RESERVED.c.owner == owner)
    following = moment.replace(day=1) + timedelta(days=31)
    return Balance(
        limit,
        connection.scalar(spent) or 0.0,
        connection.scalar(reserved) or 0.0,
        is_everyones=owner == EVERYONE,
        begins_anew=f"1 {following:%B %Y} (UTC)",
    )


def _add(connection: sa.Connection, moment: datetime, owner: str, dollars: float) -> None:
    adding = sa.update(_SPENDING).where(_is_of(moment, owner)).values(dollars=_SPENDING.c.dollars + dollars)
    if not connection.execute(adding).rowcount:
        values = {"month": _month(moment), "owner": owner, "dollars": dollars}
        connection.execute(sa.insert(_SPENDING), values)


def _is_of(moment: datetime, owner: str) -> sa.ColumnElement[bool]:
    return sa.and_(_SPENDING.c.month == _month(moment), _SPENDING.c.owner == owner)


def _month(moment: datetime) -> str:
    return moment.strftime("%Y-%m")


def _lease(moment: datetime) -> float:
    return moment.timestamp() + LEASE_SECONDS


def _taken_from(reservation: str, dollars: float, until: float) -> sa.Update:
    """Return what lowers a reservation by what was spent of it; that it is still in use is known, too."""
    rest = sa.case((_RESERVED.c.dollars > dollars, _RESERVED.c.dollars - dollars), else_=0.0)
    return sa.update(_RESERVED).where(_RESERVED.c.id == reservation).values(dollars=rest, until=until)


def _check(balances: tuple[Balance, ...], dollars: float, what: str) -> None:
    for one in balances:
        if one.left < dollars:
            left = f"{price_said(one.left)} of it is left" if one.left else "nothing of it is left"
            raise SpendingError(
                f"{limit_said(one.limit, is_everyones=one.is_everyones)}: {left}, and this {what} could cost "
                f"{price_said(dollars)}. The limit begins anew on {one.begins_anew}.",
                "The writer without a model costs nothing and still answers.",
            )
