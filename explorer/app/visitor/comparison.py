"""The state of a visitor's comparison as a frozen value, without Streamlit."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, Self

from assistant.comparing.admission import MOST_PAPERS
from assistant.comparing.records import Comparison, ComparisonRequest, Planned
from assistant.records import Parameters
from corpus.records import library_of
from corpus.wording import counted
from explorer.app.visitor.stored_item import StoredItem
from explorer.jobs.comparison import ComparisonView

ComparisonState = Literal["choosing", "missing", "running", "unfinished", "finished"]


@dataclass(frozen=True, slots=True)
class Order:
    """An ordered comparison: the request, the writer and its parameters."""

    request: ComparisonRequest
    writer: str
    parameters: Parameters | None = None


@dataclass(frozen=True)
class ChosenPapers:
    """The choices before a comparison; `plan` is cached with the order it was made for.

    `questions` are the reader's own questions as typed, one a line.
    """

    papers: tuple[str, ...] = ()
    about: str = ""
    questions: str = ""
    plan: tuple[object, Planned | str] | None = None

    def describe(self, about: str) -> Self:
        return replace(self, about=about)

    def ask(self, questions: str) -> Self:
        return replace(self, questions=questions)

    def plan_as(self, order: object, plan: Planned | str) -> Self:
        return replace(self, plan=(order, plan))


@dataclass(frozen=True)
class OrderedComparison:
    """A started comparison: its id and order, None while it is being chosen.

    `view` is its last state, `failure` the reason why it does not run, and `recorded` the number of stored
    calls of one that was stopped.
    """

    identifier: str = ""
    order: Order | None = None
    is_running: bool = False
    recorded: int = 0
    view: ComparisonView | None = None
    comparison: Comparison | None = None
    failure: str = ""
    can_go_on: bool = True

    def run(self) -> Self:
        return replace(self, is_running=True, failure="", view=None)

    def refuse(self, failure: str) -> Self:
        """Mark the comparison as not running, for the reason `failure`; it may be tried again."""
        return replace(self, is_running=False, failure=failure, can_go_on=True)

    def record(self, calls: int) -> Self:
        return replace(self, recorded=calls)


@dataclass(frozen=True)
class ShownSources:
    """The citation in focus, 0 for none; the label and name of the chosen grid cell; the open drawers."""

    focus: int = 0
    cell: tuple[int, str] | None = None
    drawer_open: bool = False
    shows_calls: bool = False

    def look_at(self, number: int) -> Self:
        """Focus a citation of the summary."""
        return replace(self, focus=number, drawer_open=True)

    def choose_cell(self, cell: tuple[int, str]) -> Self:
        return replace(self, cell=cell)

    def close_drawer(self) -> Self:
        return replace(self, drawer_open=False)

    def close_calls(self) -> Self:
        return replace(self, shows_calls=False)


@dataclass(frozen=True)
class ComparisonSession(StoredItem, ChosenPapers, OrderedComparison, ShownSources):
    """The whole state of a visitor's comparison: being chosen, running, stopped or finished."""

    @property
    def compared(self) -> tuple[str, ...]:
        """Return the ids of the compared or chosen papers."""
        return self.order.request.papers if self.order else self.papers

    @property
    def state(self) -> ComparisonState:
        if self.missing_id:
            return "missing"
        if self.is_running:
            return "running"
        if self.comparison:
            return "finished"
        return "unfinished" if self.order else "choosing"

    def add(self, paper_ids: Sequence[str]) -> Self:
        """Add papers of the same library as far as there is room, with a note on those left out."""
        papers, notes = tuple(dict.fromkeys((*self.papers, *paper_ids))), self.notes
        same_library = tuple(paper for paper in papers if library_of(paper) == library_of(papers[0]))
        surplus = len(papers) - MOST_PAPERS
        if others := len(papers) - len(same_library):
            notes = (
                f"{counted(others, 'paper')} not added: papers of the collection and of a library of yours "
                "are not compared with each other. Begin another comparison for them.",
            )
        elif surplus > 0:
            notes = (
                f"{counted(surplus, 'paper')} {'was' if surplus == 1 else 'were'} not added: {MOST_PAPERS} "
                "can be compared at once. Take some out, or compare in parts.",
            )
        elif surplus < 0:
            notes = ()
        return replace(self, papers=same_library[:MOST_PAPERS], notes=notes)

    def add_to_chosen(self, paper_id: str) -> Self:
        """Add a paper to the choices, leaving a comparison that was started."""
        return (self if self.state == "choosing" else self.choose_anew()).add((paper_id,))

    def choose(self, paper_ids: Sequence[str]) -> Self:
        """Choose only these papers, leaving a comparison that was started."""
        is_choosing = self.state == "choosing"
        about, questions = (self.about, self.questions) if is_choosing else ("", "")
        return self.choose_anew().describe(about).ask(questions).add(paper_ids)

    def replace_papers(self, paper_ids: Sequence[str]) -> Self:
        """Choose only these papers, whatever is on the screen."""
        return replace(self, papers=()).add(paper_ids)

    def take_example(self, papers: tuple[str, ...], about: str) -> Self:
        # A new `opened` gives the field a new key; a drawn field keeps its text.
        return replace(self, papers=papers, about=about, notes=(), opened=self.opened + 1)

    def remove(self, paper_id: str) -> Self:
        return replace(self, papers=tuple(paper for paper in self.papers if paper != paper_id), notes=())

    def clear(self) -> Self:
        return replace(self, papers=(), notes=())

    def choose_anew(self) -> Self:
        """Leave the comparison on the screen for a new one."""
        return replace(self.turn_to("", None), papers=(), about="", questions="")

    def choose_again(self) -> Self:
        """Leave the comparison on the screen for a new one of the same papers, description and questions."""
        chosen = self.order.request if self.order else None
        anew = self.choose_anew()
        if chosen is None:
            return anew
        return replace(anew, papers=chosen.papers, about=chosen.about, questions="\n".join(chosen.questions))

    def turn_to(self, identifier: str, order: Order | None) -> Self:
        """Show another comparison, or the choices if `order` is None."""
        nothing = vars(OrderedComparison(identifier, order)) | vars(ShownSources())
        return replace(self.leave().visit(identifier), **nothing)

    def begin(self, identifier: str, order: Order, title: str = "") -> Self:
        """Show a comparison that was just started; it has a title if it is stored."""
        return replace(self.turn_to(identifier, order), title=title, is_kept=bool(title))

    def show(self, order: Order, title: str, comparison: Comparison | None, failure: str) -> Self:
        """Show a stored comparison, finished or not."""
        return replace(self, order=order, title=title, is_kept=True, comparison=comparison, failure=failure)

    def show_damaged(self, failure: str) -> Self:
        """Show only the order of a comparison that cannot be drawn, and the reason."""
        return replace(self, comparison=None, can_go_on=False, failure=failure)

    def settle(self, view: ComparisonView, failure: str) -> Self:
        """Show the final state of a comparison that is over."""
        settled = replace(self, is_running=False, view=view, comparison=view.comparison, failure=failure)
        return settled.note(view.problem)

    def show_sent(self) -> Self:
        """Open the drawer of calls, closing the other drawer and the menus."""
        return replace(self, shows_calls=True, drawer_open=False).close_menus()
