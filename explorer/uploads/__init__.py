"""The dialog of documents that a visitor brings."""

from explorer.uploads.choosing import draw_not_stored, draw_upload_first_visit, draw_upload_scope, look_in
from explorer.uploads.dialog import draw_documents
from explorer.uploads.kept import (
    GONE,
    ask_kept,
    check_may_read,
    follow_library_address,
    kept_libraries,
    kept_or_none,
    library_of_papers,
    read_kept,
)
from explorer.uploads.visit import (
    ask_collection,
    ask_place_of,
    ask_uploads,
    documents_of_visit,
    library_asked,
    library_of_paper,
)
from explorer.uploads.wording import not_searched

__all__ = [
    "GONE", "ask_collection", "ask_kept", "ask_place_of", "ask_uploads", "check_may_read",
    "documents_of_visit", "draw_documents", "draw_not_stored", "draw_upload_first_visit", "draw_upload_scope",
    "follow_library_address", "kept_libraries", "kept_or_none", "library_asked", "library_of_paper",
    "library_of_papers", "look_in", "not_searched", "read_kept"
]  # fmt: skip
