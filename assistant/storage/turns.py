"""Exclusive turns of transactions that count the same rows."""

import hashlib

import sqlalchemy as sa
from sqlalchemy import func


def take_turn(connection: sa.Connection, subject: str) -> None:
    """Wait for the turn on a subject, and keep it to the end of the transaction; call it before reading.

    SQLite has one writer at a time anyway.
    """
    if connection.dialect.name == "postgresql":
        number = int.from_bytes(hashlib.sha256(subject.encode()).digest()[:8], "big", signed=True)
        connection.execute(sa.select(func.pg_advisory_xact_lock(number)))
