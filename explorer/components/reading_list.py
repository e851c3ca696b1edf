"""The buttons that put papers on a visitor's reading list, wherever papers are shown."""

from collections.abc import Iterable

from assistant.records import AssistantError
from assistant.storage.reading import ListedPaper
from corpus.records import Paper
from explorer.app.resources import Library
from explorer.app.session import Visitor, current_owner
from explorer.app.visitor.session import VisitorSession
from explorer.components.rows import action


def listed_papers(library: Library, visitor: Visitor) -> tuple[ListedPaper, ...]:
    """Return the visitor's reading list; empty, and that is said, where it cannot be read."""
    try:
        return library.reading().reading_list(current_owner(visitor))
    except AssistantError as error:
        visitor.update(VisitorSession.fail_to_keep, str(error))
        return ()


def draw_listing(library: Library, visitor: Visitor, paper: Paper) -> None:
    """Draw the button that puts a paper on the reading list, or takes it off again."""
    if any(one.paper_id == paper.id for one in listed_papers(library, visitor)):
        action(
            "On the reading list", "unlist_paper", unlist, library, visitor, paper.id,
            icon=":material/bookmark_added:", help="Take it off the list",
        )  # fmt: skip
    else:
        action(
            "Read later",
            "list_paper",
            list_papers,
            library,
            visitor,
            (paper,),
            icon=":material/bookmark_add:",
        )


def list_papers(library: Library, visitor: Visitor, papers: Iterable[Paper]) -> None:
    """Put papers on the visitor's list; or say why that cannot be."""
    try:
        for paper in papers:
            library.reading().list_paper(current_owner(visitor), paper.id, paper.title)
    except AssistantError as error:
        visitor.update(VisitorSession.fail_to_keep, str(error))
    else:
        visitor.update(VisitorSession.keep_note)


def unlist(library: Library, visitor: Visitor, paper_id: str) -> None:
    """Take a paper off the visitor's list; or say why that cannot be."""
    try:
        library.reading().unlist_paper(current_owner(visitor), paper_id)
    except AssistantError as error:
        visitor.update(VisitorSession.fail_to_keep, str(error))
