"""Claims beside texts of which people said how far they carry them, from the sets that may train."""

import random
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from assistant.checking import score_attribution
from evaluation.answers.attribution.pairs import (
    LabelledPair,
    Verdict,
    evidence_sentences,
    groups,
    read_all_pairs,
)
from evaluation.input_files import read_json_lines
from training.errors import TrainingError

PAIRS = Path("support") / "pairs.jsonl"
FOLDS = 5
LEVELS: Mapping[Verdict, float] = {"supported": 1.0, "partial": 0.5, "not": 0.0}
# The splits that are learned from; of a set without splits all but a fold. What else there is measures.
LEARNED_SPLITS = {
    "citation_integrity": ("train",),
    "cad_nli": ("train", "test"),
    "fool_me_twice": ("test",),
    "fever_nli": ("test",),
    "scone": ("train",),
    "factcheck_gpt": ("all",),
}
WHOLE = "all"
# Authors' summaries are written of whole papers: only what their abstract says too is taken for supported.
IN_ABSTRACT = 0.6
SECTIONS = ("abstract", "introduction", "conclusion")


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim, the sentences of what it cites, and how far these carry it: 1, in part .5, not 0."""

    set: str
    claim: str
    sentences: tuple[str, ...]
    level: float


def labelled_claims(data: Path, most: Mapping[str, int], seed: int, held: int) -> list[Claim]:
    """Return at most so many claims of each set, by chance; none that shares a text with what is held back.

    Raises EvaluationError of a malformed file and TrainingError of a set that may not train or is not there.
    """
    learned, back = _divided(data, held)
    kept = {pair.claim for pair in back} | {"".join(pair.references) for pair in back}
    free = [pair for pair in learned if pair.claim not in kept and "".join(pair.references) not in kept]
    found: list[Claim] = []
    for name, count in most.items():
        pairs = [pair for pair in free if pair.set == name]
        if name not in LEARNED_SPLITS or not pairs:
            raise TrainingError(f"There is no set {name!r} to learn from in {data}.")
        chosen = random.Random(f"{seed}:{name}").sample(pairs, min(count, len(pairs)))
        found += [
            Claim(name, pair.claim, evidence_sentences(pair.references), LEVELS[pair.verdict])
            for pair in chosen
        ]
    return found


def held_pairs(data: Path, held: int, most: int) -> list[LabelledPair]:
    """Return what of the sets that train only measures, at most so many pairs of each."""
    back = _divided(data, held)[1]
    found: list[LabelledPair] = []
    for name in LEARNED_SPLITS:
        pairs = [pair for pair in back if pair.set == name]
        found += random.Random(name).sample(pairs, min(most, len(pairs)))
    return found


def _divided(data: Path, held: int) -> tuple[list[LabelledPair], list[LabelledPair]]:
    """Return the pairs of the sets that train: those learned from, and those held back."""
    pairs = [pair for pair in read_all_pairs(data / PAIRS) if pair.set in LEARNED_SPLITS]
    whole = [pair for pair in pairs if pair.split == WHOLE]
    folds = dict(zip(map(id, whole), (group % FOLDS for group in groups(whole)), strict=True))
    learned: list[LabelledPair] = []
    back: list[LabelledPair] = []
    for pair in pairs:
        is_learned = pair.split in LEARNED_SPLITS[pair.set] and folds.get(id(pair)) != held
        (learned if is_learned else back).append(pair)
    return learned, back


class _Summarised(BaseModel):
    """A paper with sentences that sum it up, written by its authors or by experts."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    title: str = ""
    source: tuple[str, ...] | Mapping[str, tuple[str, ...]]
    targets: tuple[str, ...] = Field(min_length=1)

    @property
    def sentences(self) -> tuple[str, ...]:
        if isinstance(self.source, tuple):
            return self.source
        return tuple(text for name in SECTIONS for text in self.source.get(name, ()))


# Sets of summaries by name: the file, and whether a claim may say more than the text that is read.
SUMMARIES = {"scitldr": ("scitldr.jsonl", True), "aclsum": ("aclsum.jsonl", False)}


def summary_claims(data: Path, most: Mapping[str, int], seed: int) -> list[Claim]:
    """Return sentences that sum up at most so many papers of each set, beside what of these is read."""
    found: list[Claim] = []
    for name, count in most.items():
        if name not in SUMMARIES:
            raise TrainingError(f"There are no summaries {name!r}, only {', '.join(SUMMARIES)}.")
        file, is_checked = SUMMARIES[name]
        path = data / "summaries" / file
        papers = read_json_lines(path, _Summarised, "Each line has source and targets.")
        chosen = random.Random(f"{seed}:{name}").sample(papers, min(count, len(papers)))
        found += [
            Claim(name, target.strip(), paper.sentences, 1.0)
            for paper in chosen
            for target in paper.targets[: 1 if is_checked else None]
            if not is_checked or score_attribution(target, " ".join(paper.sentences)) >= IN_ABSTRACT
        ]
    return found
