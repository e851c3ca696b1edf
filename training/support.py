"""The support part: a cross-encoder with one number for a claim and its evidence, and the score's scales."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Self

import numpy as np
import torch
from sklearn.metrics import roc_auc_score
from torch.nn.functional import binary_cross_entropy_with_logits, softplus

from assistant.checking.features import close_text, strip_references
from assistant.learned.parts import SHIPPED, Card, LearnedPart, read_card, read_part
from assistant.learned.relevance import RELEVANCE
from assistant.learned.support import SUPPORT
from corpus.encoders.base import Encoder
from evaluation.answers import attribution as scales
from evaluation.answers.attribution import measure_attribution, read_all_pairs
from evaluation.answers.not_said import WrittenClaim
from evaluation.harness import say
from training import claims as made_of
from training import network
from training.claims import Claim, PaperClaims
from training.files import SETS, Run, draw
from training.fitting import Plan, Recipe, Task
from training.network import ADAPTERS, Measured, Pair, PairTokenizer, Reader

LONGEST = 256
PLANS = {
    "claims": Plan(epochs=1, learning_rate=7e-4, tokens=2048),
    "papers": Plan(epochs=2, learning_rate=3e-4, tokens=2048),
}
REPLAYED = 0.25  # share of the other claims that are read again beside those written for papers
HELD_PAIRS = 400  # of each set that is learned from
# The scales are fitted on what the product shows: claims of answers and articles beside what they cite.
SCALED = frozenset({"AttributionBench", "WiCE", "citation_integrity", "factcheck_gpt"})
# Claims beside their evidence, and how far this supports each, 0..1: one alone, or a right one and its twins.
Example = Sequence[tuple[Pair, float]]


def examples_of(claims: Sequence[Sequence[Claim]]) -> list[Example]:
    """Return claims and evidence as tokens, the evidence as the product reads it: a few close sentences."""
    every = [claim for few in claims for claim in few]
    texts = [(strip_references(claim.claim), close_text(claim.claim, claim.sentences)) for claim in every]
    read = zip(PairTokenizer(LONGEST).pairs(texts), [claim.level for claim in every], strict=True)
    return [[next(read) for _ in few] for few in claims]


def _losses(reader: Reader, batch: Sequence[Example]) -> Iterator[torch.Tensor]:
    """Yield the logistic loss of all claims, and with it that of each right claim against its twins."""
    every = [claim for example in batch for claim in example]
    found = reader.read([pair for pair, _ in every])[:, 0].float()
    loss = binary_cross_entropy_with_logits(found, found.new_tensor([level for _, level in every]))
    numbers = found.split([len(example) for example in batch])  # type: ignore[no-untyped-call]
    if twins := [own[1:] - own[0] for own in numbers if len(own) > 1]:
        loss = loss + softplus(torch.cat(twins)).mean()
    yield loss


TASK: Task[Example] = Task(lambda example: sum(len(pair.ids) for pair, _ in example), _losses)


RECIPE = Recipe(SUPPORT, LONGEST, TASK, PLANS)


def train_support(run: Run, encoder: Encoder) -> Card:
    """Fit the part and its scales and return its card; a killed run resumes.

    The network starts from the shipped relevance part, or from the support part in `run.begun`. Raises
    TrainingError, EvaluationError and CorpusError.
    """
    learned = Learned.read(run)
    reader = Reader.new(run.seed)
    part, folder = (SUPPORT, run.begun) if run.begun else (RELEVANCE, SHIPPED)
    network.restore(reader, network.weights_of_part(part, folder, reader, head=part == SUPPORT))
    measure = partial(_measured, run=run, learned=learned, encoder=encoder)
    return RECIPE.train(run, reader, lambda stage: examples_of(learned.stage(stage, run.seed)), measure)


@dataclass(frozen=True, slots=True)
class Learned:
    """The claims to learn from: judged, made of these, and written for papers."""

    judged: Sequence[Claim]
    made: Sequence[Claim]
    papers: Sequence[PaperClaims]
    quoted: Sequence[Claim]

    @classmethod
    def read(cls, run: Run) -> Self:
        """Read what may be learned from, without the fold that is held back."""
        settings, seed = SETS["support"], run.seed
        shares = settings["made"]
        judged = made_of.labelled_claims(run.data, settings["labelled"], seed, run.held)
        summaries = made_of.summary_claims(run.data, settings["summaries"], seed)
        supported = [*judged, *summaries]
        made = [*summaries, *made_of.altered(supported, shares["altered"], seed)]
        made += made_of.elsewhere(supported, shares["elsewhere"], seed)
        made += made_of.quoted(summaries, shares["quoted"], seed)
        papers = [own for own in made_of.paper_claims(run.data) if own.fold != run.held]
        return cls(
            judged=made_of.among_others(judged, shares["among_others"], seed),
            made=made,
            papers=papers,
            quoted=made_of.quoted([own.quotable() for own in papers], shares["papers_quoted"], seed),
        )

    def stage(self, name: str, seed: int) -> list[tuple[Claim, ...]]:
        """List the claims of a stage, each alone or together with its twins."""
        general: list[tuple[Claim, ...]] = [(claim,) for claim in (*self.judged, *self.made)]
        if name == "claims":
            return general
        written = [example for own in self.papers for example in own.examples()]
        quoted = ((claim,) for claim in self.quoted)
        return [*written, *quoted, *draw(general, round(REPLAYED * len(general)), f"{seed}:again")]


def _measured(name: str, run: Run, learned: Learned, encoder: Encoder) -> Measured:
    """Return scales and provenance: pairs that were held back are read as the product reads them."""
    held_back = read_all_pairs(run.data / "attribution" / "pairs.jsonl")
    held_back += made_of.held_pairs(run.data, run.held, HELD_PAIRS)
    pairs = [pair for pair in held_back if pair.set in SCALED]
    held_claims = made_of.held_claims(run.data, run.held)
    claims = [claim for claim, _ in held_claims]
    say(f"{name}: reading {len(pairs) + len(claims)} pairs that it has not learned from")
    part = LearnedPart(*read_part(SUPPORT, run.work))
    compared = scales.compare_pairs(pairs, encoder, part)
    written = scales.compare_pairs([pair for _, pair in held_claims], encoder, part)
    every = np.ones(len(pairs), dtype=bool)
    fitted = {"all": scales.fit(compared, every)}
    fitted["features"] = scales.fit(compared, every, with_network=False)
    told = {of: {"intercept": scale.intercept, **scale.weights} for of, scale in fitted.items()}

    def figures(measure: Callable[..., scales.Matrix]) -> dict[str, object]:
        """Measure per set how well the score separates supported claims, with and without the network."""
        found: dict[str, object] = {}
        for how, has in (("with the network", True), ("without", False)):
            agreed = measure_attribution(pairs, measure(compared, with_network=has))["sets"].items()
            found[how] = {of: {"auroc": row["auroc_support"], "ece": row["ece"]} for of, row in agreed}
        return found

    begun = read_card(SUPPORT, run.begun) if run.begun else read_card(RELEVANCE, SHIPPED)
    return told, {
        "recipe": f"paper-trail train support --seed {run.seed} --held {run.held}",
        "begun_as": begun.name,
        "papers": {
            "papers": len(learned.papers),
            "claims": sum(len(own.claims) for own in learned.papers),
            "quoted": len(learned.quoted),
        },
        "judged": Counter(claim.set for claim in learned.judged),
        "made": Counter(claim.set for claim in learned.made),
        "scaled_on": Counter(pair.set for pair in pairs),
        "licences": SETS["support"]["licences"],
        "fitting": {"adapters": ADAPTERS, **{name: asdict(plan) for name, plan in PLANS.items()}},
        "written": {
            of: _written_figures(claims, scales.scores(scale, written.rows, written.names))
            for of, scale in fitted.items()
        },
        "cross_validated": figures(scales.cross_validated),
        "other_sets_only": figures(scales.across_sets),
    }


def _written_figures(claims: Sequence[WrittenClaim], scores: scales.Matrix) -> dict[str, float]:
    """Measure how well scores separate right claims written for papers from wrong ones (AUROC).

    `reworded`: the right ones say it in other words, the wrong ones in the paper's. `twins`: right claims and
    wrong ones that differ from these in a few words; `roles`: those that differ by an exchange.
    """
    right = {claim.twin_of for claim in claims if claim.twin_of}
    sides: dict[str, Callable[[WrittenClaim], bool]] = {
        "reworded": lambda claim: not claim.twin_of and claim.label != "partial" and claim.type != "near",
        "twins": lambda claim: bool(claim.twin_of) or claim.claim in right,
        "roles": lambda claim: claim.type == "swap" or claim.claim in right,
    }
    found = {}
    for name, belongs in sides.items():
        chosen = [at for at, claim in enumerate(claims) if belongs(claim)]
        truths = [claims[at].label == "supported" for at in chosen]
        if 0 < sum(truths) < len(truths):
            found[name] = round(float(roc_auc_score(truths, scores[chosen])), 4)
    return found
