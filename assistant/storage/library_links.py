"""Links of conversations and comparisons to a kept library, with which they are deleted."""

from collections.abc import Callable

import sqlalchemy as sa

from assistant.records import AssistantError
from assistant.storage.schema import METADATA, OVER_LIBRARIES, table_of_wholes

LIBRARIES = table_of_wholes(
    "libraries",
    # The secret of the link that others may read it by, "" for none.
    sa.Column("link", sa.String(64), nullable=False),
)
READERS = sa.Table(
    "library_readers",
    METADATA,
    sa.Column("library_id", sa.ForeignKey(LIBRARIES.c.id), primary_key=True),
    sa.Column("reader", sa.String(255), primary_key=True),
    sa.Column("link", sa.String(64), nullable=False),
    sa.Column("opened", sa.String(40), nullable=False),
)


def check_library(named: str, library_id: str) -> None:
    """Raise AssistantError if a file's papers are of another library than it is to be stored over."""
    if named != library_id:
        raise AssistantError("The file is about papers of another library than it is to be stored for.")


def noting(identifier: str, library_id: str, error: type[AssistantError]) -> Callable[[sa.Connection], None]:
    """Return a function that records, in the storing transaction, the library that a record is over.

    The library's row is updated, which locks it: a concurrent deletion comes before, which raises the error,
    or after, which deletes the record too.
    """

    def note(connection: sa.Connection) -> None:
        if not library_id:
            return
        is_it = LIBRARIES.c.id == library_id
        if not connection.execute(sa.update(LIBRARIES).where(is_it).values(id=library_id)).rowcount:
            raise error("The library has been deleted, so nothing about it is stored.")
        connection.execute(sa.insert(OVER_LIBRARIES), {"id": identifier, "library_id": library_id})

    return note
