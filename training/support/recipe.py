"""The recipe of the support part: claims beside evidence, judged and made, then the scales."""

import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import torch

from assistant.learned import RELEVANCE, SHIPPED
from corpus.encoders import bundled_path
from training.fitting import Plan, fit
from training.parts import adapters_of
from training.sets.claims import Claim, labelled_claims, summary_claims
from training.sets.made_claims import altered, among_others, elsewhere, quoted
from training.support.task import Support, weighed
from training.trunk import Adapters, Reader

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
    how: Plan = field(default_factory=lambda: Plan(epochs=2, learning_rate=5e-4, tokens=2048))


def learned_claims(plan: SupportPlan) -> list[Claim]:
    """Return all that the network learns from: judged claims, summaries, and what is made of both."""
    wanted = tomllib.loads(Path(__file__).with_name("claims.toml").read_text(encoding="utf-8"))
    shares = wanted["made"]
    judged = labelled_claims(plan.data, wanted["labelled"], plan.seed, plan.held)
    summaries = summary_claims(plan.data, wanted["summaries"], plan.seed)
    return [
        *among_others(judged, shares["among_others"], plan.seed),
        *summaries,
        *altered([*judged, *summaries], shares["altered"], plan.seed),
        *elsewhere([*judged, *summaries], shares["elsewhere"], plan.seed),
        *quoted(summaries, shares["quoted"], plan.seed),
    ]


def fitted(plan: SupportPlan, say: Say) -> Reader:
    """Return the network fitted to all claims; a killed run goes on from its checkpoint."""
    trunk = bundled_path()
    torch.manual_seed(plan.seed)
    reader = Reader(trunk, 1, plan.adapters).to("cuda" if torch.cuda.is_available() else "cpu")
    reader.restore(adapters_of(RELEVANCE, plan.begun, reader.learned()))
    fit(reader, Support(), weighed(learned_claims(plan), trunk), plan.how, plan.work / "claims", say=say)
    return reader
def train_support() -> None: ...
