"""Questions that are being answered: of a server that was stopped meanwhile they are told."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Make the table of questions under way."""
    op.create_table(
        "questions_under_way",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("conversation_id", sa.String(64), sa.ForeignKey("conversations.id"), nullable=False),
        sa.Column("question", sa.Text, nullable=False),
        sa.Column("server", sa.String(64), nullable=False),
        sa.Column("begun", sa.String(40), nullable=False),
    )
    op.create_index("questions_of_a_conversation", "questions_under_way", ["conversation_id"])
