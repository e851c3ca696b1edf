"""Trains the support part: a cross-encoder that scores a claim with its evidence, and the score's scales."""

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
from training import claims as claim_data
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
REPLAYED = 0.25  # share of the general claims that the last stage reads again
HELD_OUT_PAIRS = 400  # the most held-out pairs of each training set
# Sets on which the scales are fitted; like the product's, their claims are of texts that cite sources.
SCALED = frozenset({"AttributionBench", "WiCE", "citation_integrity", "factcheck_gpt"})
# A claim, or a right claim followed by its twins: tokens with the evidence, and support 0..1.
Example = Sequence[tuple[Pair, float]]


def examples_of(claims: Sequence[Sequence[Claim]]) -> list[Example]:
    """Tokenise groups of claims with the closest sentences of their evidence, as the product reads them."""
    every = [claim for group in claims for claim in group]
    texts = [(strip_references(claim.claim), close_text(claim.claim, claim.sentences)) for claim in every]
    pairs = zip(PairTokenizer(LONGEST).pairs(texts), [claim.level for claim in every], strict=True)
    return [[next(pairs) for _ in group] for group in claims]


def _losses(reader: Reader, batch: Sequence[Example]) -> Iterator[torch.Tensor]:
    """Yield the logistic loss of all claims, plus that of each right claim against its twins."""
    every = [claim for example in batch for claim in example]
    numbers = reader.read([pair for pair, _ in every])[:, 0].float()
    loss = binary_cross_entropy_with_logits(numbers, numbers.new_tensor([level for _, level in every]))
    by_example = numbers.split([len(example) for example in batch])  # type: ignore[no-untyped-call]
    if differences := [group[1:] - group[0] for group in by_example if len(group) > 1]:
        loss = loss + softplus(torch.cat(differences)).mean()
    yield loss


TASK: Task[Example] = Task(lambda example: sum(len(pair.ids) for pair, _ in example), _losses)


RECIPE = Recipe(SUPPORT, LONGEST, TASK, PLANS)


def train_support(run: Run, encoder: Encoder) -> Card:
    """Fit the part and its scales and return its card; a killed run resumes.

    The network starts from the shipped relevance part, or from the support part in `run.start`. Raises
    TrainingError, EvaluationError and CorpusError.
    """
    training = TrainingClaims.read(run)
    reader = Reader.new(run.seed)
    part, folder = (SUPPORT, run.start) if run.start else (RELEVANCE, SHIPPED)
    network.restore(reader, network.weights_of_part(part, folder, reader, head=part == SUPPORT))
    measure = partial(_measure, run=run, training=training, encoder=encoder)
    return RECIPE.train(run, reader, lambda stage: examples_of(training.stage(stage, run.seed)), measure)


@dataclass(frozen=True, slots=True)
class TrainingClaims:
    """The claims for training: judged, made from these, written for papers, and quoted from papers."""

    judged: Sequence[Claim]
    made: Sequence[Claim]
    papers: Sequence[PaperClaims]
    quoted: Sequence[Claim]

    @classmethod
    def read(cls, run: Run) -> Self:
        """Read and make the claims, without the fold that is held out."""
        settings, seed = SETS["support"], run.seed
        shares = settings["made"]
        judged = claim_data.labelled_claims(run.data, settings["labelled"], seed, run.held_fold)
        summaries = claim_data.summary_claims(run.data, settings["summaries"], seed)
        supported = [*judged, *summaries]
        made = [*summaries, *claim_data.alter_claims(supported, shares["altered"], seed)]
        made += claim_data.replace_evidence(supported, shares["elsewhere"], seed)
        made += claim_data.quote_evidence(summaries, shares["quoted"], seed)
        papers = [paper for paper in claim_data.paper_claims(run.data) if paper.fold != run.held_fold]
        abstracts = [paper.quotable() for paper in papers]
        return cls(
            judged=claim_data.extend_evidence(judged, shares["among_others"], seed),
            made=made,
            papers=papers,
            quoted=claim_data.quote_evidence(abstracts, shares["papers_quoted"], seed),
        )

    def stage(self, name: str, seed: int) -> list[tuple[Claim, ...]]:
        """List the claims of a stage, each alone or followed by its twins."""
        general: list[tuple[Claim, ...]] = [(claim,) for claim in (*self.judged, *self.made)]
        if name == "claims":
            return general
        written = [example for paper in self.papers for example in paper.examples()]
        quoted = ((claim,) for claim in self.quoted)
        return [*written, *quoted, *draw(general, round(REPLAYED * len(general)), f"{seed}:again")]


