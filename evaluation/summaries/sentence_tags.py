"""The classifier of related-work sentences: what each does with the papers it cites (CORWA's tags)."""

import base64
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError

from corpus.encoders import Encoder
from evaluation.input_files import EvaluationError
from evaluation.summaries.chain import Chain, Matrix
from evaluation.summaries.corwa import TAG_WEIGHTS, TAGS, Tag
from evaluation.summaries.tag_features import Paragraphs, feature_rows, place_sentences

# Tags of sentences that compare: papers with each other, or the work at hand with papers.
COMPARATIVE: tuple[Tag, ...] = ("Multi_summ", "Reflection")
# From so many works on a sentence compares by counting, whatever it says of them.
WORKS_COMPARED = 2
Provenance = dict[str, str | int | float | dict[str, float]]


class TagWeights(BaseModel):
    """The weights as they are kept: small ones as numbers, the many as 16-bit numbers in base64."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    tags: tuple[Tag, ...]
    features: int
    weights: str
    bias: tuple[float, ...]
    steps: tuple[tuple[float, ...], ...]
    first: tuple[float, ...]
    last: tuple[float, ...]
    provenance: Provenance

    @classmethod
    def of(cls, name: str, chain: Chain, provenance: Provenance) -> "TagWeights":
        return cls(
            name=name,
            tags=TAGS,
            features=len(chain.weights),
            weights=base64.b64encode(chain.weights.astype("<f2").tobytes()).decode(),
            bias=_rounded(chain.bias),
            steps=tuple(_rounded(row) for row in chain.steps),
            first=_rounded(chain.first),
            last=_rounded(chain.last),
            provenance=provenance,
        )

    def chain(self) -> Chain:
        numbers = np.frombuffer(base64.b64decode(self.weights), dtype="<f2").astype(np.float64)
        return Chain(
            weights=numbers.reshape(self.features, len(self.tags)),
            bias=np.array(self.bias),
            steps=np.array(self.steps),
            first=np.array(self.first),
            last=np.array(self.last),
        )


@dataclass(frozen=True, slots=True)
class TaggedSentence:
    """A sentence with its likeliest tag, and how many works it cites."""

    text: str
    tag: Tag
    works: int

    @property
    def compares_by_tag(self) -> bool:
        return self.tag in COMPARATIVE

    @property
    def compares_by_count(self) -> bool:
        return self.works >= WORKS_COMPARED


class SentenceTagger:
    """Tags the sentences of a text; the chain is as it was trained."""

    def __init__(self, chain: Chain, encoder: Encoder) -> None:
        self._chain = chain
        self._encoder = encoder

    def tag(self, paragraphs: Paragraphs) -> tuple[TaggedSentence, ...]:
        """Return all sentences of a text with their tags, paragraph by paragraph."""
        placed = place_sentences(paragraphs)
        if not placed:
            return ()
        vectors = self._encoder.encode_passages([one.citing.text for one in placed])
        lengths = [len(paragraph) for paragraph in paragraphs]
        likely = self._chain.likelihoods(feature_rows(placed, vectors.astype(np.float64)), lengths)
        sentences = [sentence for paragraph in paragraphs for sentence in paragraph]
        return tuple(
            TaggedSentence(sentence, TAGS[int(best)], len(one.citing.cited))
            for sentence, best, one in zip(sentences, likely.argmax(axis=1), placed, strict=True)
        )


@cache
def tag_weights(file: Path = TAG_WEIGHTS) -> TagWeights:
    """Return the shipped weights; raises EvaluationError where they cannot be read."""
    try:
        return TagWeights.model_validate_json(file.read_text(encoding="utf-8"))
    except (OSError, ValidationError) as error:
        raise EvaluationError(
            f"The weights {file} cannot be read. Train them: paper-trail eval train-tags"
        ) from error


def share(found: Iterable[bool]) -> float | None:
    """Return the share of what is true, None of nothing."""
    known = list(found)
    return sum(known) / len(known) if known else None


def _rounded(numbers: Matrix) -> tuple[float, ...]:
    return tuple(round(float(number), 4) for number in numbers)
