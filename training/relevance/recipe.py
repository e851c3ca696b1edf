"""The recipe of the relevance part: general questions, those about papers, judged ones, then the scales."""

import hashlib
import random
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch

from assistant.learned import (
    ANSWER,
    RELEVANCE,
    Card,
    LearnedPart,
    RelevanceScorer,
    answer_features,
    network_features,
    read_card,
    read_part,
    relevance_features,
    shares,
)
from corpus.encoders import Encoder, bundled_path
from evaluation.answers.evidence.rankers import Ranker
from evaluation.answers.evidence.ranking import Figures, measure_rankers
from evaluation.answers.evidence.rows import EvidenceRow
from training.fitting import Plan, fit
from training.parts import adapters_of, write_card, write_part
from training.relevance.choice import choice_scales
from training.relevance.judged import JudgedData, judged_examples
from training.relevance.task import LONGEST, Listed, Relevance, listed
from training.scales import fitted_scale
from training.sets import question_rows
from training.trunk import Adapters, Reader

FOLDS = 5
MOST_SENTENCES = 6  # of an answer that its relevance is learned from
# These come last: they are what the product is asked.
LAST = frozenset({"qasper-sentences", "qasper-paragraphs", "clapnq"})
REPLAYED = 0.1  # of the general questions are read again beside the last, so that they are not forgotten
LICENCES = {
    "qasper": "CC BY 4.0",
    "covidqa": "Apache-2.0",
    "evidence-inference": "MIT",
    "scidqa": "ODC-By",
    "clapnq": "Apache-2.0",
    "qed": "CC BY-SA 3.0",
    "squad": "CC BY-SA 4.0",
    "qnli": "CC BY-SA 4.0",
}

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class RelevancePlan:
    """What is learned from and how; of five parts of every set, by paper, `held` only measures.

    With `begun`, the folder of a part, only the judged questions are learned from, on top of what that has.
    Without these the writer's choice has no scale of its own.
    """

    data: Path
    work: Path
    out: Path
    judged_data: JudgedData | None = None
    begun: Path | None = None
    seed: int = 13
    held: int = 0
    adapters: Adapters = field(default_factory=Adapters)
    general: Plan = field(default_factory=lambda: Plan(epochs=1, learning_rate=1e-3, tokens=4096))
    papers: Plan = field(default_factory=lambda: Plan(epochs=1, learning_rate=1e-3 / 3, tokens=4096))
    judged: Plan = field(default_factory=lambda: Plan(epochs=3, learning_rate=3e-4, tokens=2048))


@dataclass(frozen=True, slots=True)
class _Measured:
    """A row with its features, the network's among them."""

    row: EvidenceRow
    features: Mapping[str, Sequence[float]]


def train_relevance(plan: RelevancePlan, encoder: Encoder, say: Say) -> Card:
    """Fit the part, its scale and the scale of what is used without it; return the card that was written.

    What a killed run has done is not done again. Raises TrainingError, EvaluationError and CorpusError.
    """
    rows = question_rows(plan.data, question_counts(), plan.seed)
    held = [row for row in rows if fold_of(row) == plan.held]
    learned = [row for row in rows if fold_of(row) != plan.held]
    begun = _begun(plan) if plan.begun else _taught(learned, plan, say)
    reader = _judging(begun, plan, say)
    return _write(reader, held, plan, encoder, say)


def _judging(begun: Mapping[str, torch.Tensor], plan: RelevancePlan, say: Say) -> Reader:
    """Return a reader of what was learned before, and of the judged questions where there are any."""
    if plan.judged_data:
        examples = judged_examples(plan.judged_data, bundled_path())
        return _fitted(examples, plan, "judged", plan.judged, start=begun, say=say)
    reader = Reader(bundled_path(), 1, plan.adapters)
    reader.restore(begun)
    return reader


