"""Turns that transactions take: of those that would count the same things one waits for the other."""

import hashlib

import sqlalchemy as sa
from sqlalchemy import func


def take_turn(connection: sa.Connection, subject: str) -> None:
    """Wait until no other transaction has the turn for a subject, and keep it to the end of this one.

    SQLite has one writer at a time anyway. To be called before what is counted is read.
    """
    if connection.dialect.name == "postgresql":
        number = int.from_bytes(hashlib.sha256(subject.encode()).digest()[:8], "big", signed=True)
        connection.execute(sa.select(func.pg_advisory_xact_lock(number)))
