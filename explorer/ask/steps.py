"""The steps of an answer in a row: what is done, what is being done and what comes; numbers and constants."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from assistant.records import Step, Turn
from corpus.records import parse_passage_id
from corpus.wording import counted
from explorer.jobs.question import QuestionView
from explorer.presenters.wording import seconds

StepState = Literal["done", "now", "next"]
# Each step as it is called while it is waited for, done, and behind.
NAMES: dict[Step, tuple[str, str, str]] = {
    "rewrite": ("Read the question", "Reading the question", "Question read"),
    "retrieve": ("Find passages", "Finding passages", "Passages found"),
    "write": ("Write", "Writing", "Written"),
    "check": ("Check", "Checking", "Checked"),
}
WAITING = "Waiting for a free worker"
# A step that is over sooner has no time worth a number that changes while it is looked at.
COUNTED_FROM = 2.0


@dataclass(frozen=True, slots=True)
class StepShown:
    """A step in words, and what it took, "" where that is not known yet."""

    state: StepState
    name: str
    took: str = ""


def steps_of(turn: Turn) -> tuple[StepShown, ...]:
    """Return the steps behind a turn; one that was refused before writing has fewer."""
    found = _found(*_papers_and_passages(turn))
    times = {time.step: time.seconds for time in turn.seconds}
    return tuple(
        StepShown("done", found if step == "retrieve" else NAMES[step][2], seconds(times[step]))
        for step in NAMES
        if step in times
    )


def steps_so_far(view: QuestionView) -> tuple[StepShown, ...]:
    """Return the steps of a question on its way: all of them from the start, so that none moves another."""
    times = {time.step: time.seconds for time in view.done}
    return tuple(_steps_so_far(view, times))


def _steps_so_far(view: QuestionView, times: Mapping[Step, float]) -> Iterator[StepShown]:
    for step, (ahead, doing, done) in NAMES.items():
        if step in times:
            papers = view.papers or ()
            name = _found(len(papers), sum(len(one.hits) for one in papers)) if step == "retrieve" else done
            yield StepShown("done", name, seconds(times[step]))
        elif step == view.step:
            name = WAITING if view.state == "waiting" else doing
            took = f"{view.step_seconds:.0f} s" if view.step_seconds >= COUNTED_FROM else ""
            yield StepShown("now", name, took)
        else:
            yield StepShown("next", ahead)


def steps_html(steps: tuple[StepShown, ...]) -> str:
    """Return the row of steps as HTML; nothing in it is anybody else's text."""
    return f'<ol class="pt-steps" aria-label="Steps of this answer">{"".join(map(_item, steps))}</ol>'


def _item(step: StepShown) -> str:
    current = ' aria-current="step"' if step.state == "now" else ""
    took = f' <span class="pt-took">{step.took}</span>' if step.took else ""
    return f'<li class="pt-step pt-step-{step.state}"{current}><span>{step.name}{took}</span></li>'


def _papers_and_passages(turn: Turn) -> tuple[int, int]:
    """Count the papers and passages the writer was given; for a refusal, those found."""
    if turn.evidence.papers:
        return len(turn.evidence.papers), sum(len(paper.passages) for paper in turn.evidence.papers)
    return len({parse_passage_id(hit.passage_id)[0] for hit in turn.all_hits}), len(turn.all_hits)


def _found(papers: int, passages: int) -> str:
    return f"{counted(papers, 'paper')}, {counted(passages, 'passage')}"
