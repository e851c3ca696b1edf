"""The support part: a cross-encoder with one number for a claim and its evidence, and the score's scales."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
import torch
from torch.nn.functional import binary_cross_entropy_with_logits

from assistant.checking import close_text, said
from assistant.learned import RELEVANCE, SHIPPED, SUPPORT, Card, LearnedPart, read_card, read_part
from corpus.encoders import Encoder
from evaluation.answers.attribution import fitting as scales
from evaluation.answers.attribution.agreement import measure_attribution
from evaluation.answers.attribution.pairs import LabelledPair, read_all_pairs
from training import claims as made_of
from training.claims import Claim
from training.files import SETS, Run
from training.fitting import Plan, Task, fit
from training.network import (
    ADAPTERS,
    Measured,
    Pair,
    PairTokenizer,
    Reader,
    restore,
    weights_of_part,
    write_part,
)

LONGEST = 256
HOW = Plan(epochs=1, learning_rate=7e-4, tokens=2048)
ATTRIBUTION = Path("attribution") / "pairs.jsonl"
HELD_PAIRS = 400  # of each set that is learned from
# The scales are fitted on what the product shows: claims of answers and articles beside what they cite.
SCALED = frozenset({"AttributionBench", "WiCE", "citation_integrity", "factcheck_gpt"})
Example = tuple[Pair, float]  # a claim beside its evidence, and how far this supports it, 0..1


def examples_of(claims: Sequence[Claim]) -> list[Example]:
    """Return claims and evidence as tokens, the evidence as the product reads it: a few close sentences."""
    texts = [(said(claim.claim), close_text(claim.claim, claim.sentences)) for claim in claims]
    pairs = PairTokenizer(LONGEST).pairs(texts)
    return [(pair, claim.level) for pair, claim in zip(pairs, claims, strict=True)]


def _loss(reader: Reader, batch: Sequence[Example]) -> torch.Tensor:
    found = reader.read([pair for pair, _ in batch])[:, 0].float()
    return binary_cross_entropy_with_logits(found, found.new_tensor([level for _, level in batch]))


TASK: Task[Example] = Task(lambda example: len(example[0].ids), _loss)


def train_support(run: Run, encoder: Encoder) -> Card:
    """Fit the part and its scales and return its card; a killed run resumes.

    The network starts from the shipped relevance part. Raises TrainingError, EvaluationError and CorpusError.
    """
    judged, made = learned_claims(run.data, run.seed, run.held)
    reader = Reader.new(run.seed)
    restore(reader, weights_of_part(RELEVANCE, SHIPPED, reader, head=False))
    fit(reader, TASK, examples_of([*judged, *made]), HOW, run.work / "claims", say=run.say)

    def measured(name: str) -> Measured:
        held_back = [
            *read_all_pairs(run.data / ATTRIBUTION),
            *made_of.held_pairs(run.data, run.held, HELD_PAIRS),
        ]
        pairs = [pair for pair in held_back if pair.set in SCALED]
        run.say(f"{name}: reading {len(pairs)} pairs that it has not learned from")
        compared = scales.compare_pairs(pairs, encoder, LearnedPart(*read_part(SUPPORT, run.work)))
        every = np.ones(len(pairs), dtype=bool)
        fitted = {"all": scales.fit(compared, every)}
        fitted["features"] = scales.fit(compared, every, with_network=False)
        told = {scale: {"intercept": one.intercept, **one.weights} for scale, one in fitted.items()}

        def figures(measure: Callable[..., tuple[scales.Matrix, scales.Matrix]]) -> dict[str, object]:
            return {
                name: _figures(pairs, compared, measure(compared, with_network=has))
                for name, has in (("with the network", True), ("without", False))
            }

        return told, {
            "recipe": f"paper-trail train support --seed {run.seed} --held {run.held}",
            "begun_as": read_card(RELEVANCE, SHIPPED).name,
            "judged": Counter(claim.set for claim in judged),
            "made": Counter(claim.set for claim in made),
            "scaled_on": Counter(pair.set for pair in pairs),
            "licences": SETS["support"]["licences"],
            "fitting": {"adapters": ADAPTERS, "claims": asdict(HOW)},
            "cross_validated": figures(scales.cross_validated),
            "other_sets_only": figures(scales.across_sets),
        }

    return write_part(SUPPORT, reader, run, LONGEST, measured)


def learned_claims(data: Path, seed: int, held: int) -> tuple[list[Claim], list[Claim]]:
    """Return the claims that people judged, and those made of them."""
    wanted = SETS["support"]
    shares = wanted["made"]
    judged = made_of.labelled_claims(data, wanted["labelled"], seed, held)
    summaries = made_of.summary_claims(data, wanted["summaries"], seed)
    made = [
        *summaries,
        *made_of.altered([*judged, *summaries], shares["altered"], seed),
        *made_of.elsewhere([*judged, *summaries], shares["elsewhere"], seed),
        *made_of.quoted(summaries, shares["quoted"], seed),
    ]
    return made_of.among_others(judged, shares["among_others"], seed), made


def _figures(
    pairs: Sequence[LabelledPair], compared: scales.Compared, support: tuple[scales.Matrix, scales.Matrix]
) -> dict[str, object]:
    """Return how well supported claims are told from others, by set, and from altered ones."""
    found = measure_attribution(pairs, compared, support, "")
    told = {name: {"auroc": row["auroc_support"], "ece": row["ece"]} for name, row in found.sets.items()}
    return {**told, "below": {kind: row.below_support for kind, row in found.contrast.items()}}
