"""A recorded comparison done again: the same corpus, the same request, the replies that were recorded."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Generator as Iteration
from dataclasses import dataclass, replace
from itertools import chain
from typing import TypeVar

from assistant.comparing.admission import named_twice
from assistant.comparing.compare import Comparer
from assistant.comparing.extractive.generator import ExtractiveComparer
from assistant.comparing.ledger import CallLedger, Task
from assistant.comparing.prompted.generator import PromptedComparer, form_asked_for
from assistant.comparing.prompted.material import same_material, shortenings, with_description, with_passages
from assistant.comparing.prompted.one_by_one import OneByOne, is_one_by_one
from assistant.comparing.protocol import ComparisonStep, SourceText
from assistant.comparing.records import (
    Candidate,
    Compared,
    Comparison,
    ComparisonError,
    ComparisonRequest,
    KeyElements,
    Round,
    Vote,
    WorkCall,
    task_name,
)
from assistant.generators.protocol import ANY_LENGTH, uses_model
from assistant.models.protocol import BadReplyError, Completion, Enough, Exchange, OnPiece, Schema
from assistant.prompts.render import as_data
from assistant.records import AssistantError, Draft, ElementName, Message, Parameters
from assistant.trail.replay import CorpusAt
from assistant.trail.replayed_steps import (
    SCORED,
    StepReplay,
    check_encoder,
    differences,
    evidence_differences,
    provenance_notes,
    quoted,
    step_replay,
)
from corpus.encoders.base import Encoder
from corpus.errors import CorpusError

# The choice of evidence depends on support scores, too.
_BY_SCORER = SCORED | {"evidence", "passage_id", "sentence"}
# When it was extracted.
_NOT_REPEATED = frozenset({"written"})


Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class ComparisonReplay:
    """A comparison done again.

    `impossible` says why it could not be done, `notes` what differs besides its steps.
    """

    about: str
    steps: tuple[StepReplay, ...] = ()
    notes: tuple[str, ...] = ()
    impossible: str = ""

    @property
    def is_equal(self) -> bool:
        return not self.impossible and all(step.outcome != "different" for step in self.steps)


def replay_comparison(comparison: Comparison, encoder: Encoder, corpus_at: CorpusAt) -> ComparisonReplay:
    """Return a comparison done again on the corpus as it was, and compared with its record."""
    try:
        check_encoder(comparison.provenance, encoder)
        versions = {entry.table: entry.version for entry in comparison.provenance.corpus}
        recorded = RecordedComparer(comparison, encoder)
        by_model = uses_model(comparison.provenance.generator)
        generator = recorded if by_model else _without_model(comparison, encoder)
        try:
            corpus, names_unsaid = corpus_at(versions), comparison.names_unsaid
            comparer = Comparer(corpus, encoder, generator, names_unsaid=names_unsaid)
            found = _compare_again(comparison, comparer)
        except NotRecordedError:
            return ComparisonReplay(comparison.about, (step_replay("calls", _asked_anew(recorded.missing)),))
    except (AssistantError, CorpusError) as error:
        return ComparisonReplay(comparison.about, impossible=str(error))
    steps = tuple(_compared(comparison, found, recorded.missing - recorded.failed))
    notes = tuple(provenance_notes(comparison.provenance, found.provenance))
    return ComparisonReplay(comparison.about, steps, notes)


def _without_model(comparison: Comparison, encoder: Encoder) -> ExtractiveComparer:
    if comparison.rounds:
        raise ComparisonError(
            "It was made without a model by an earlier version, which still voted on its own drafts. It can "
            "be read and exported, but not made again."
        )
    return ExtractiveComparer(encoder)


def _compare_again(comparison: Comparison, comparer: Comparer) -> Comparison:
    # Without reflection no votes are recorded, but none can be asked for.
    options = replace(comparison.options, votes=max(1, comparison.options.votes))
    questions = tuple(column.question for column in comparison.columns)
    request = ComparisonRequest(_papers_asked_for(comparison), comparison.about, options, questions)
    for event in comparer.compare(request, _ledger_of(comparison), comparison.id):
        if isinstance(event, Compared):
            return event.comparison
    raise AssistantError("The comparison was not completed.")


def _ledger_of(comparison: Comparison) -> CallLedger:
    """Return a ledger that gives its replies again, though our own words in the prompts may have changed."""
    return CallLedger(comparison.calls, answers=same_material)


def _papers_asked_for(comparison: Comparison) -> tuple[str, ...]:
    """Return the papers, those once more that had been named twice: of that there is a remark."""
    papers = (one.paper for one in comparison.evidence.papers)
    return (*comparison.paper_ids, *(one.id for one in papers if named_twice(one) in comparison.remarks))


def _compared(recorded: Comparison, found: Comparison, missing: Iterable[str]) -> Iterator[StepReplay]:
    other_scorer = recorded.provenance.scorer != found.provenance.scorer
    skipped = _NOT_REPEATED | (_BY_SCORER if other_scorer else frozenset())
    yield step_replay("papers", chain(_request(recorded, found), _papers(recorded, found)))
    yield step_replay("elements", differences(_by_label(recorded), _by_label(found), skipped=skipped))
    yield step_replay("rounds", differences(recorded.rounds, found.rounds, "round", skipped))
    yield step_replay("summary", differences(recorded.answer.text, found.answer.text, "text"))
    yield step_replay("check", differences(recorded.answer, found.answer, skipped=skipped | {"text"}))
    if recorded.columns:
        yield step_replay("columns", differences(recorded.columns, found.columns, "column"))
    yield step_replay("calls", chain(_calls(recorded, found), _asked_anew(missing)))


def _request(recorded: Comparison, found: Comparison) -> Iterator[str]:
    yield from differences(recorded.about, found.about, "description")
    yield from differences(recorded.options, found.options, "options")
    yield from differences(recorded.paper_ids, found.paper_ids, "papers")


def _papers(recorded: Comparison, found: Comparison) -> Iterator[str]:
    yield from evidence_differences(recorded.evidence, found.evidence)
    yield from differences(recorded.remarks, found.remarks, "remark")


def _by_label(comparison: Comparison) -> dict[str, KeyElements]:
    return {f"[{one.label}]" if one.label else "description": one for one in comparison.elements}


def _calls(recorded: Comparison, found: Comparison) -> Iterator[str]:
    """Yield calls of the record that nothing asked for, and those that contradict it."""
    unused = Counter(one.work for one in recorded.calls) - Counter(one.work for one in found.calls)
    yield from (f"{work}: is recorded, but nothing asked for it" for work in unused)
    name = recorded.provenance.generator
    for one in recorded.calls:
        if one.call.model != name:
            yield f"{one.work}: was asked of {quoted(one.call.model)}, but the generator was {quoted(name)}"


def _asked_anew(missing: Iterable[str]) -> Iterator[str]:
    for work in sorted(missing):
        yield f"{work}: what would be sent now is not in the record, so it would have to be asked anew"


def _failures(rounds: Iterable[Round]) -> Iterator[tuple[str, str]]:
    """Yield the samples and votes that came to nothing, by their names, and why."""
    for one in rounds:
        written = {candidate.number for candidate in one.candidates}
        lost = (age for age in range(1, len(written) + len(one.failed) + 1) if age not in written)
        for age, why in zip(lost, one.failed, strict=False):
            yield task_name("sample", age, one.number), why
        for vote in one.votes:
            if vote.problem:
                yield task_name("vote", vote.number, one.number), vote.problem


class NotRecordedError(BadReplyError):
    """A reply is not in the record, and a replay asks nobody: it goes on as after one that cannot be used."""


class RecordedComparer(PromptedComparer):
    """Compares as a recorded comparison did, with the replies that a ledger of its calls gives.

    What came to nothing then does so again, for the reason that is recorded. `missing` names the pieces of
    work for which somebody would have to be asked; those of them that had `failed` then, too, are explained.
    """

    def __init__(self, comparison: Comparison, encoder: Encoder) -> None:
        calls = [one.call for one in comparison.calls]
        super().__init__(
            _NoModel(comparison.provenance.generator),
            # Recorded replies are read, not asked for: the prompts, made on the way, must only be the same.
            context=ANY_LENGTH,
            parameters=comparison.parameters,
            summaries=OneByOne(encoder) if is_one_by_one(calls) else form_asked_for(calls),
        )
        self._calls = {one.work: one for one in reversed(comparison.calls)}
        failures = dict(_failures(comparison.rounds))
        unread = {task_name("elements", one.label): one.problem for one in comparison.elements if one.problem}
        self._problems = unread | failures
        self.missing: set[str] = set()
        self.failed = failures.keys() - self._calls.keys()

    def extract_key_elements(self, source: SourceText, task: Task) -> Mapping[ElementName, str]:
        ask, read = super().extract_key_elements, _as_read(source, self._calls.get(task.name))
        return self._noting(task, lambda: ask(read, task))

    def update_summary(self, step: ComparisonStep, summary: str, sample: int, task: Task) -> Draft:
        ask = super().update_summary
        return self._noting(task, lambda: ask(step, summary, sample, task))

    def vote(self, step: ComparisonStep, candidates: Sequence[Candidate], number: int, task: Task) -> Vote:
        ask = super().vote
        return self._noting(task, lambda: ask(step, candidates, number, task))

    def _noting(self, task: Task, ask: Callable[[], Result]) -> Result:
        try:
            return ask()
        except BadReplyError as error:
            if isinstance(error, NotRecordedError):
                self.missing.add(task.name)
            raise type(error)(self._problems.get(task.name, error.fault), error.received) from error


def _as_read(source: SourceText, recorded: WorkCall | None) -> SourceText:
    """Return as much of a text as its model was given then, which hung on how much that could take in."""
    if recorded is None:
        return source
    if source.kind == "description":
        sent = "".join(message.content for message in recorded.call.messages)
        about = next((one for one in shortenings(source) if as_data(one) in sent), "")
        return with_description(source, about)
    left_out = recorded.call.left_out
    return with_passages(source, [one for one in source.paper.passages if one.id not in left_out])


class _NoModel:
    """A model under the name of the recorded one, which nothing can be asked of."""

    def __init__(self, name: str) -> None:
        self.id = self.label = name

    def stream(
        self,
        messages: Sequence[Message],  # noqa: ARG002
        parameters: Parameters,  # noqa: ARG002
        enough: Enough | None = None,  # noqa: ARG002
    ) -> Iteration[str, None, Completion]:
        raise NotRecordedError("This reply is not in the record.", ())

    def reply(
        self,
        messages: Sequence[Message],  # noqa: ARG002
        parameters: Parameters,  # noqa: ARG002
        schema: type[Schema],  # noqa: ARG002
        on_exchange: Callable[[Exchange], None] | None = None,  # noqa: ARG002
        on_piece: OnPiece | None = None,  # noqa: ARG002
    ) -> Schema:
        raise NotRecordedError("This reply is not in the record.", ())
