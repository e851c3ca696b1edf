"""What one visitor compares, under one key of the session: nothing here lives only in a widget."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, cast

import streamlit as st

from assistant.comparing.admission import MOST_PAPERS
from assistant.comparing.records import Comparison, ComparisonRequest, ElementName, Planned
from assistant.records import Parameters
from explorer.comparing.jobs import ComparisonView
from explorer.parts.wording import counted

DeskState = Literal["choosing", "missing", "running", "unfinished", "finished"]


@dataclass(frozen=True, slots=True)
class Order:
    """A comparison as it was ordered: what is compared, who writes, and how."""

    request: ComparisonRequest
    writer: str
    parameters: Parameters | None = None


@dataclass
class Desk:
    """A visitor's comparison: chosen, on its way, or read.

    `order` is what was ordered, None while it is being chosen; `identifier` its id, in the store where it
    `is_kept`. `is_anothers` tells that it was begun in another browser, `is_imported` that it came from a
    file. `view` is how it stood when it was last looked at, `failure` why it does not run. `focus` is the
    number of the citation being looked at, 0 for none, `cell` the label and the element of the grid.
    `visited` are addresses that were followed in this visit, `missing_id` one that leads nowhere. `opened`
    counts comparisons and `menus_closed` is raised to close menus: both stand in keys of widgets. `plan` is
    the last one, for the order that it was made for.
    """

    papers: tuple[str, ...] = ()
    about: str = ""
    identifier: str = ""
    title: str = ""
    is_anothers: bool = False
    is_imported: bool = False
    order: Order | None = None
    is_kept: bool = False
    is_running: bool = False
    recorded: int = 0
    view: ComparisonView | None = None
    comparison: Comparison | None = None
    failure: str = ""
    can_go_on: bool = True
    notes: tuple[str, ...] = ()
    missing_id: str = ""
    visited: set[str] = field(default_factory=set)
    focus: int = 0
    cell: tuple[int, ElementName] | None = None
    drawer_open: bool = False
    shows_calls: bool = False
    wants_deletion: bool = False
    import_problem: str = ""
    opened: int = 0
    menus_closed: int = 0
    plan: tuple[object, Planned | str] | None = None

    @property
    def state(self) -> DeskState:
        if self.missing_id:
            return "missing"
        if self.is_running:
            return "running"
        if self.comparison:
            return "finished"
        return "unfinished" if self.order else "choosing"

    def add(self, paper_ids: Sequence[str]) -> None:
        """Put papers to those that are chosen, as far as there is room, and say which had none."""
        wanted = tuple(dict.fromkeys((*self.papers, *paper_ids)))
        self.papers = wanted[:MOST_PAPERS]
        if left := len(wanted) - MOST_PAPERS:
            self.notes = _no_room(left) if left > 0 else ()

    def add_to_chosen(self, paper_id: str) -> None:
        """Put a paper to those being chosen; a comparison that was begun is left for them."""
        if self.state != "choosing":
            self.choose_anew()
        self.add((paper_id,))

    def choose(self, paper_ids: Sequence[str]) -> None:
        """Choose these papers and no others; a comparison that was begun is left for them."""
        about = self.about if self.state == "choosing" else ""
        self.choose_anew()
        self.about = about
        self.add(paper_ids)

    def remove(self, paper_id: str) -> None:
        self.papers = tuple(one for one in self.papers if one != paper_id)
        self.notes = ()

    def clear(self) -> None:
        self.papers, self.notes = (), ()

    def choose_anew(self) -> None:
        """Leave the comparison on the screen for a new one."""
        self.turn_to("", None)
        self.papers, self.about = (), ""

    def choose_again(self) -> None:
        """Leave the comparison on the screen for a new one of the same papers and the same work."""
        chosen = self.order.request if self.order else None
        self.choose_anew()
        if chosen:
            self.papers, self.about = chosen.papers, chosen.about

    def turn_to(self, identifier: str, order: Order | None) -> None:
        """Show another comparison, or none where it is being chosen."""
        self.visited.add(identifier)
        self.identifier, self.order, self.title = identifier, order, ""
        self.is_anothers, self.is_imported, self.cell = False, False, None
        self.is_kept, self.is_running, self.recorded = False, False, 0
        self.view, self.comparison, self.failure, self.can_go_on = None, None, "", True
        self.notes, self.missing_id, self.focus, self.drawer_open = (), "", 0, False
        self.shows_calls, self.wants_deletion, self.import_problem = False, False, ""
        self.opened += 1

    def look_at(self, number: int) -> None:
        """Put a citation of the summary into focus; one that does not exist leads nowhere."""
        self.focus, self.drawer_open = number, True

    def close_drawer(self) -> None:
        self.drawer_open = False

    def close_calls(self) -> None:
        self.shows_calls = False


def _no_room(count: int) -> tuple[str, ...]:
    were = "was" if count == 1 else "were"
    return (
        f"{counted(count, 'paper')} {were} not added: {MOST_PAPERS} can be compared at once. Take some out, "
        "or compare in parts.",
    )


def new_identifier() -> str:
    """Return an id for a comparison that is in no store."""
    return uuid.uuid4().hex


def current_desk() -> Desk:
    """Return what the visitor whose screen is being drawn compares."""
    if "desk" not in st.session_state:
        st.session_state["desk"] = Desk()
    return cast(Desk, st.session_state["desk"])
