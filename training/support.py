"""The support part: a cross-encoder with one number for a claim and its evidence, and the score's scales."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict

import numpy as np
import torch
from torch.nn.functional import binary_cross_entropy_with_logits

from assistant.checking import close_text, strip_references
from assistant.learned import RELEVANCE, SHIPPED, SUPPORT, Card, LearnedPart, read_card, read_part
from corpus.encoders import Encoder
from evaluation.answers.attribution import fitting as scales
from evaluation.answers.attribution.agreement import measure_attribution
from evaluation.answers.attribution.pairs import read_all_pairs
from training import claims as made_of
from training import network
from training.claims import Claim
from training.files import SETS, Run
from training.fitting import Plan, Task, fit
from training.network import ADAPTERS, Measured, Pair, PairTokenizer, Reader

LONGEST = 256
HOW = Plan(epochs=1, learning_rate=7e-4, tokens=2048)
HELD_PAIRS = 400  # of each set that is learned from
# The scales are fitted on what the product shows: claims of answers and articles beside what they cite.
SCALED = frozenset({"AttributionBench", "WiCE", "citation_integrity", "factcheck_gpt"})
Example = tuple[Pair, float]  # a claim beside its evidence, and how far this supports it, 0..1


def examples_of(claims: Sequence[Claim]) -> list[Example]:
    """Return claims and evidence as tokens, the evidence as the product reads it: a few close sentences."""
    texts = [(strip_references(claim.claim), close_text(claim.claim, claim.sentences)) for claim in claims]
    pairs = PairTokenizer(LONGEST).pairs(texts)
    return [(pair, claim.level) for pair, claim in zip(pairs, claims, strict=True)]


def _losses(reader: Reader, batch: Sequence[Example]) -> Iterator[torch.Tensor]:
    found = reader.read([pair for pair, _ in batch])[:, 0].float()
    yield binary_cross_entropy_with_logits(found, found.new_tensor([level for _, level in batch]))


TASK: Task[Example] = Task(lambda example: len(example[0].ids), _losses)


def train_support(run: Run, encoder: Encoder) -> Card:
    """Fit the part and its scales and return its card; a killed run resumes.

    The network starts from the shipped relevance part. Raises TrainingError, EvaluationError and CorpusError.
    """
    settings, data, seed = SETS["support"], run.data, run.seed
    judged = made_of.labelled_claims(data, settings["labelled"], seed, run.held)
    summaries = made_of.summary_claims(data, settings["summaries"], seed)
    shares, supported = settings["made"], [*judged, *summaries]
    made = [*summaries, *made_of.altered(supported, shares["altered"], seed)]
    made += made_of.elsewhere(supported, shares["elsewhere"], seed)
    made += made_of.quoted(summaries, shares["quoted"], seed)
    judged = made_of.among_others(judged, shares["among_others"], seed)
    reader = Reader.new(run.seed)
    network.restore(reader, network.weights_of_part(RELEVANCE, SHIPPED, reader, head=False))
    fit(reader, TASK, examples_of([*judged, *made]), HOW, run.work / "claims", say=run.say)

    def measured(name: str) -> Measured:
        held_back = read_all_pairs(run.data / "attribution" / "pairs.jsonl")
        held_back += made_of.held_pairs(run.data, run.held, HELD_PAIRS)
        pairs = [pair for pair in held_back if pair.set in SCALED]
        run.say(f"{name}: reading {len(pairs)} pairs that it has not learned from")
        compared = scales.compare_pairs(pairs, encoder, LearnedPart(*read_part(SUPPORT, run.work)))
        every = np.ones(len(pairs), dtype=bool)
        fitted = {"all": scales.fit(compared, every)}
        fitted["features"] = scales.fit(compared, every, with_network=False)
        told = {of: {"intercept": scale.intercept, **scale.weights} for of, scale in fitted.items()}

        def figures(measure: Callable[..., scales.Matrix]) -> dict[str, object]:
            """Measure per set how well the score separates supported claims, with and without the network."""
            found: dict[str, object] = {}
            for how, has in (("with the network", True), ("without", False)):
                agreed = measure_attribution(pairs, measure(compared, with_network=has))
                found[how] = {
                    of: {"auroc": row["auroc_support"], "ece": row["ece"]}
                    for of, row in agreed["sets"].items()
                }
            return found

        return told, {
            "recipe": f"paper-trail train support --seed {run.seed} --held {run.held}",
            "begun_as": read_card(RELEVANCE, SHIPPED).name,
            "judged": Counter(claim.set for claim in judged),
            "made": Counter(claim.set for claim in made),
            "scaled_on": Counter(pair.set for pair in pairs),
            "licences": settings["licences"],
            "fitting": {"adapters": ADAPTERS, "claims": asdict(HOW)},
            "cross_validated": figures(scales.cross_validated),
            "other_sets_only": figures(scales.across_sets),
        }

    return network.write_part(SUPPORT, reader, run, LONGEST, measured)
