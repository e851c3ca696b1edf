"""All tables of November 2026: of those from before, which had fewer, the missing ones are made."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make each table and index that is not there."""
    _wholes("conversations")
    _table(
        "turns",
        sa.Column("conversation_id", sa.String(64), sa.ForeignKey("conversations.id"), primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("format", sa.Integer, nullable=False),
        sa.Column("document", sa.Text, nullable=False),
    )
    _table("imported", _key("id"))
    _comparisons()
    _spending()
    _reading()
    _libraries()


def _comparisons() -> None:
    _wholes(
        "comparisons",
        sa.Column("papers", sa.Integer, nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("error", sa.Text, nullable=False),
        sa.Column("run", sa.String(64), nullable=False),
        sa.Column("format", sa.Integer, nullable=False),
        sa.Column("plan", sa.Text, nullable=False),
        sa.Column("document", sa.Text, nullable=False),
    )
    _table(
        "comparison_calls",
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("comparison_id", sa.String(64), sa.ForeignKey("comparisons.id"), nullable=False),
        sa.Column("round", sa.Integer, nullable=False),
        sa.Column("document", sa.Text, nullable=False),
    )
    _index("calls_of_a_comparison", "comparison_calls", "comparison_id", "round")


def _spending() -> None:
    _table(
        "spending",
        sa.Column("month", sa.String(7), primary_key=True),
        sa.Column("owner", sa.String(255), primary_key=True),
        sa.Column("dollars", sa.Double, nullable=False),
    )
    _table(
        "spending_reserved",
        _key("id"),
        sa.Column("owner", sa.String(255), nullable=False),
        sa.Column("dollars", sa.Double, nullable=False),
        sa.Column("until", sa.Double, nullable=False),
    )


def _reading() -> None:
    _wholes(
        "reading",
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("paper", sa.Text, nullable=False),
        sa.Column("revision", sa.Integer, nullable=False),
        sa.Column("seen", sa.String(64), nullable=False),
        sa.Column("document", sa.Text, nullable=False),
    )
    _table("paper_sets", _key("digest"), sa.Column("ids", sa.LargeBinary, nullable=False))


def _libraries() -> None:
    _wholes("libraries", sa.Column("link", sa.String(64), nullable=False))
    _table(
        "library_readers",
        sa.Column("library_id", sa.String(64), sa.ForeignKey("libraries.id"), primary_key=True),
        sa.Column("reader", sa.String(255), primary_key=True),
        sa.Column("link", sa.String(64), nullable=False),
        sa.Column("opened", sa.String(40), nullable=False),
    )
    _table("over_libraries", _key("id"), sa.Column("library_id", sa.String(64), nullable=False))
    _index("ix_over_libraries_library_id", "over_libraries", "library_id")


def _wholes(name: str, *columns: sa.Column[Any]) -> None:
    _table(
        name,
        _key("id"),
        sa.Column("owner", sa.String(255), nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("updated", sa.String(40), nullable=False),
        *columns,
    )
    _index(f"{name}_of_an_owner", name, "owner", "updated")


def _key(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.String(64), primary_key=True)


def _table(name: str, *columns: sa.Column[Any]) -> None:
    op.create_table(name, *columns, if_not_exists=True)


def _index(name: str, table: str, *columns: str) -> None:
    op.create_index(name, table, list(columns), if_not_exists=True)
