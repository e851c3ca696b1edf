"""What compares papers by a comparison's record: its replies are read as they were, and nobody is asked."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from collections.abc import Generator as Iteration
from dataclasses import replace
from typing import TypeVar

from assistant.comparing.extractive.generator import ExtractiveComparer
from assistant.comparing.journal import Work
from assistant.comparing.prompted import PromptedComparer
from assistant.comparing.protocol import ComparativeGenerator, ComparisonStep, SourceText
from assistant.comparing.records import (
    Budget,
    Candidate,
    Comparison,
    ComparisonOptions,
    ElementName,
    Vote,
    WorkCall,
)
from assistant.models.protocol import BadReplyError, Completion, Exchange, Schema
from assistant.prompts.render import as_data, form
from assistant.records import Draft, Message, Parameters
from corpus.encoder import Encoder

# Recorded replies are read, not asked for: the prompts, made on the way, must only be the same.
_ANY_LENGTH = 10**9

Result = TypeVar("Result")


class NotRecordedError(BadReplyError):
    """A reply is not in the record, and a replay asks nobody: it goes on as after one that cannot be used."""

    def __init__(self) -> None:
        super().__init__("This reply is not in the record.", ())


class RecordedComparer:
    """Compares as a recorded comparison did, with the replies that a journal of its calls gives.

    `missing` names the pieces of work for which somebody would have to be asked.
    """

    def __init__(self, comparison: Comparison, encoder: Encoder) -> None:
        self.missing: set[str] = set()
        self._inner = _inner(comparison, encoder)
        self._calls = {one.work: one for one in reversed(comparison.calls)}

    @property
    def name(self) -> str:
        return self._inner.name

    @property
    def label(self) -> str:
        return self._inner.label

    @property
    def note(self) -> str:
        return self._inner.note

    @property
    def elements_version(self) -> str:
        return self._inner.elements_version

    @property
    def parameters(self) -> Parameters | None:
        return self._inner.parameters

    @property
    def at_once(self) -> int:
        return self._inner.at_once

    @property
    def votes_by_scores(self) -> bool:
        return self._inner.votes_by_scores

    def votes_cast(self, options: ComparisonOptions) -> int:
        return self._inner.votes_cast(options)

    def budget(
        self, sources: Sequence[SourceText], missing: Collection[int], options: ComparisonOptions
    ) -> Budget:
        return self._inner.budget(sources, missing, options)

    def extract_key_elements(self, source: SourceText, work: Work) -> Mapping[ElementName, str]:
        read = _as_read(source, self._calls.get(work.name))
        return self._noting(work, lambda: self._inner.extract_key_elements(read, work))

    def update_summary(self, step: ComparisonStep, summary: str, sample: int, work: Work) -> Draft:
        return self._noting(work, lambda: self._inner.update_summary(step, summary, sample, work))

    def vote(self, step: ComparisonStep, candidates: Sequence[Candidate], number: int, work: Work) -> Vote:
        return self._noting(work, lambda: self._inner.vote(step, candidates, number, work))

    def _noting(self, work: Work, ask: Callable[[], Result]) -> Result:
        try:
            return ask()
        except NotRecordedError:
            self.missing.add(work.name)
            raise


def _inner(comparison: Comparison, encoder: Encoder) -> ComparativeGenerator:
    name = comparison.provenance.generator
    if name == ExtractiveComparer.name:
        return ExtractiveComparer(encoder)
    return PromptedComparer(
        _NoModel(name),
        context=_ANY_LENGTH,
        parameters=comparison.parameters,
        in_sentences=_was_in_sentences(comparison),
    )


def _was_in_sentences(comparison: Comparison) -> bool:
    """Tell whether summaries were asked for as lists of sentences, as of models on this machine."""
    asked = (one.call for one in comparison.calls if one.call.step == "compare")
    return any(form("sentences") in message.content for call in asked for message in call.messages)


def _as_read(source: SourceText, recorded: WorkCall | None) -> SourceText:
    """Return as much of a text as its model was given then, which hung on how much that could take in."""
    if recorded is None:
        return source
    left_out, paper = frozenset(recorded.call.left_out), source.paper
    if source.kind == "description":
        sent = "".join(message.content for message in recorded.call.messages)
        about = next((text for text in _shorter(paper.paper.abstract) if as_data(text) in sent), "")
        return replace(source, paper=replace(paper, paper=replace(paper.paper, abstract=about)))
    kept = tuple(passage for passage in paper.passages if passage.id not in left_out)
    return replace(source, paper=replace(paper, passages=kept))


def _shorter(text: str) -> Iterable[str]:
    """Yield a description, and what `material.fit_source` makes of it where there is less and less room."""
    while text:
        yield text
        text = text[: len(text) * 3 // 4]


class _NoModel:
    """A model under the name of the recorded one, which nothing can be asked of."""

    def __init__(self, name: str) -> None:
        self.id = self.label = name

    def stream(
        self,
        messages: Sequence[Message],  # noqa: ARG002
        parameters: Parameters,  # noqa: ARG002
    ) -> Iteration[str, None, Completion]:
        raise NotRecordedError

    def reply(
        self,
        messages: Sequence[Message],  # noqa: ARG002
        parameters: Parameters,  # noqa: ARG002
        schema: type[Schema],  # noqa: ARG002
        heard: Callable[[Exchange], None] | None = None,  # noqa: ARG002
    ) -> Schema:
        raise NotRecordedError
