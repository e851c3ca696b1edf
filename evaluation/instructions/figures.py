"""The figures of a row: each task's own, their means, and what the replies were like."""

from collections.abc import Mapping, Sequence

from evaluation.instructions.running import Reply
from evaluation.instructions.tasks import TASKS

PERCENT = 100.0
# The figures of SciRIFF's summary without DiscoMaT's, which GenGO Ultra leaves out, and what takes the place
# of those that a judge gives.
_SUMMARY = (
    *("BioASQ F1", "BioRED F1", "Evidence Inference overlap F1", "MultiCite F1", "MUP judged"),
    *("Qasper judged", "Qasper evidence F1", "SciERC F1", "SciFact label F1", "SciFact token F1"),
)
_UNJUDGED: Mapping[str, str] = {"MUP judged": "MUP ROUGE-L", "Qasper judged": "Qasper answer F1"}
MEAN, UNJUDGED_MEAN = "mean", "mean, unjudged"
INVALID_AT_FIRST, INVALID_AT_LAST = "invalid at first %", "invalid at last %"
PROMPT_TOKENS, COMPLETION_TOKENS, SECONDS = "prompt tokens", "completion tokens", "seconds"


def task_figures(replies: Sequence[Reply]) -> dict[str, float]:
    """Return the figures of each task that was asked, 0..1."""
    figures: dict[str, float] = {}
    for task in TASKS.values():
        if pairs := [(one.value, one.item.wanted) for one in replies if one.item.task is task]:
            figures |= task.score(pairs)
    return figures


def means(figures: Mapping[str, float]) -> dict[str, float]:
    """Return the means over the tasks, each only where all its figures are there."""
    wanted = {MEAN: _SUMMARY, UNJUDGED_MEAN: tuple(_UNJUDGED.get(name, name) for name in _SUMMARY)}
    return {
        mean: sum(figures[name] for name in names) / len(names)
        for mean, names in wanted.items()
        if all(name in figures for name in names)
    }


def reply_figures(replies: Sequence[Reply]) -> dict[str, float]:
    """Return the shares of replies that are not of their form, in percent, and tokens and seconds an item."""
    formed = [one for one in replies if one.fits_at_first is not None]
    figures: dict[str, float | None] = {
        INVALID_AT_FIRST: _mean([PERCENT * (not one.fits_at_first) for one in formed]),
        INVALID_AT_LAST: _mean([PERCENT * (not one.fits_at_last) for one in formed]),
        PROMPT_TOKENS: _mean(_tokens(replies, "prompt_tokens")),
        COMPLETION_TOKENS: _mean(_tokens(replies, "completion_tokens")),
        SECONDS: _mean([sum(call.seconds for call in one.exchanges) for one in replies if one.exchanges]),
    }
    return {name: figure for name, figure in figures.items() if figure is not None}


def _tokens(replies: Sequence[Reply], kind: str) -> list[float]:
    """Return the tokens of each item of which the server has told all."""
    told = [[getattr(call.completion, kind) for call in one.exchanges] for one in replies]
    return [float(sum(counts)) for counts in told if counts and None not in counts]


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
