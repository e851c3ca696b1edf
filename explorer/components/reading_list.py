"""The buttons that put papers on a visitor's reading list, wherever papers are shown."""

from collections.abc import Iterable

from assistant.storage.reading import ListedPaper
from corpus.records import Paper
from explorer.app.resources import Library
from explorer.app.session import FailureNote, Visitor, current_owner
from explorer.app.visitor.session import VisitorSession
from explorer.components.rows import action


def listed_papers(library: Library, visitor: Visitor) -> tuple[ListedPaper, ...]:
    """Return the visitor's reading list, empty if it cannot be read."""
    with FailureNote(visitor):
        return library.reading().reading_list(current_owner(visitor))
    return ()


def draw_listing(library: Library, visitor: Visitor, paper: Paper) -> None:
    """Draw the button that puts a paper on the reading list, or takes it off again."""
    if any(entry.paper_id == paper.id for entry in listed_papers(library, visitor)):
        look = {"icon": ":material/bookmark_added:", "help": "Take it off the list"}
        action("On the reading list", "unlist_paper", unlist, library, visitor, paper.id, **look)
    else:
        add = (library, visitor, (paper,))
        action("Read later", "list_paper", list_papers, *add, icon=":material/bookmark_add:")


def list_papers(library: Library, visitor: Visitor, papers: Iterable[Paper]) -> None:
    """Put papers on the visitor's reading list."""
    with FailureNote(visitor):
        for paper in papers:
            library.reading().list_paper(current_owner(visitor), paper.id, paper.title)
        visitor.update(VisitorSession.keep_note)


def unlist(library: Library, visitor: Visitor, paper_id: str) -> None:
    """Take a paper off the visitor's reading list."""
    with FailureNote(visitor):
        library.reading().unlist_paper(current_owner(visitor), paper_id)
