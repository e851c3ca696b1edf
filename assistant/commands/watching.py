"""The progress of a comparison in a terminal: a live tree, or a line for each step."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from types import TracebackType

from rich.console import Console
from rich.live import Live
from rich.text import Text
from rich.tree import Tree

from assistant import wording
from assistant.commands.printing import say
from assistant.comparing import wording as said
from assistant.comparing.progress import ComparisonProgress
from assistant.comparing.records import (
    Candidate,
    ComparisonEvent,
    Extracted,
    KeyElements,
    Round,
    RoundFinished,
    Sampled,
    Voted,
    Working,
)
from corpus.text import storable
from corpus.wording import counted

# A tree higher than the screen would hide the current round.
ROUNDS_SHOWN = 8
LONGEST_TITLE = 60


def progress_tree(progress: ComparisonProgress) -> Tree:
    """Return the progress as a tree: a line for each finished round, the newest one in full."""
    papers = counted(len(progress.papers), "paper")
    tree = Tree(_text(f"Comparing {papers}", "bold"), guide_style="dim")
    if progress.elements:
        tree.add(_text(_elements_line(progress)))
    hidden = max(0, len(progress.rounds) - ROUNDS_SHOWN)
    if hidden:
        tree.add(_text(f"{counted(hidden, 'round')} before", "dim"))
    branches = [tree.add(_text(_round_line(progress, finished))) for finished in progress.rounds[hidden:]]
    if progress.candidates:
        number = len(progress.rounds) + 1
        branch = tree.add(_text(f"Round {number} of {progress.planned_rounds}{_named(progress, number)}"))
        for candidate in sorted(progress.candidates, key=lambda candidate: candidate.number):
            votes = sum(vote.choice == candidate.number for vote in progress.votes)
            branch.add(_text(candidate_line(candidate, votes), _style(candidate)))
        if discarded := sum(vote.choice is None for vote in progress.votes):
            branch.add(_text(f"{counted(discarded, 'vote')} discarded", "yellow"))
    elif branches:
        _add_finished(branches[-1], progress.rounds[-1])
    if progress.working and progress.working.calls:
        tree.add(_text(working_line(progress.working), "dim"))
    return tree


def _add_finished(branch: Tree, finished: Round) -> None:
    for candidate in finished.candidates:
        kept = ", kept" if candidate.number in finished.kept else ""
        branch.add(_text(candidate_line(candidate, candidate.votes, kept), _style(candidate)))


def _style(candidate: Candidate) -> str:
    return "yellow" if candidate.is_marked else ""


def candidate_line(candidate: Candidate, votes: int, mark: str = "") -> str:
    """Return a candidate with its votes as dots, and its faults."""
    dots = f" {'●' * votes}" if votes else ""
    faults = " ".join(said.describe_faults(candidate))
    return f"candidate {candidate.number}{mark}{dots}" + (f". {faults}" if faults else "")


def step_lines(before: ComparisonProgress, event: ComparisonEvent) -> Iterator[str]:
    """Yield plain lines for an event, for output that is not a terminal."""
    match event:
        case Extracted(elements):
            yield _elements_line(before.after(event), elements)
        case Sampled(number, candidate):
            yield f"Round {number}: {candidate_line(candidate, 0, ' is written')}"
        case Voted(number, vote):
            yield f"Round {number}: {said.describe_vote(vote)}"
        case RoundFinished(finished):
            yield _round_line(before, finished)


def _elements_line(progress: ComparisonProgress, newest: KeyElements | None = None) -> str:
    """Return a line with the number of texts read, including the description."""
    read = f"Key elements: {len(progress.elements)} of {len(progress.papers) + 1} texts read"
    if newest is None:
        unread = sum(bool(elements.problem) for elements in progress.elements)
        return f"{read}, {unread} could not be" if unread else read
    name = f"[{newest.label}]" if newest.label else "the description"
    stated = newest.problem or f"{sum(elements.is_stated for elements in newest.elements)} of 7 stated"
    return f"{read}; {name}: {stated}"


def _round_line(progress: ComparisonProgress, finished: Round) -> str:
    outcome = said.describe_round(finished)
    return (
        f"Round {finished.number} of {progress.planned_rounds}: {outcome}{_named(progress, finished.number)}"
    )


def _named(progress: ComparisonProgress, number: int) -> str:
    """Return the new paper of a round, "" if all papers are in one round."""
    papers = progress.papers
    if progress.planned_rounds != len(papers) or number > len(papers):
        return ""
    paper = papers[number - 1]
    return f" · [{paper.label}] {_shortened(paper.paper.title or paper.paper.id)}"


def working_line(working: Working) -> str:
    """Return a line with the number of model calls and their cost."""
    usage = working.usage
    spent = wording.spent(usage.prompt_tokens, usage.completion_tokens, usage.price)
    kept = f"{working.recorded} of them before" if working.recorded else ""
    return ", ".join(filter(None, (counted(working.calls, "model call"), kept, *spent)))


def _shortened(title: str) -> str:
    line = " ".join(title.split())
    return line if len(line) <= LONGEST_TITLE else f"{line[: LONGEST_TITLE - 1]}…"


def _text(line: str, style: str = "") -> Text:
    # Titles and replies are foreign text, which must not control the terminal.
    return Text(storable(line), style=style, overflow="ellipsis", no_wrap=True)


@dataclass
class Watch:
    """Shows the progress of a comparison: a live tree in a terminal, else a line for every step."""

    console: Console
    progress: ComparisonProgress
    quiet: bool = False
    _live: Live | None = field(default=None, init=False)

    def __enter__(self) -> "Watch":
        if self.console.is_terminal and not self.quiet:
            self._live = Live(progress_tree(self.progress), console=self.console, refresh_per_second=8)
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._live:
            self._live.update(progress_tree(self.progress))
            self._live.stop()

    def show(self, event: ComparisonEvent) -> None:
        """Show an event."""
        if not self._live and not self.quiet:
            for line in step_lines(self.progress, event):
                say(line)
        self.progress = self.progress.after(event)
        if self._live:
            self._live.update(progress_tree(self.progress))
