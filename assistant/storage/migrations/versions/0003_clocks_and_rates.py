"""Clocks by which spending is counted, and how much each visitor has asked of late, for all processes."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Make both tables."""
    op.create_table(
        "spending_clocks",
        sa.Column("boot", sa.String(64), primary_key=True),
        sa.Column("time", sa.Double, nullable=False),
        sa.Column("uptime", sa.Double, nullable=False),
    )
    op.create_table(
        "rates",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("whole_at", sa.Double, nullable=False),
    )
