"""The identity of a database, by which folders of libraries name the one that has their rows."""

import uuid

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Make the table, with its one row."""
    table = op.create_table("database_identity", sa.Column("id", sa.String(64), primary_key=True))
    op.bulk_insert(table, [{"id": uuid.uuid4().hex}])
