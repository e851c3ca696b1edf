"""A visitor's follows, and the papers that came since they last looked."""

from assistant.records import AssistantError
from assistant.storage.reading import Followed
from corpus.records import Scope
from corpus.wording import counted
from explorer.app.navigation import READING, link_to
from explorer.app.resources import Library
from explorer.app.session import Visitor, current_owner
from explorer.app.visitor.session import VisitorSession
from explorer.components.rows import action, row
from explorer.presenters.arrivals import Arrivals, arrivals, paper_set
from explorer.presenters.safe_text import escaped, shortened

NAMED = 3


def followed_arrivals(library: Library, visitor: Visitor) -> tuple[Arrivals, ...]:
    """Return the visitor's follows with their new papers; reports an error and returns none if unreadable."""
    try:
        owner = current_owner(visitor)
        return arrivals(library.reading(), library.corpus, library.encoder, owner)
    except AssistantError as error:
        visitor.update(VisitorSession.fail_to_keep, str(error))
        return ()


def draw_news(library: Library, visitor: Visitor) -> None:
    """Say in one line how many papers came in what the visitor follows; nothing where none did."""
    found = [one for one in followed_arrivals(library, visitor) if one.papers]
    if not found:
        return
    count = len({paper for one in found for paper in one.papers})
    names = " · ".join(f"{shortened(one.kept.record.title, 60)} {len(one.papers):,}" for one in found[:NAMED])
    with row("news"):
        label = f"**{counted(count, 'new paper')}** in what you follow :gray[{escaped(names)}]"
        link_to(READING, label, icon=":material/notifications:", query_params={})
        action("Mark as seen", "see_all_news", see, library, visitor)


def draw_follow(library: Library, visitor: Visitor, title: str, query: str, scope: Scope) -> None:
    """Draw the button that follows what is listed, or stops that."""
    try:
        held = library.reading().followed(current_owner(visitor))
    except AssistantError:
        return
    current = next((one for one in held if (one.record.query, one.record.scope) == (query, scope)), None)
    if current:
        look = {"icon": ":material/notifications_active:", "help": "Stop following this"}
        action("Followed", "unfollow", unfollow, library, visitor, current.id, **look)
    else:
        look = {"icon": ":material/notifications:", "help": "Be told of papers that come to it later"}
        action("Follow", "follow", follow, library, visitor, Followed(title, query, scope), **look)


def follow(library: Library, visitor: Visitor, followed: Followed) -> None:
    """Follow a search from now on; or say why that cannot be."""
    try:
        library.reading().follow(current_owner(visitor), followed, paper_set(library.corpus))
    except AssistantError as error:
        visitor.update(VisitorSession.fail_to_keep, str(error))


def unfollow(library: Library, visitor: Visitor, identifier: str) -> None:
    """Stop following a search; or say why that cannot be."""
    try:
        library.reading().unfollow(current_owner(visitor), identifier)
    except AssistantError as error:
        visitor.update(VisitorSession.fail_to_keep, str(error))


def see(library: Library, visitor: Visitor, identifier: str = "") -> None:
    """Have the new papers of one search, or of all, seen; or say why that cannot be."""
    try:
        library.reading().see(current_owner(visitor), paper_set(library.corpus), identifier)
    except AssistantError as error:
        visitor.update(VisitorSession.fail_to_keep, str(error))
