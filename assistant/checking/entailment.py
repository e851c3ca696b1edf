"""Entailment by an optional cross-encoder, averaged with the support score.

None is bundled: PAPER_TRAIL_ENTAILMENT names one. Only this file imports sentence_transformers for it.
"""

import threading
from collections.abc import Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np

from assistant.checking.scorer import SupportScorer
from corpus.encoders.base import Encoder, is_here_or_nowhere
from corpus.errors import CorpusError
from corpus.settings import read_settings

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder
    from transformers import PretrainedConfig

PAIRS_AT_ONCE = 16


class CrossEncoderEntailment:
    """A sentence-transformers cross-encoder by name or folder, loaded when first used.

    The probability is that of the class named "entailment", or the single score of a model without classes.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._lock = threading.Lock()

    def probabilities(self, claims: Sequence[str], texts: Sequence[str]) -> list[float]:
        """Return the probability that each text entails its claim, 0..1; raises CorpusError."""
        if not claims:
            return []
        with self._lock:
            predicted = self._model.predict(
                list(zip(texts, claims, strict=True)),
                batch_size=PAIRS_AT_ONCE,
                show_progress_bar=False,
                apply_softmax=self._entails is not None,
                convert_to_numpy=True,
            )
        scores = np.asarray(predicted, dtype=np.float64)
        return [float(score) for score in (scores if self._entails is None else scores[:, self._entails])]

    @cached_property
    def _entails(self) -> int | None:
        """The index of the class of entailment, None for a model with a single score; raises CorpusError."""
        config = cast("PretrainedConfig", self._model.config)
        if config.num_labels == 1:
            return None
        labels = dict(config.id2label or {})
        for index, label in labels.items():
            if str(label).lower().startswith("entail"):
                return int(index)
        raise CorpusError(
            f"The entailment model {self.name!r} has no class named entailment, only "
            f"{', '.join(map(str, labels.values()))}. Name another in PAPER_TRAIL_ENTAILMENT, or unset it."
        )

    @cached_property
    def _model(self) -> "CrossEncoder":
        from sentence_transformers import CrossEncoder  # noqa: PLC0415 - four seconds to import

        try:
            model = CrossEncoder(self.name, local_files_only=is_here_or_nowhere(Path(self.name)))
        except (OSError, ValueError) as error:
            raise CorpusError(
                f"The entailment model {self.name!r} could not be loaded. Check the name and the connection "
                "to the model hub, or unset PAPER_TRAIL_ENTAILMENT to do without."
            ) from error
        return cast("CrossEncoder", model)


def open_scorer(encoder: Encoder) -> SupportScorer:
    """Return the support scorer, with the entailment model of the settings if they name one."""
    name = read_settings().entailment
    return SupportScorer(encoder, _entailment(name) if name else None)


@cache
def _entailment(name: str) -> CrossEncoderEntailment:
    """Return the model of that name, cached: it takes long to load."""
    return CrossEncoderEntailment(name)
