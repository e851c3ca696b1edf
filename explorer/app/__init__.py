"""The foundation of all screens: sessions, sign-in, limits, shared resources and security."""

from explorer.app.base_path import BelowBasePath, base_path
from explorer.app.imports import (
    LARGEST_IMPORT_MB,
    library_of_import,
    read_comparison_file,
    read_conversation_file,
)
from explorer.app.library_export import EXPORT_ROUTE, export_library, export_link
from explorer.app.login import check_sign_in, draw_signed_in
from explorer.app.navigation import (
    ASK,
    COLLECTION,
    COMPARE,
    PAPER,
    READING,
    SCREENS,
    Screen,
    draw,
    favicon,
    inline_link,
    link_to,
    loading_modules,
)
from explorer.app.one_by_one import screens
from explorer.app.owner import server_key
from explorer.app.resources import (
    Library,
    change_owner,
    comparison_jobs,
    documents_limit,
    has_corpus,
    jobs,
    open_library,
    questions_limit,
    rate_limit,
)
from explorer.app.security import middleware, show_script_error, source_address
from explorer.app.session import (
    Current,
    CurrentComparison,
    Visitor,
    check_own,
    current_caller,
    current_comparison,
    current_owner,
    current_owners,
    current_visitor,
    field_value,
    forget_field,
    has_field,
    has_left_behind,
    is_anothers,
    set_field,
)
from explorer.app.theme import remember_theme
from explorer.app.upload_guard import admitted, current_session
from explorer.app.visitor.comparison import ComparisonSession, Order
from explorer.app.visitor.conversation import Failure, FollowUps, TakenOff, Waiting, holds, new_id, without
from explorer.app.visitor.session import Focus, VisitorSession
from explorer.app.visitor.stored_item import StoredItem

__all__ = [
    "ASK", "COLLECTION", "COMPARE", "EXPORT_ROUTE", "LARGEST_IMPORT_MB", "PAPER", "READING",
    "SCREENS", "BelowBasePath",
    "ComparisonSession", "Current", "CurrentComparison", "Failure", "Focus", "FollowUps", "Library",
    "Order", "Screen", "StoredItem", "TakenOff", "Visitor", "VisitorSession", "Waiting", "admitted",
    "base_path", "change_owner", "check_own", "check_sign_in", "comparison_jobs", "current_caller",
    "current_comparison", "current_owner", "current_owners", "current_session", "current_visitor",
    "documents_limit", "draw", "draw_signed_in", "export_library", "export_link", "favicon",
    "field_value", "forget_field", "has_corpus", "has_field", "has_left_behind", "holds", "inline_link",
    "is_anothers", "jobs", "library_of_import", "link_to", "loading_modules", "middleware", "new_id",
    "open_library", "questions_limit", "rate_limit", "read_comparison_file", "read_conversation_file",
    "remember_theme", "screens", "server_key", "set_field", "show_script_error", "source_address",
    "without"
]  # fmt: skip
