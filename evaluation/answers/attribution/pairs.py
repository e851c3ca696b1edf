"""Claims with the texts they cite and what people said of them, read from JSON lines."""

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AliasChoices, BaseModel, BeforeValidator, Field

from assistant.checking import said
from corpus.sentences import sentence_spans
from evaluation.input_files import EvaluationError, read_json_lines

LONGEST_REFERENCE = 200_000
LONGEST_SENTENCE = 1000
# Web pages lose the space between sentences: "impacts.Climate risks".
_GLUED = re.compile(r"(?<=[a-z)\]])\.(?=[A-Z][a-z]*[ ,])")


Verdict = Literal["supported", "partial", "not"]
_NUMBERED = {1: "supported", 0: "not"}


class LabelledPair(BaseModel, frozen=True, extra="ignore"):
    """A claim, the references it cites (or one text, `evidence`), and what people found (`label`)."""

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
        """1 where people found the claim supported, 0 where they did not or only in part."""
        return 1 if self.verdict == "supported" else 0


@dataclass(frozen=True, slots=True)
class Selection:
    """The pairs of these sets and splits, of all where none is named, at most `sample` of each set."""

    sets: tuple[str, ...] = ()
    splits: tuple[str, ...] = ()
    sample: int | None = None


EVERYTHING = Selection()


def read_pairs(path: Path, selection: Selection = EVERYTHING) -> tuple[LabelledPair, ...]:
    """Return the selected pairs of a file; raises EvaluationError that names the line at fault."""
    pairs = read_all_pairs(path)
    for option, wanted, held in (
        ("set", selection.sets, {pair.set for pair in pairs}),
        ("split", selection.splits, {pair.split for pair in pairs}),
    ):
        if unknown := sorted(set(wanted) - held):
            known = ", ".join(sorted(held))
            raise EvaluationError(f"{path} has no pair of the {option} {unknown[0]!r}, only of: {known}.")
    chosen = tuple(_selected(pairs, selection))
    if {pair.label for pair in chosen} != {0, 1}:
        raise EvaluationError(f"{path} must hold supported pairs (label 1) and others (label 0).")
    return chosen


def read_all_pairs(path: Path) -> list[LabelledPair]:
    """Return all pairs of a file; raises EvaluationError that names the line at fault."""
    return read_json_lines(path, LabelledPair, _HINT)


_HINT = "Each line has claim, references (or evidence) and label (1 or 0; or supported, partial, not)."


def _selected(pairs: Sequence[LabelledPair], selection: Selection) -> Iterator[LabelledPair]:
    """Yield the pairs of a selection in the order of the file; a set's name seeds its sample."""
    by_set: dict[str, list[int]] = {}
    for index, pair in enumerate(pairs):
        if pair.set in (selection.sets or (pair.set,)) and pair.split in (selection.splits or (pair.split,)):
            by_set.setdefault(pair.set, []).append(index)
    for name, indices in by_set.items():
        if selection.sample is not None and len(indices) > selection.sample:
            by_set[name] = random.Random(name).sample(indices, selection.sample)
    yield from (pairs[index] for index in sorted(index for few in by_set.values() for index in few))


def evidence_sentences(references: Sequence[str]) -> tuple[str, ...]:
    """Return the sentences of all references, without labels and addresses."""
    return tuple(
        sentence
        for reference in references
        for text in (_GLUED.sub(". ", reference[:LONGEST_REFERENCE]),)
        for start, end in sentence_spans(text)
        if (sentence := said(text[start:end])[:LONGEST_SENTENCE])
    )


def groups(pairs: Sequence[LabelledPair]) -> list[int]:
    """Return a number for each pair: pairs of one question, one claim or one reference share theirs."""
    parent: dict[tuple[str, str], tuple[str, str]] = {}

    def root(key: tuple[str, str]) -> tuple[str, str]:
        while (above := parent.setdefault(key, key)) != key:
            key = above
        return key

    for pair in pairs:
        own = root(("claim", pair.claim))
        shared = [("reference", "".join(pair.references))]
        shared += [("question", pair.question)] if pair.question else []
        for key in shared:
            parent[root(key)] = own
    numbers: dict[tuple[str, str], int] = {}
    return [numbers.setdefault(root(("claim", pair.claim)), len(numbers)) for pair in pairs]
