"""Widgets of ours."""

from explorer.components.checked_text import (
    Looking,
    draw_bars,
    draw_checked,
    draw_references,
    paper_link,
    show_next,
)
from explorer.components.downloads import draw_downloads, exporting
from explorer.components.evidence import draw_source, open_drawer
from explorer.components.following import draw_follow, draw_news, followed_arrivals, see, unfollow
from explorer.components.listener import Address, Heard, listen
from explorer.components.page_image import (
    Evidenced,
    file_name,
    forget_pictures,
    pages_in,
    save_button,
    show_page,
    show_strip,
)
from explorer.components.passage_table import draw_passage_table
from explorer.components.reading_list import draw_listing, list_papers, listed_papers, unlist
from explorer.components.rows import action, fold, menu, row
from explorer.components.score_bar import (
    IN_SHORT,
    NOT_MEASURED,
    format_score,
    meaning,
    score_bars,
    sentence_bar,
    support_bar,
)
from explorer.components.sidebar_list import (
    MOST_LISTED,
    Entry,
    SidebarList,
    draw_deletion,
    draw_imported,
    draw_sidebar_list,
    is_id,
    page_address,
)
from explorer.components.spending import draw_spending

__all__ = [
    "IN_SHORT", "MOST_LISTED", "NOT_MEASURED", "Address", "Entry", "Evidenced", "Heard", "Looking",
    "SidebarList", "action", "draw_bars", "draw_checked", "draw_deletion", "draw_downloads", "draw_follow",
    "draw_imported", "draw_listing", "draw_news", "draw_passage_table", "draw_references",
    "draw_sidebar_list", "draw_source", "draw_spending", "exporting", "file_name", "fold",
    "followed_arrivals", "forget_pictures", "format_score", "is_id", "list_papers", "listed_papers",
    "listen", "meaning", "menu", "open_drawer", "page_address", "pages_in", "paper_link", "row",
    "save_button", "score_bars", "see", "sentence_bar", "show_next", "show_page", "show_strip",
    "support_bar", "unfollow", "unlist"
]  # fmt: skip