def _begun(plan: RelevancePlan) -> Mapping[str, torch.Tensor]:
    """Return what the part that is gone on from has learned."""
    reader = Reader(bundled_path(), 1, plan.adapters)
    return adapters_of(RELEVANCE, plan.begun or plan.out, reader.learned(), head=True)


def _taught(rows: Sequence[EvidenceRow], plan: RelevancePlan, say: Say) -> Mapping[str, torch.Tensor]:
    """Return what is learned from general questions, and then from those about papers."""
    trunk = bundled_path()
    general = [row for row in rows if row.set not in LAST]
    first = _fitted(listed(general, trunk), plan, "general", plan.general, start=None, say=say)
    last = [row for row in rows if row.set in LAST]
    last += [row for row in general if _chance(row) < REPLAYED]
    examples = listed(last, trunk)
    return _fitted(examples, plan, "papers", plan.papers, start=first.learned(), say=say).learned()


def question_counts() -> dict[str, int]:
    """Return how many questions of each set are learned from at most."""
    return dict(_settings()["questions"])


def _settings() -> dict[str, Any]:
    file = Path(__file__).with_name("questions.toml")
    return tomllib.loads(file.read_text(encoding="utf-8"))


def judged_data(questions: Path, homes: Mapping[str, Path]) -> JudgedData:
    """Return judged questions with what is known of their corpora: which measure, which are foreign."""
    known = _settings()
    return JudgedData(questions, homes, frozenset(known["measured"]), known["foreign"])


def fit_choice(data: JudgedData, out: Path, seed: int) -> Card:
    """Fit the scales of the choice anew, beside the network that is there; return the card that was written.

    Raises TrainingError, EvaluationError, CorpusError, and LearnedError where there is no such part.
    """
    card = read_card(RELEVANCE, out)
    scales = choice_scales(data, RelevanceScorer(LearnedPart(*read_part(RELEVANCE, out))), seed)
    card = card.model_copy(update={"scales": {**card.scales, **scales}})
    write_card(out, RELEVANCE, card)
    return card


def fold_of(row: EvidenceRow) -> int:
    """Return which of the five parts a row's paper or document belongs to."""
    return hashlib.sha256(row.group.encode()).digest()[0] % FOLDS


def _chance(row: EvidenceRow) -> float:
    return hashlib.sha256(row.question.encode()).digest()[0] / 256


def _fitted(
    examples: Sequence[Listed],
    plan: RelevancePlan,
    name: str,
    how: Plan,
    *,
    start: Mapping[str, torch.Tensor] | None,
    say: Say,
) -> Reader:
    """Return a reader fitted to questions, with its checkpoint in a folder of its own."""
    torch.manual_seed(plan.seed)
    reader = Reader(bundled_path(), 1, plan.adapters).to("cuda" if torch.cuda.is_available() else "cpu")
    if start:
        reader.restore(start)
    fit(
        reader,
        Relevance(),
        examples,
        how,
        plan.work / name,
        say=lambda line: say(f"{name}: {line}"),
    )
    return reader


def _write(
    reader: Reader, held: Sequence[EvidenceRow], plan: RelevancePlan, encoder: Encoder, say: Say
) -> Card:
    """Write the part, once to read the held questions as the product does, then with its scales."""
    learned = reader.learned()
    draft = write_part(plan.work, RELEVANCE, learned, longest=LONGEST, scales={}, provenance={})
    say(f"{draft.name}: reading {len(held)} questions that were held back")
    network = RelevanceScorer(LearnedPart(*read_part(RELEVANCE, plan.work)))
    measured = [_measured(row, network, encoder) for row in held]
    chosen = choice_scales(plan.judged_data, network, plan.seed) if plan.judged_data else {}
    scales = {
        "all": _scale(measured, plan.seed, with_network=True),
        "features": _scale(measured, plan.seed, with_network=False),
        f"{ANSWER}_all": _answer_scale(measured, plan.seed, with_network=True),
        **chosen,
        f"{ANSWER}_features": _answer_scale(measured, plan.seed, with_network=False),
    }
    provenance = {
        "recipe": f"paper-trail train relevance --seed {plan.seed} --held {plan.held}",
        "begun_with": read_card(RELEVANCE, plan.begun).name if plan.begun else "",
        "trained_on": question_counts(),
        "scale_of_the_choice_fitted_on": sorted(plan.judged_data.measured) if plan.judged_data else [],
        "licences": LICENCES,
        "fitting": {
            "adapters": asdict(plan.adapters),
            "general": asdict(plan.general),
            "papers": asdict(plan.papers),
            "judged": asdict(plan.judged),
        },
        "held_back": _figures(measured, plan.seed),
    }
    return write_part(plan.out, RELEVANCE, learned, longest=LONGEST, scales=scales, provenance=provenance)


