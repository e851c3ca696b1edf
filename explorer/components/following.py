"""A visitor's followed searches, and the papers that are new in them."""

from assistant.records import AssistantError
from assistant.storage.reading import Followed
from corpus.records import Scope
from corpus.wording import counted
from explorer.app.navigation import READING, link_to
from explorer.app.resources import Library
from explorer.app.session import FailureNote, Visitor, current_owner
from explorer.components.rows import action, row
from explorer.presenters.arrivals import Arrivals, arrivals, paper_set
from explorer.presenters.safe_text import escaped, shortened

NAMED = 3


def followed_arrivals(library: Library, visitor: Visitor) -> tuple[Arrivals, ...]:
    """Return the visitor's followed searches with their new papers, none if they cannot be read."""
    with FailureNote(visitor):
        return arrivals(library.reading(), library.corpus, library.encoder, current_owner(visitor))
    return ()


def draw_news(library: Library, visitor: Visitor) -> None:
    """Draw a line with the number of new papers in followed searches, if there are any."""
    news = [arrived for arrived in followed_arrivals(library, visitor) if arrived.papers]
    if not news:
        return
    count = len({paper for arrived in news for paper in arrived.papers})
    names = " · ".join(
        f"{shortened(arrived.kept.record.title, 60)} {len(arrived.papers):,}" for arrived in news[:NAMED]
    )
    with row("news"):
        label = f"**{counted(count, 'new paper')}** in what you follow :gray[{escaped(names)}]"
        link_to(READING, label, icon=":material/notifications:", query_params={})
        action("Mark as seen", "see_all_news", see, library, visitor)


def draw_follow(library: Library, visitor: Visitor, title: str, query: str, scope: Scope) -> None:
    """Draw the button that follows a search, or stops following it."""
    try:
        kept = library.reading().followed(current_owner(visitor))
    except AssistantError:
        return
    same = (entry for entry in kept if (entry.record.query, entry.record.scope) == (query, scope))
    current = next(same, None)
    if current:
        look = {"icon": ":material/notifications_active:", "help": "Stop following this"}
        action("Followed", "unfollow", unfollow, library, visitor, current.id, **look)
    else:
        look = {"icon": ":material/notifications:", "help": "Be told of papers that come to it later"}
        action("Follow", "follow", follow, library, visitor, Followed(title, query, scope), **look)


def follow(library: Library, visitor: Visitor, followed: Followed) -> None:
    """Follow a search from now on."""
    with FailureNote(visitor):
        library.reading().follow(current_owner(visitor), followed, paper_set(library.corpus))


def unfollow(library: Library, visitor: Visitor, identifier: str) -> None:
    """Stop following a search."""
    with FailureNote(visitor):
        library.reading().unfollow(current_owner(visitor), identifier)


def see(library: Library, visitor: Visitor, identifier: str = "") -> None:
    """Mark the new papers of one search as seen, of all for ""."""
    with FailureNote(visitor):
        library.reading().see(current_owner(visitor), paper_set(library.corpus), identifier)
