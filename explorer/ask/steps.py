"""The steps of an answer as a row of HTML: done, current and still to come."""

from dataclasses import dataclass
from typing import Literal

from assistant.records import Step, Turn
from corpus.records import parse_passage_id
from corpus.wording import counted
from explorer.jobs.question import QuestionView
from explorer.presenters.wording import seconds

StepState = Literal["done", "now", "next"]
# The name of each step before, during and after it.
NAMES: dict[Step, tuple[str, str, str]] = {
    "rewrite": ("Read the question", "Reading the question", "Question read"),
    "retrieve": ("Find passages", "Finding passages", "Passages found"),
    "write": ("Write", "Writing", "Written"),
    "check": ("Check", "Checking", "Checked"),
}
WAITING = "Waiting for a free worker"
# Shorter steps show no running seconds, which would only flicker.
COUNTED_FROM = 2.0


@dataclass(frozen=True, slots=True)
class StepShown:
    """A step in words; `took` is its time, "" if not known yet."""

    state: StepState
    name: str
    took: str = ""


def steps_of(turn: Turn) -> tuple[StepShown, ...]:
    """Return the steps of a turn; one that was refused before writing has fewer."""
    if papers := turn.evidence.papers:
        found = _found(len(papers), sum(len(paper.passages) for paper in papers))
    else:
        hits = turn.all_hits
        found = _found(len({parse_passage_id(hit.passage_id)[0] for hit in hits}), len(hits))
    times = {time.step: time.seconds for time in turn.seconds}
    return tuple(
        StepShown("done", found if step == "retrieve" else NAMES[step][2], seconds(times[step]))
        for step in NAMES
        if step in times
    )


def steps_so_far(view: QuestionView) -> tuple[StepShown, ...]:
    """Return all steps of a running question, also those to come, so that the row does not shift."""
    times = {time.step: time.seconds for time in view.done}
    papers = view.papers or ()
    found = _found(len(papers), sum(len(paper.hits) for paper in papers))
    steps = []
    for step, (ahead, doing, done) in NAMES.items():
        if step in times:
            steps.append(StepShown("done", found if step == "retrieve" else done, seconds(times[step])))
        elif step == view.step:
            name = WAITING if view.state == "waiting" else doing
            took = f"{view.step_seconds:.0f} s" if view.step_seconds >= COUNTED_FROM else ""
            steps.append(StepShown("now", name, took))
        else:
            steps.append(StepShown("next", ahead))
    return tuple(steps)


def steps_html(steps: tuple[StepShown, ...]) -> str:
    """Return the row of steps as HTML; it holds only our own constants and numbers."""
    return f'<ol class="pt-steps" aria-label="Steps of this answer">{"".join(map(_item, steps))}</ol>'


def _item(step: StepShown) -> str:
    current = ' aria-current="step"' if step.state == "now" else ""
    took = f' <span class="pt-took">{step.took}</span>' if step.took else ""
    return f'<li class="pt-step pt-step-{step.state}"{current}><span>{step.name}{took}</span></li>'


def _found(papers: int, passages: int) -> str:
    return f"{counted(papers, 'paper')}, {counted(passages, 'passage')}"
