"""A visitor's comparison: chosen, running, or open; a frozen value. No Streamlit."""

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
    """A comparison as it was ordered: what is compared, who writes, and how."""

    request: ComparisonRequest
    writer: str
    parameters: Parameters | None = None


@dataclass(frozen=True)
class ChosenPapers:
    """The choices before a comparison; `plan` is the last one, with the order it was made for.

    `questions` are the reader's own, as they were typed: one on each line.
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
    """A comparison that was begun: its id and what was ordered, None while it is being chosen.

    `view` is how it stood when it was last looked at, `failure` why it does not run; of one that was stopped
    earlier, `recorded` calls are stored.
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
        """Have a comparison that does not run for some reason, and may be tried again; "" for none."""
        return replace(self, is_running=False, failure=failure, can_go_on=True)

    def record(self, calls: int) -> Self:
        return replace(self, recorded=calls)


@dataclass(frozen=True)
class ShownSources:
    """The citation in focus, 0 for none; the label and the name of the grid's cell; what is open."""

    focus: int = 0
    cell: tuple[int, str] | None = None
    drawer_open: bool = False
    shows_calls: bool = False

    def look_at(self, number: int) -> Self:
        """Put a citation of the summary into focus; one that does not exist leads nowhere."""
        return replace(self, focus=number, drawer_open=True)

    def choose_cell(self, cell: tuple[int, str]) -> Self:
        return replace(self, cell=cell)

    def close_drawer(self) -> Self:
        return replace(self, drawer_open=False)

    def close_calls(self) -> Self:
        return replace(self, shows_calls=False)


@dataclass(frozen=True)
class ComparisonSession(StoredItem, ChosenPapers, OrderedComparison, ShownSources):
    """A visitor's comparison: chosen, on its way, or read."""

    @property
    def compared(self) -> tuple[str, ...]:
        """Return the ids of the papers that are compared, or chosen to be."""
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
        """Put papers to those that are chosen, as far as there is room, and say which had none."""
        wanted, notes = tuple(dict.fromkeys((*self.papers, *paper_ids))), self.notes
        if strangers := [one for one in wanted if library_of(one) != library_of(wanted[0])]:
            wanted = tuple(one for one in wanted if one not in strangers)
            return replace(self, papers=wanted[:MOST_PAPERS], notes=_other_place(len(strangers)))
        if left := len(wanted) - MOST_PAPERS:
            notes = _no_room(left) if left > 0 else ()
        return replace(self, papers=wanted[:MOST_PAPERS], notes=notes)

    def add_to_chosen(self, paper_id: str) -> Self:
        """Put a paper to those being chosen; a comparison that was begun is left for them."""
        return (self if self.state == "choosing" else self.choose_anew()).add((paper_id,))

    def choose(self, paper_ids: Sequence[str]) -> Self:
        """Choose these papers and no others; a comparison that was begun is left for them."""
        is_choosing = self.state == "choosing"
        about, questions = (self.about, self.questions) if is_choosing else ("", "")
        return self.choose_anew().describe(about).ask(questions).add(paper_ids)

    def replace_papers(self, paper_ids: Sequence[str]) -> Self:
        """Choose these papers and no others, whatever else is on the screen."""
        return replace(self, papers=()).add(paper_ids)

    def take_example(self, papers: tuple[str, ...], about: str) -> Self:
        # Another key is another field: one that was drawn keeps what was written in it.
        return replace(self, papers=papers, about=about, notes=(), opened=self.opened + 1)

    def remove(self, paper_id: str) -> Self:
        return replace(self, papers=tuple(one for one in self.papers if one != paper_id), notes=())

    def clear(self) -> Self:
        return replace(self, papers=(), notes=())

    def choose_anew(self) -> Self:
        """Leave the comparison on the screen for a new one."""
        return replace(self.turn_to("", None), papers=(), about="", questions="")

    def choose_again(self) -> Self:
        """Leave the comparison on the screen for a new one of the same papers and the same work."""
        chosen = self.order.request if self.order else None
        anew = self.choose_anew()
        if chosen is None:
            return anew
        return replace(anew, papers=chosen.papers, about=chosen.about, questions="\n".join(chosen.questions))

    def turn_to(self, identifier: str, order: Order | None) -> Self:
        """Show another comparison, or none where it is being chosen."""
        nothing = vars(OrderedComparison(identifier, order)) | vars(ShownSources())
        return replace(self.leave().visit(identifier), **nothing)

    def begin(self, identifier: str, order: Order, title: str = "") -> Self:
        """Show a comparison that is begun; it has a title if it is in the store."""
        return replace(self.turn_to(identifier, order), title=title, is_kept=bool(title))

    def show(self, order: Order, title: str, comparison: Comparison | None, failure: str) -> Self:
        """Show a stored comparison as far as it has come."""
        return replace(self, order=order, title=title, is_kept=True, comparison=comparison, failure=failure)

    def show_damaged(self, failure: str) -> Self:
        """Show of a comparison that cannot be drawn how it was ordered, and why."""
        return replace(self, comparison=None, can_go_on=False, failure=failure)

    def settle(self, view: ComparisonView, failure: str) -> Self:
        """Have a comparison that is over, as far as it has come."""
        settled = replace(self, is_running=False, view=view, comparison=view.comparison, failure=failure)
        return settled.note(view.problem)

    def show_sent(self) -> Self:
        """Have what was sent shown: one drawer at a time, and no menu before it."""
        return replace(self, shows_calls=True, drawer_open=False).close_menus()


def _other_place(count: int) -> tuple[str, ...]:
    return (
        f"{counted(count, 'paper')} not added: papers of the collection and of a library of yours are not "
        "compared with each other. Begin another comparison for them.",
    )


def _no_room(count: int) -> tuple[str, ...]:
    were = "was" if count == 1 else "were"
    return (
        f"{counted(count, 'paper')} {were} not added: {MOST_PAPERS} can be compared at once. Take some out, "
        "or compare in parts.",
    )
