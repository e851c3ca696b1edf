"""Claims with the texts they cite and what people said of them, read from JSON lines."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from assistant.checking import said
from corpus.sentences import sentence_spans
from evaluation.input_files import EvaluationError, read_json_lines

LONGEST_REFERENCE = 200_000
LONGEST_SENTENCE = 1000
# Web pages lose the space between sentences: "impacts.Climate risks".
_GLUED = re.compile(r"(?<=[a-z)\]])\.(?=[A-Z][a-z]*[ ,])")


class LabelledPair(BaseModel):
    """A claim and the references it cites; `label` is 1 where people found it supported, else 0."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    claim: str
    references: Annotated[tuple[str, ...], Field(min_length=1)]
    label: Literal[0, 1]
    set: str = "all"
    question: str = ""


def read_pairs(path: Path) -> tuple[LabelledPair, ...]:
    """Return the pairs of a file; raises EvaluationError that names the line at fault."""
    pairs = read_json_lines(path, LabelledPair, "Each line has claim, references and label.")
    if {pair.label for pair in pairs} != {0, 1}:
        raise EvaluationError(f"{path} must hold supported pairs (label 1) and others (label 0).")
    return tuple(pairs)


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