def _measure(name: str, run: Run, training: TrainingClaims, encoder: Encoder) -> Measured:
    """Fit the scales on held-out pairs, read as the product reads them; return them and the provenance."""
    held_out = read_all_pairs(run.data / "attribution" / "pairs.jsonl")
    held_out += claim_data.held_out_pairs(run.data, run.held_fold, HELD_OUT_PAIRS)
    pairs = [pair for pair in held_out if pair.set in SCALED]
    held_out_claims = claim_data.held_out_claims(run.data, run.held_fold)
    claims = [claim for claim, _ in held_out_claims]
    say(f"{name}: reading {len(pairs) + len(claims)} pairs that it has not learned from")
    part = LearnedPart(*read_part(SUPPORT, run.work))
    features = scales.compare_pairs(pairs, encoder, part)
    written = scales.compare_pairs([pair for _, pair in held_out_claims], encoder, part)
    every = np.ones(len(pairs), dtype=bool)
    fitted = {"all": scales.fit(features, every)}
    fitted["features"] = scales.fit(features, every, with_network=False)

    def figures(measure: Callable[..., scales.Matrix]) -> dict[str, object]:
        """Measure by set how well the score separates supported claims, with and without the network."""
        by_scale: dict[str, object] = {}
        for label, with_network in (("with the network", True), ("without", False)):
            support = measure(features, with_network=with_network)
            by_scale[label] = {
                name: {"auroc": row["auroc_support"], "ece": row["ece"]}
                for name, row in measure_attribution(pairs, support)["sets"].items()
            }
        return by_scale

    start = read_card(SUPPORT, run.start) if run.start else read_card(RELEVANCE, SHIPPED)
    return {of: {"intercept": scale.intercept, **scale.weights} for of, scale in fitted.items()}, {
        "recipe": f"paper-trail train support --seed {run.seed} --held {run.held_fold}",
        "begun_as": start.name,
        "papers": {
            "papers": len(training.papers),
            "claims": sum(len(paper.claims) for paper in training.papers),
            "quoted": len(training.quoted),
        },
        "judged": Counter(claim.set for claim in training.judged),
        "made": Counter(claim.set for claim in training.made),
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
    """Compute the AUROC of scores in separating right claims written for papers from wrong ones.

    "reworded": right claims use other words than the paper, wrong ones the paper's words. "twins": right
    claims and wrong ones that differ in a few words. "roles": right claims and wrong ones with two parts
    exchanged.
    """
    right = {claim.twin_of for claim in claims if claim.twin_of}
    subsets: dict[str, Callable[[WrittenClaim], bool]] = {
        "reworded": lambda claim: not claim.twin_of and claim.label != "partial" and claim.type != "near",
        "twins": lambda claim: bool(claim.twin_of) or claim.claim in right,
        "roles": lambda claim: claim.type == "swap" or claim.claim in right,
    }
    figures = {}
    for name, is_included in subsets.items():
        indices = [index for index, claim in enumerate(claims) if is_included(claim)]
        labels = [claims[index].label == "supported" for index in indices]
        if 0 < sum(labels) < len(labels):
            figures[name] = round(float(roc_auc_score(labels, scores[indices])), 4)
    return figures
