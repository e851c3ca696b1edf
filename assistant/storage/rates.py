"""Recent use of each allowance, counted for all processes together."""

import time
from collections.abc import Mapping

import sqlalchemy as sa
from sqlalchemy import func

from assistant.records import AssistantError
from assistant.storage.database import Database
from assistant.storage.schema import METADATA
from assistant.storage.turns import take_turn

_RATES = sa.Table(
    "rates",
    METADATA,
    sa.Column("id", sa.String(64), primary_key=True),
    sa.Column("whole_at", sa.Double, nullable=False),  # when the allowance is whole again; seconds since 1970
)


# Tolerance for rounding of seconds since 1970.
_ROUNDING = 1e-3


class RateError(AssistantError):
    """The use of an allowance cannot be counted."""


def take_from(
    whole_at: Mapping[str, float], seconds: Mapping[str, float], now: float, most: float
) -> tuple[dict[str, float], dict[str, float]]:
    """Return the time at which each allowance is whole again after taking `seconds`, and an empty mapping.

    If one would take more than `most` seconds, return an empty mapping and the excess of each. A time that
    can only come from a clock that was ahead counts as now.
    """
    known = {key: at if at < now + 2 * most else now for key, at in whole_at.items()}
    begun = {key: min(max(known.get(key, now), now), now + most) for key in seconds}
    over = {key: begun[key] + seconds[key] - now - most for key in seconds}
    if any(excess > _ROUNDING for excess in over.values()):
        return {}, over
    return {key: begun[key] + seconds[key] for key in seconds}, {}


class RateStore(Database):
    """Allowances that regenerate with time; stored is the time at which each is whole again.

    Ids are hashes, so that they do not reveal the owner.
    """

    keeps = "records of rates"
    tables = (_RATES,)
    error = RateError

    _pruned = 0.0  # the time of the last deletion of whole allowances

    def take(self, seconds: Mapping[str, float], most: float) -> dict[str, float]:
        """Take `seconds` from each allowance and return an empty mapping.

        If one would then take more than `most` seconds to regenerate, take nothing and return the excess of
        each in seconds.
        """
        condition = _RATES.c.id.in_(seconds)
        with self._writing() as connection:
            take_turn(connection, "rates")
            # A change first, so that SQLite takes the write lock before reading.
            connection.execute(sa.update(_RATES).where(condition).values(whole_at=_RATES.c.whole_at))
            now = self._now(connection)
            rows = connection.execute(sa.select(_RATES.c.id, _RATES.c.whole_at).where(condition)).all()
            stored = {row.id: row.whole_at for row in rows}
            taken, over = take_from(stored, seconds, now, most)
            for key, whole_at in taken.items():
                row = sa.update(_RATES).where(_RATES.c.id == key) if key in stored else sa.insert(_RATES)
                connection.execute(row.values(id=key, whole_at=whole_at))
            # Whole allowances are deleted at most once every `most` seconds.
            if not 0 <= now - self._pruned < most:
                self._pruned = now
                connection.execute(sa.delete(_RATES).where(_RATES.c.whole_at <= now))
        return over

    def _now(self, connection: sa.Connection) -> float:
        """Return the time of the database server, which several machines share; seconds since 1970."""
        if connection.dialect.name == "postgresql":
            return float(connection.scalar(sa.select(func.extract("epoch", func.clock_timestamp()))) or 0.0)
        return time.time()
