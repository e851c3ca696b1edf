"""The recipe of the retriever: queries with what they are to find in, an encoder's folder out."""

import hashlib
import json
import random
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

from corpus.encoders import BUNDLED_SHA256, bundled_path
from corpus.settings import BUNDLED_ENCODER
from evaluation.answers.query_contexts import QueryContext
from training.errors import TrainingError
from training.fitting import CHECKPOINT, CURVE, Plan, fit
from training.folders import finished_card, saving
from training.retriever.examples import Asking, Examples, Mining, by_set
from training.retriever.folder import write_encoder
from training.retriever.measuring import Found, measure_found
from training.retriever.task import TEMPERATURE, Example, InfoNce, SentenceReader
from training.sets import LICENCES, SoughtTexts, sought_texts
from training.trunk import Adapters, PairTokenizer

# So many queries of each set at most.
COUNTS = {
    "citations": 8000,
    "titles": 8000,
    "qasper": 2000,
    "canard-rewrites": 4000,
    "canard-answers": 4000,
}
PARTS = 10  # of every set, by paper or dialogue, of which one is held back
RUN = "run.json"

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class RetrieverPlan:
    """What is learned from and how; the defaults are TruthReader's where it names them.

    `length` is that of a query and of a text, in tokens; a step reads `tokens` of both, and the run
    `most_tokens` at most. `measured` queries of each set are held back and asked before and after.
    """

    data: Path
    work: Path
    out: Path
    context: QueryContext = "ours"
    length: int = 512
    most_tokens: int | None = None
    negatives: int = 1
    measured: int = 100
    learning_rate: float = 2e-4
    tokens: int = 8192
    seed: int = 13
    adapters: Adapters = field(default_factory=lambda: Adapters(rank=16))
    checkpoint_seconds: float = 60.0

    @property
    def numbers(self) -> dict[str, object]:
        """What the weights depend on, beside the data."""
        left_out = ("data", "work", "out", "checkpoint_seconds")
        return {name: value for name, value in asdict(self).items() if name not in left_out}

    @property
    def fitting(self) -> Plan:
        return Plan(
            epochs=1,
            learning_rate=self.learning_rate,
            tokens=self.tokens,
            seed=self.seed,
            checkpoint_seconds=self.checkpoint_seconds,
        )


def train_retriever(plan: RetrieverPlan, say: Say) -> dict[str, Any]:
    """Fine-tune the bundled encoder, or go on with it, and return the card; raises TrainingError."""
    rows = sought_texts(plan.data, COUNTS, plan.seed)
    fingerprint = _fingerprint(plan, rows)
    if (finished := finished_card(plan.out, fingerprint)) is not None:
        say(f"{plan.out} holds this encoder already.")
        return finished
    _claim(plan.work, fingerprint)
    learned = [row for row in rows if not is_held(row)]
    random.Random(plan.seed).shuffle(learned)
    examples = _examples(plan, learned)
    taken = list(examples.within(learned, plan.negatives, plan.most_tokens))
    reader = _reader(plan)
    with saving(plan.work):
        fit(reader, InfoNce(), taken, plan.fitting, plan.work, say=say)
    held = [row for row in rows if is_held(row)]
    figures = _figures(plan, reader, held, say)
    card = _card(plan, fingerprint, learned[: len(taken)], taken, figures)
    write_encoder(reader, card, plan.out)
    (plan.work / CHECKPOINT).unlink(missing_ok=True)
    return card


def is_held(row: SoughtTexts) -> bool:
    """Return True if a row only measures: its paper or dialogue is in the part that is held back."""
    return hashlib.sha256(row.group.encode()).digest()[0] % PARTS == 0


def _fingerprint(plan: RetrieverPlan, rows: Sequence[SoughtTexts]) -> str:
    """Return what tells one run from another: the hash of data, encoder and numbers."""
    digest = hashlib.sha256(json.dumps([BUNDLED_SHA256, plan.numbers], sort_keys=True).encode())
    for row in rows:
        digest.update(repr(row).encode())
    return digest.hexdigest()


def _claim(work: Path, fingerprint: str) -> None:
    """Make a folder this run's; raises TrainingError where a checkpoint in it is of another."""
    run = work / RUN
    with saving(work):
        work.mkdir(parents=True, exist_ok=True)
        if (work / CHECKPOINT).exists():
            if not run.exists() or run.read_text(encoding="utf-8") != fingerprint:
                raise TrainingError(
                    f"The checkpoint in {work} is of a run on other data or with other numbers. Name another"
                    " folder, or remove the checkpoint to begin anew."
                )
            return
        (work / CURVE).unlink(missing_ok=True)
        run.write_text(fingerprint, encoding="utf-8")


def _examples(plan: RetrieverPlan, rows: Sequence[SoughtTexts]) -> Examples:
    tokenizer = PairTokenizer(bundled_path(), plan.length)
    return Examples(Asking(rows, plan.context, plan.seed), Mining(rows, plan.seed), tokenizer)


def _reader(plan: RetrieverPlan) -> SentenceReader:
    torch.manual_seed(plan.seed)
    reader = SentenceReader(bundled_path(), plan.adapters)
    return reader.to("cuda" if torch.cuda.is_available() else "cpu")


def _figures(
    plan: RetrieverPlan, reader: SentenceReader, held: Sequence[SoughtTexts], say: Say
) -> dict[str, dict[str, Found]]:
    """Return what held-back queries find, by set: without what was learned, and with it."""
    examples = _examples(plan, held)
    figures: dict[str, dict[str, Found]] = {"before": {}, "after": {}}
    for name, rows in by_set(held).items():
        asked = [examples.of(row, plan.negatives) for row in rows[: plan.measured]]
        with reader.trunk.disable_adapter():
            figures["before"][name] = measure_found(reader, asked)
        figures["after"][name] = measure_found(reader, asked)
        told = (f"{when} {found[name]['recall@1']:.3f}" for when, found in figures.items())
        say(f"{name}, {len(asked)} held back: recall@1 {', '.join(told)}")
    return figures


def _card(
    plan: RetrieverPlan,
    fingerprint: str,
    rows: Sequence[SoughtTexts],
    taken: Sequence[Example],
    figures: Mapping[str, Mapping[str, Found]],
) -> dict[str, Any]:
    counts = {name: len(held) for name, held in by_set(rows).items()}
    return {
        "kind": "retriever",
        "method": "InfoNCE with in-batch and hard negatives (TruthReader, section 3.2); LoRA, merged",
        "fingerprint": fingerprint,
        "base": {"name": BUNDLED_ENCODER, "sha256": BUNDLED_SHA256, "licence": "Apache-2.0"},
        "data": {"queries": counts, "tokens": sum(one.tokens for one in taken)},
        "licences": {name: LICENCES[name] for name in counts},
        "numbers": {**plan.numbers, "temperature": TEMPERATURE, "epochs": plan.fitting.epochs},
        "curve": _curve(plan.work),
        "held_back": figures,
        "versions": {name: version(name) for name in ("torch", "transformers", "peft")},
    }


def _curve(work: Path) -> list[dict[str, float]]:
    """Return the losses by step; what a run that was killed had noted is noted anew when it goes on."""
    points: dict[int, dict[str, float]] = {}
    for line in (work / CURVE).read_text(encoding="utf-8").splitlines():
        with suppress(ValueError, LookupError):  # a line may have been cut by a full disk
            point = json.loads(line)
            points[point["step"]] = point
    return [points[step] for step in sorted(points)]
