"""The comparative generator without a model: it chooses, groups and cites papers' own sentences."""

from collections.abc import Collection, Mapping, Sequence

from assistant.comparing.extractive.composing import compose
from assistant.comparing.extractive.profiles import read_profile
from assistant.comparing.ledger import Task
from assistant.comparing.protocol import ComparisonStep, SourceText
from assistant.comparing.records import Budget, ComparisonOptions
from assistant.generators.protocol import EXTRACTIVE
from assistant.reading.cues import version
from assistant.reading.finding import find_elements
from assistant.records import Draft, ElementName, Parameters
from corpus.encoders.base import Encoder


class ExtractiveComparer:
    """Compares papers by sentences chosen from them, in one pass; it needs only the encoder."""

    name = EXTRACTIVE
    label = "Extractive (no model)"
    note = (
        "The sentences are the papers' own, shortened and put into the third person: quote or rewrite them "
        "before you use them."
    )
    parameters: Parameters | None = None
    # Encoding uses all cores already.
    at_once = 2

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder

    @property
    def elements_version(self) -> str:
        return version()

    def budget(  # what is free is free for all
        self,
        sources: Sequence[SourceText],  # noqa: ARG002
        missing: Collection[int],  # noqa: ARG002
        options: ComparisonOptions,  # noqa: ARG002
    ) -> Budget:
        return Budget(calls=0, most_calls=0, prompt_tokens=0, completion_tokens=0, price=0.0)

    def extract_key_elements(self, source: SourceText, task: Task) -> Mapping[ElementName, str]:  # noqa: ARG002
        return find_elements(source.paper, self._encoder)

    def compose(self, step: ComparisonStep) -> Draft:
        """Return a summary of the papers of a step, each sentence cited."""
        papers = [read_profile(step.sources[label], step.elements.get(label)) for label in step.labels]
        return Draft(compose(papers, step.about, self._encoder) if papers else "")
