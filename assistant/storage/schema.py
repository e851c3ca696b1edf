"""The tables of all stores, and their migration.

A new database gets all tables at once; one of an earlier version takes the steps in `migrations/`. Every
change of a table is a step there, with a new `REVISION`.
"""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy import func
from sqlalchemy.schema import CreateIndex, CreateTable

from assistant.storage.turns import take_turn

# The last step in `migrations/versions`.
REVISION = "0004"
# Read by versions from before the migrations; raise it if they would damage the tables.
SCHEMA_VERSION = 1
MIGRATIONS = Path(__file__).with_name("migrations")

METADATA = sa.MetaData()
_SCHEMA = sa.Table("paper_trail_schema", METADATA, sa.Column("version", sa.Integer, primary_key=True))
_REVISIONS = sa.Table("alembic_version", METADATA, sa.Column("version_num", sa.String(32), primary_key=True))
# A single row; a library's folder names the database that has its row.
IDENTITY = sa.Table("database_identity", METADATA, sa.Column("id", sa.String(64), primary_key=True))
# The ids of records imported from files: their content is not trusted.
IMPORTED = sa.Table("imported", METADATA, sa.Column("id", sa.String(64), primary_key=True))
# The ids of records that depend on a kept library, which may be deleted later (library_links.py writes them).
OVER_LIBRARIES = sa.Table(
    "over_libraries",
    METADATA,
    sa.Column("id", sa.String(64), primary_key=True),
    sa.Column("library_id", sa.String(64), nullable=False, index=True),
)


class NewerSchemaError(Exception):
    """The tables are of a later version; the message names both versions."""


def table_of_wholes(name: str, *columns: sa.Column[Any]) -> sa.Table:
    """Return a table of records with id, owner, title and time of change."""
    return sa.Table(
        name,
        METADATA,
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("owner", sa.String(255), nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("updated", sa.String(40), nullable=False),
        *columns,
        sa.Index(f"{name}_of_an_owner", "owner", "updated"),
    )


def bring_up_to_date(engine: sa.Engine) -> None:
    """Create or migrate the tables; concurrent processes wait for one. Raises NewerSchemaError."""
    with engine.connect() as connection:
        if _revision(connection) == REVISION:
            return
    with _alone(engine) as connection:
        if (revision := _revision(connection)) == REVISION:
            return
        if revision is None and not sa.inspect(connection).has_table(_SCHEMA.name):
            _make_all(connection)
        else:
            _take_steps(connection)


def _revision(connection: sa.Connection) -> str | None:
    """Return the last migration of the tables, None without tables or for those from before migrations."""
    has = connection.dialect.has_table
    if has(connection, _SCHEMA.name):
        version = connection.scalar(sa.select(func.max(_SCHEMA.c.version)))
        if version not in (None, SCHEMA_VERSION):
            raise NewerSchemaError(f"{version}; this Paper Trail reads version {SCHEMA_VERSION}")
    if not has(connection, _REVISIONS.name):
        return None
    revision: str | None = connection.scalar(sa.select(func.max(_REVISIONS.c.version_num)))
    if revision and revision > REVISION:
        raise NewerSchemaError(f"{revision}; this Paper Trail reads version {REVISION}")
    return revision


@contextmanager
def _alone(engine: sa.Engine) -> Iterator[sa.Connection]:
    """Open a transaction that no other of these runs beside."""
    if engine.dialect.name != "sqlite":
        with engine.begin() as connection:
            take_turn(connection, "the schema")
            yield connection
        return
    # Python's driver begins a transaction for changes of rows alone.
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.exec_driver_sql("BEGIN IMMEDIATE")
        try:
            yield connection
        except BaseException:
            connection.exec_driver_sql("ROLLBACK")
            raise
        connection.exec_driver_sql("COMMIT")


def _make_all(connection: sa.Connection) -> None:
    for table in METADATA.sorted_tables:
        connection.execute(CreateTable(table, if_not_exists=True))
        for index in table.indexes:
            connection.execute(CreateIndex(index, if_not_exists=True))
    connection.execute(sa.insert(_SCHEMA), {"version": SCHEMA_VERSION})
    connection.execute(sa.insert(_REVISIONS), {"version_num": REVISION})
    connection.execute(sa.insert(IDENTITY), {"id": uuid.uuid4().hex})


def _take_steps(connection: sa.Connection) -> None:
    from alembic import command  # noqa: PLC0415 - only tables of an earlier version need it
    from alembic.config import Config  # noqa: PLC0415

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