def _measured(row: EvidenceRow, network: RelevanceScorer, encoder: Encoder) -> _Measured:
    asked, vectors = encoder.encode_query(row.question), encoder.encode_passages(row.candidates)
    numbers = network.numbers(row.question, row.candidates, [row.title] * len(row.candidates))
    features = relevance_features(row.question, row.candidates, asked, vectors)
    return _Measured(row, features | network_features(numbers))


def _scale(measured: Sequence[_Measured], seed: int, *, with_network: bool) -> dict[str, float]:
    """Return the regression of answers on features, with or without those of the network."""
    features: dict[str, list[float]] = defaultdict(list)
    answers: list[bool] = []
    for one in measured:
        for name, values in one.features.items():
            if with_network or not name.startswith("network"):
                features[name] += values
        answers += [index in one.row.relevant for index in range(len(one.row.candidates))]
    return fitted_scale(features, answers, seed)


def _answer_scale(measured: Sequence[_Measured], seed: int, *, with_network: bool) -> dict[str, float]:
    """Return the regression of whether a few sentences answer, on the best that any of them has.

    The few are made of every question: the likeliest that do not answer, for half of the questions with one
    that does among them.
    """
    chance = random.Random(seed)
    features: dict[str, list[float]] = defaultdict(list)
    answers: list[bool] = []
    for one in measured:
        wrong = [at for at in range(len(one.row.candidates)) if at not in one.row.relevant]
        wrong.sort(key=lambda at: -one.features["network"][at] - one.features["cosine"][at])
        few = wrong[: chance.randint(1, MOST_SENTENCES)]
        if not few:
            continue
        is_answered = bool(one.row.relevant) and chance.random() < 0.5
        if is_answered:
            few = [*few[:-1], chance.choice(one.row.relevant)]
        for name, values in answer_features(one.features, few).items():
            if with_network or name != "network":
                features[name] += values
        answers.append(is_answered)
    return fitted_scale(features, answers, seed)


def _figures(measured: Sequence[_Measured], seed: int) -> dict[str, Figures]:
    """Return what each ranker makes of the sets; of each half of the papers by the other half's scale."""
    features = {one.row: one.features for one in measured}
    halves = {half: [one for one in measured if _half(one.row) == half] for half in (0, 1)}
    with_network = {half: _scale(other, seed, with_network=True) for half, other in _others(halves)}
    without = {half: _scale(other, seed, with_network=False) for half, other in _others(halves)}
    rankers: dict[str, Ranker] = {
        "bm25": lambda row: features[row]["bm25"],
        "cosine": lambda row: features[row]["cosine"],
        "features": lambda row: shares(features[row], without[_half(row)]),
        "head": lambda row: features[row]["network"],
        "ours": lambda row: shares(features[row], with_network[_half(row)]),
    }
    return dict(measure_rankers([one.row for one in measured], rankers).sets)


def _half(row: EvidenceRow) -> int:
    return hashlib.sha256(row.group.encode()).digest()[1] % 2


def _others(halves: Mapping[int, Sequence[_Measured]]) -> Iterator[tuple[int, Sequence[_Measured]]]:
    yield from ((half, halves[1 - half]) for half in halves)
