"""The recipe of the support part: claims beside evidence, judged and made, then the scales."""

import tomllib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
import torch

from assistant.checking import SupportWeights
from assistant.learned import RELEVANCE, SHIPPED, SUPPORT, Card, LearnedPart, read_card, read_part
from corpus.encoders import Encoder, bundled_path
from evaluation.answers.attribution.agreement import measure_attribution
from evaluation.answers.attribution.fitting import (
    Compared,
    Matrix,
    across_sets,
    compare_pairs,
    cross_validated,
)
from evaluation.answers.attribution.fitting import fit as fit_scale
from evaluation.answers.attribution.pairs import LabelledPair, read_all_pairs
from training.fitting import Plan, fit
from training.parts import adapters_of, write_part
from training.sets import (
    Claim,
    altered,
    among_others,
    elsewhere,
    held_pairs,
    labelled_claims,
    quoted,
    summary_claims,
)
from training.support.task import LONGEST, Support, weighed
from training.trunk import Adapters, Reader

ATTRIBUTION = Path("attribution") / "pairs.jsonl"
HELD_PAIRS = 400  # of each set that is learned from
# Claims of answers and articles beside what they cite, which is what the product shows, set the scales.
SCALED = frozenset({"AttributionBench", "WiCE", "citation_integrity", "factcheck_gpt"})
WITH_AND_WITHOUT = {"with the network": True, "without": False}
LICENCES = {
    "citation_integrity, cad_nli, fool_me_twice, factcheck_gpt, fever_nli, scone": (
        "MIT, Apache-2.0, BSD, CC0 or CC BY-SA"
    ),
    "scitldr": "Apache-2.0",
    "aclsum": "MIT",
    "WiCE": "ODC-By; for the scales alone",
    "AttributionBench": "none stated; for the scales alone",
}

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class SupportPlan:
    """What is learned from and how; of sets without a development split one fold of five only measures.

    The network begins as another part that reads two texts, which the product ships: `begun` is its folder.
    """

    data: Path
    work: Path
    out: Path
    seed: int = 13
    held: int = 0
    begun: Path = SHIPPED
    adapters: Adapters = field(default_factory=Adapters)
    how: Plan = field(default_factory=lambda: Plan(epochs=1, learning_rate=7e-4, tokens=2048))


def train_support(plan: SupportPlan, encoder: Encoder, say: Say) -> Card:
    """Fit the part, its scale and the scale of what is used without it; return the card that was written.

    What a killed run has done is not done again. Raises TrainingError, EvaluationError and CorpusError.
    """
    reader = fitted(plan, say)
    draft = write_part(plan.work, SUPPORT, reader.learned(), longest=LONGEST, scales={}, provenance={})
    pairs = scaled_pairs(plan)
    say(f"{draft.name}: reading {len(pairs)} pairs of which it has learned nothing")
    compared = compare_pairs(pairs, encoder, LearnedPart(*read_part(SUPPORT, plan.work)))
    every = np.ones(len(pairs), dtype=bool)
    scales = {
        "all": _as_scale(fit_scale(compared, every)),
        "features": _as_scale(fit_scale(compared, every, with_network=False)),
    }
    return write_part(
        plan.out,
        SUPPORT,
        reader.learned(),
        longest=LONGEST,
        scales=scales,
        provenance=_provenance(plan, pairs, compared),
    )


def scaled_pairs(plan: SupportPlan) -> list[LabelledPair]:
    """Return the pairs that the scales are fitted to: of them the network has learned nothing."""
    attributed = read_all_pairs(plan.data / ATTRIBUTION)
    return [pair for pair in attributed if pair.set in SCALED] + [
        pair for pair in held_pairs(plan.data, plan.held, HELD_PAIRS) if pair.set in SCALED
    ]


def _as_scale(weights: SupportWeights) -> dict[str, float]:
    return {"intercept": weights.intercept, **weights.weights}


def _provenance(plan: SupportPlan, pairs: Sequence[LabelledPair], compared: Compared) -> dict[str, object]:
    judged, made = learned_claims(plan)
    return {
        "recipe": f"paper-trail train support --seed {plan.seed} --held {plan.held}",
        "begun_as": read_card(RELEVANCE, plan.begun).name,
        "judged": Counter(claim.set for claim in judged),
        "made": Counter(claim.set for claim in made),
        "scaled_on": Counter(pair.set for pair in pairs),
        "licences": LICENCES,
        "fitting": {"adapters": asdict(plan.adapters), "claims": asdict(plan.how)},
        "cross_validated": {
            name: _figures(pairs, compared, cross_validated(compared, with_network=has))
            for name, has in WITH_AND_WITHOUT.items()
        },
        "other_sets_only": {
            name: _figures(pairs, compared, across_sets(compared, with_network=has))
            for name, has in WITH_AND_WITHOUT.items()
        },
    }


def _figures(
    pairs: Sequence[LabelledPair], compared: Compared, support: tuple[Matrix, Matrix]
) -> dict[str, object]:
    """Return how well supported claims are told from others, set by set, and from those made wrong."""
    found = measure_attribution(pairs, compared, support, "")
    told = {name: {"auroc": row["auroc_support"], "ece": row["ece"]} for name, row in found.sets.items()}
    return {**told, "below": {kind: one["below_support"] for kind, one in found.contrast.items()}}


def learned_claims(plan: SupportPlan) -> tuple[list[Claim], list[Claim]]:
    """Return all that the network learns from: claims that people judged, and those made of them."""
    wanted = tomllib.loads(Path(__file__).with_name("claims.toml").read_text(encoding="utf-8"))
    shares = wanted["made"]
    judged = labelled_claims(plan.data, wanted["labelled"], plan.seed, plan.held)
    summaries = summary_claims(plan.data, wanted["summaries"], plan.seed)
    made = [
        *summaries,
        *altered([*judged, *summaries], shares["altered"], plan.seed),
        *elsewhere([*judged, *summaries], shares["elsewhere"], plan.seed),
        *quoted(summaries, shares["quoted"], plan.seed),
    ]
    return among_others(judged, shares["among_others"], plan.seed), made


def fitted(plan: SupportPlan, say: Say) -> Reader:
    """Return the network fitted to all claims, from its checkpoint on where there is one."""
    trunk = bundled_path()
    torch.manual_seed(plan.seed)
    reader = Reader(trunk, 1, plan.adapters).to("cuda" if torch.cuda.is_available() else "cpu")
    reader.restore(adapters_of(RELEVANCE, plan.begun, reader.learned()))
    judged, made = learned_claims(plan)
    fit(reader, Support(), weighed([*judged, *made], trunk), plan.how, plan.work / "claims", say=say)
    return reader
