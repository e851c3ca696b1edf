"""Claims with the texts they cite and people's verdicts on them, read from JSON lines."""

import random
import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from pydantic import AliasChoices, BaseModel, BeforeValidator, Field
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from assistant.checking.features import strip_references
from corpus.sentences import sentence_spans
from evaluation.input_files import EvaluationError, read_json_lines

LONGEST_REFERENCE = 200_000
LONGEST_SENTENCE = 1000
# Web pages lose the space between sentences: "impacts.Climate risks".
_GLUED = re.compile(r"(?<=[a-z)\]])\.(?=[A-Z][a-z]*[ ,])")
_HINT = "Each line has claim, references (or evidence) and label (1 or 0; or supported, partial, not)."

Verdict = Literal["supported", "partial", "not"]
_NUMBERED = {1: "supported", 0: "not"}


class LabelledPair(BaseModel, frozen=True, extra="ignore"):
    """A claim, the references it cites (or one text, `evidence`), and people's verdict (`label`)."""

    claim: str
    references: Annotated[
        tuple[str, ...],
        BeforeValidator(lambda found: (found,) if isinstance(found, str) else found),
        Field(min_length=1, validation_alias=AliasChoices("references", "evidence")),
    ]
    verdict: Annotated[
        Verdict,
        BeforeValidator(lambda found: _NUMBERED.get(found, found) if type(found) is int else found),
        Field(validation_alias="label"),
    ]
    set: str = "all"
    split: str = ""
    question: str = ""

    @property
    def label(self) -> Literal[0, 1]:
        """1 for a supported claim, 0 for one that is not, or only in part."""
        return 1 if self.verdict == "supported" else 0


def read_pairs(
    path: Path, sets: Collection[str] = (), splits: Collection[str] = (), sample: int | None = None
) -> tuple[LabelledPair, ...]:
    """Read the pairs of the named sets and splits, by default of all, at most `sample` of each set.

    A set's name seeds its sample. Raises EvaluationError that names the line at fault.
    """
    pairs = read_all_pairs(path)
    for option, wanted, held in (
        ("set", sets, {pair.set for pair in pairs}),
        ("split", splits, {pair.split for pair in pairs}),
    ):
        if unknown := sorted(set(wanted) - held):
            known = ", ".join(sorted(held))
            raise EvaluationError(f"{path} has no pair of the {option} {unknown[0]!r}, only of: {known}.")
    by_set: dict[str, list[int]] = {}
    for index, pair in enumerate(pairs):
        if pair.set in (sets or (pair.set,)) and pair.split in (splits or (pair.split,)):
            by_set.setdefault(pair.set, []).append(index)
    for name, indices in by_set.items():
        if sample is not None and len(indices) > sample:
            by_set[name] = random.Random(name).sample(indices, sample)
    chosen = tuple(pairs[index] for index in sorted(index for own in by_set.values() for index in own))
    if {pair.label for pair in chosen} != {0, 1}:
        raise EvaluationError(f"{path} must hold supported pairs (label 1) and others (label 0).")
    return chosen


def read_all_pairs(path: Path) -> list[LabelledPair]:
    """Read all pairs of a file; raises EvaluationError that names the line at fault."""
    return read_json_lines(path, LabelledPair, _HINT)


def evidence_sentences(references: Sequence[str]) -> tuple[str, ...]:
    """Split all references into sentences, without labels and addresses."""
    texts = (_GLUED.sub(". ", reference[:LONGEST_REFERENCE]) for reference in references)
    return tuple(
        sentence
        for text in texts
        for start, end in sentence_spans(text)
        if (sentence := strip_references(text[start:end])[:LONGEST_SENTENCE])
    )


def groups(pairs: Sequence[LabelledPair]) -> list[int]:
    """Assign each pair a group number: pairs of one question, one claim or one reference share it."""
    nodes: dict[tuple[str, str], int] = {}
    links: list[tuple[int, int]] = []
    for pair in pairs:
        own = nodes.setdefault(("claim", pair.claim), len(nodes))
        shared = [("reference", "".join(pair.references))]
        shared += [("question", pair.question)] if pair.question else []
        links += [(own, nodes.setdefault(key, len(nodes))) for key in shared]
    ends = tuple(np.array(links, dtype=np.int64).reshape(-1, 2).T)
    graph = coo_array((np.ones(len(links)), ends), shape=(len(nodes), len(nodes)))
    _, labels = connected_components(graph, directed=False)
    numbers: dict[int, int] = {}
    found = (int(labels[nodes["claim", pair.claim]]) for pair in pairs)
    return [numbers.setdefault(label, len(numbers)) for label in found]
