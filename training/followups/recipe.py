"""The recipe of the follow-ups part: CANARD's conversations and made ones, then how sure is sure enough."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import torch

from assistant.learned import FOLLOW_UPS, OUTPUTS, Card, FollowUps, Surety, read_follow_ups
from assistant.questions import rewrite_from_words
from corpus.encoders import bundled_path
from evaluation.answers.rewriting import AskedTurn, RewritingFigures, measure_rewriting, read_turns
from training.fitting import Plan, fit
from training.followups.aligning import Resolved
from training.followups.conversations import CANARD, canard, made
from training.followups.task import LONGEST, FollowUp, read_examples
from training.parts import write_part
from training.trunk import Adapters, Reader

MADE_OF = ("squad", "covidqa", "scidqa", "qasper-paragraphs")
LICENCES = {
    "canard": "CC BY-SA 4.0",
    "squad": "CC BY-SA 4.0",
    "covidqa": "Apache-2.0",
    "scidqa": "ODC-By",
    "qasper": "CC BY 4.0",
}

DEVELOPED_ON = "rewriting/canard_dev.jsonl"
POINTS = 0.4
REPLACING, BEHIND_AND_BRACKETED = (0.1, 0.2, 0.3), ((0.3, 0.3), (0.4, 0.3), (0.4, 0.4))
FIRST = Surety(points=POINTS, replacing=REPLACING[0], behind=0.3, bracketed=0.3)
# A question further from what people wrote than it was as asked counts against the bars, beside the mean F1.
WORSE_COUNTS = 0.1
CHOSEN_ON = 300  # questions

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class FollowUpsPlan:
    """What is learned from and how."""

    data: Path
    work: Path
    out: Path
    seed: int = 13
    adapters: Adapters = field(default_factory=Adapters)
    how: Plan = field(default_factory=lambda: Plan(epochs=2, learning_rate=1e-3, tokens=4096))


def train_follow_ups(plan: FollowUpsPlan, say: Say) -> Card:
    """Fit the part and return the card that was written.

    What a killed run has done is not done again. Raises TrainingError and EvaluationError.
    """
    asked = {CANARD: list(canard(plan.data, plan.seed))}
    asked["made"] = list(made(plan.data, MADE_OF, plan.seed))
    examples = read_examples([one for some in asked.values() for one in some], bundled_path())
    torch.manual_seed(plan.seed)
    reader = Reader(bundled_path(), OUTPUTS, plan.adapters, per_token=True)
    reader = reader.to("cuda" if torch.cuda.is_available() else "cpu")
    fit(reader, FollowUp(), examples, plan.how, plan.work, say=say)
    return _write(reader, plan, asked, say)


def _write(reader: Reader, plan: FollowUpsPlan, asked: Mapping[str, Sequence[Resolved]], say: Say) -> Card:
    """Write the part, once to read the development conversations with it, then with its bars."""
    learned = reader.learned()
    scales = {"surety": FIRST.model_dump()}
    draft = write_part(plan.work, FOLLOW_UPS, learned, longest=LONGEST, scales=scales, provenance={})
    turns = read_turns(plan.data / DEVELOPED_ON)
    halves = [[turn for turn in turns if _half(turn) == half] for half in (0, 1)]
    say(f"{draft.name}: reading {len(turns)} questions of {DEVELOPED_ON}")
    reads = read_follow_ups(plan.work)
    surety, chosen_on = _best_surety(reads, halves[0][:CHOSEN_ON])
    held = _figures(reads.with_surety(surety), halves[1])
    provenance: Mapping[str, object] = {
        "recipe": f"paper-trail train follow-ups --seed {plan.seed}",
        "trained_on": {name: len(some) for name, some in asked.items()},
        "made_of": MADE_OF,
        "licences": LICENCES,
        "fitting": {"adapters": asdict(plan.adapters), "plan": asdict(plan.how)},
        "surety_chosen_on": {"canard-dev, one half of its dialogues": chosen_on},
        "held_back": {"canard-dev, the other half": held},
    }
    scales = {"surety": surety.model_dump()}
    return write_part(plan.out, FOLLOW_UPS, learned, longest=LONGEST, scales=scales, provenance=provenance)


def _half(turn: AskedTurn) -> int:
    """Return which half a turn's dialogue belongs to: what it began with tells."""
    first = turn.history[0] if turn.history else turn.raw
    return hashlib.sha256(first.encode()).digest()[0] % 2


def _best_surety(reads: FollowUps, turns: Sequence[AskedTurn]) -> tuple[Surety, RewritingFigures]:
    """Return the best bars, those of what replaces first and then those of what is put in."""
    best = max(
        (_tried(reads, FIRST.model_copy(update={"replacing": bar}), turns) for bar in REPLACING), key=_worth
    )
    others = (
        _tried(reads, best[0].model_copy(update={"behind": behind, "bracketed": bracketed}), turns)
        for behind, bracketed in BEHIND_AND_BRACKETED
    )
    return max(others, key=_worth)


def _tried(reads: FollowUps, bars: Surety, turns: Sequence[AskedTurn]) -> tuple[Surety, RewritingFigures]:
    return bars, _figures(reads.with_surety(bars), turns)


def _worth(tried: tuple[Surety, RewritingFigures]) -> float:
    _, figures = tried
    return float(figures["rewritten"]["f1"] - WORSE_COUNTS * figures["worse_than_raw"])


def _figures(reads: FollowUps, turns: Sequence[AskedTurn]) -> RewritingFigures:
    return measure_rewriting(turns, lambda question, history: rewrite_from_words(question, history, reads))[
        "all"
    ]
