"""Replays of comparisons: the same corpus and request, with the recorded replies."""

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
    Replayed,
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

# The choice of evidence also depends on support scores.
_BY_SCORER = SCORED | {"evidence", "passage_id", "sentence"}
# The time of extraction.
_NOT_REPEATED = frozenset({"written"})


Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class ComparisonReplay(Replayed):
    """A replayed comparison.

    `impossible` is the reason if it could not be replayed, `notes` are differences outside its steps.
    """

    about: str
    steps: tuple[StepReplay, ...] = ()
    notes: tuple[str, ...] = ()
    impossible: str = ""


def replay_comparison(comparison: Comparison, encoder: Encoder, corpus_at: CorpusAt) -> ComparisonReplay:
    """Replay a comparison on the corpus as it was, and compare it with its record."""
    try:
        check_encoder(comparison.provenance, encoder)
        versions = {entry.table: entry.version for entry in comparison.provenance.corpus}
        recorded = RecordedComparer(comparison, encoder)
        by_model = uses_model(comparison.provenance.generator)
        generator = recorded if by_model else _without_model(comparison, encoder)
        try:
            corpus, names_unsaid = corpus_at(versions), comparison.names_unsaid
            comparer = Comparer(corpus, encoder, generator, names_unsaid=names_unsaid)
            replayed = _compare_again(comparison, comparer)
        except NotRecordedError:
            return ComparisonReplay(comparison.about, (step_replay("calls", _asked_anew(recorded.missing)),))
    except (AssistantError, CorpusError) as error:
        return ComparisonReplay(comparison.about, impossible=str(error))
    steps = tuple(_compared(comparison, replayed, recorded.missing - recorded.failed))
    notes = tuple(provenance_notes(comparison.provenance, replayed.provenance))
    return ComparisonReplay(comparison.about, steps, notes)


def _without_model(comparison: Comparison, encoder: Encoder) -> ExtractiveComparer:
    if comparison.rounds:
        raise ComparisonError(
            "It was made without a model by an earlier version, which still voted on its own drafts. It can "
            "be read and exported, but not made again."
        )
    return ExtractiveComparer(encoder)


def _compare_again(comparison: Comparison, comparer: Comparer) -> Comparison:
    # Ablated runs record no votes, but `votes` must be at least 1.
    options = replace(comparison.options, votes=max(1, comparison.options.votes))
    questions = tuple(column.question for column in comparison.columns)
    # A paper that was named twice is named twice again, for the remark on it.
    twice = (paper.id for paper in comparison.papers if named_twice(paper) in comparison.remarks)
    request = ComparisonRequest(
        (*comparison.paper_ids, *twice),
        comparison.about,
        options,
        questions,
    )
    for event in comparer.compare(
        request, CallLedger(comparison.calls, answers=same_material), comparison.id
    ):
        if isinstance(event, Compared):
            return event.comparison
    raise AssistantError("The comparison was not completed.")


def _compared(recorded: Comparison, found: Comparison, missing: Iterable[str]) -> Iterator[StepReplay]:
    other_scorer = recorded.provenance.scorer != found.provenance.scorer
    skipped = _NOT_REPEATED | (_BY_SCORER if other_scorer else frozenset())
    papers = chain(
        differences(recorded.about, found.about, "description"),
        differences(recorded.options, found.options, "options"),
        differences(recorded.paper_ids, found.paper_ids, "papers"),
        evidence_differences(recorded.evidence, found.evidence),
        differences(recorded.remarks, found.remarks, "remark"),
    )
    yield step_replay("papers", papers)
    yield step_replay("elements", differences(_by_label(recorded), _by_label(found), skipped=skipped))
    yield step_replay("rounds", differences(recorded.rounds, found.rounds, "round", skipped))
    yield step_replay("summary", differences(recorded.answer.text, found.answer.text, "text"))
    yield step_replay("check", differences(recorded.answer, found.answer, skipped=skipped | {"text"}))
    if recorded.columns:
        yield step_replay("columns", differences(recorded.columns, found.columns, "column"))
    yield step_replay("calls", chain(_calls(recorded, found), _asked_anew(missing)))


def _by_label(comparison: Comparison) -> dict[str, KeyElements]:
    return {
        f"[{elements.label}]" if elements.label else "description": elements
        for elements in comparison.elements
    }


def _calls(recorded: Comparison, found: Comparison) -> Iterator[str]:
    """Yield recorded calls that were not used, and those of another model than the generator."""
    unused = Counter(entry.work for entry in recorded.calls) - Counter(entry.work for entry in found.calls)
    yield from (f"{work}: is recorded, but nothing asked for it" for work in unused)
    name = recorded.provenance.generator
    for entry in recorded.calls:
        if entry.call.model != name:
            asked = quoted(entry.call.model)
            yield f"{entry.work}: was asked of {asked}, but the generator was {quoted(name)}"


def _asked_anew(missing: Iterable[str]) -> Iterator[str]:
    for work in sorted(missing):
        yield f"{work}: what would be sent now is not in the record, so it would have to be asked anew"


def _failures(rounds: Iterable[Round]) -> Iterator[tuple[str, str]]:
    """Yield the task names of failed samples and votes, and the reasons."""
    for of_round in rounds:
        written = {candidate.number for candidate in of_round.candidates}
        lost = (age for age in range(1, len(written) + len(of_round.failed) + 1) if age not in written)
        for age, why in zip(lost, of_round.failed, strict=False):
            yield task_name("sample", age, of_round.number), why
        for vote in of_round.votes:
            if vote.problem:
                yield task_name("vote", vote.number, of_round.number), vote.problem


class NotRecordedError(BadReplyError):
    """A reply is not recorded; the replay goes on as after an unusable one."""


class RecordedComparer(PromptedComparer):
    """Compares with the replies in a ledger of recorded calls.

    Tasks that failed then fail again for the recorded reason. `missing` are the tasks without a recorded
    reply; those that `failed` then need none.
    """

    def __init__(self, comparison: Comparison, encoder: Encoder) -> None:
        calls = [entry.call for entry in comparison.calls]
        super().__init__(
            _NoModel(comparison.provenance.generator),
            # No model is asked, so prompts of any length fit.
            context=ANY_LENGTH,
            parameters=comparison.parameters,
            summaries=OneByOne(encoder) if is_one_by_one(calls) else form_asked_for(calls),
        )
        self._calls = {entry.work: entry for entry in reversed(comparison.calls)}
        failures = dict(_failures(comparison.rounds))
        unread = {
            task_name("elements", text.label): text.problem for text in comparison.elements if text.problem
        }
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
    """Return as much of a text as was sent then, which depended on the model's context."""
    if recorded is None:
        return source
    if source.kind == "description":
        sent = "".join(message.content for message in recorded.call.messages)
        about = next((text for text in shortenings(source) if as_data(text) in sent), "")
        return with_description(source, about)
    left_out = recorded.call.left_out
    return with_passages(source, [text for text in source.paper.passages if text.id not in left_out])


class _NoModel:
    """A model with the name of the recorded one, whose calls raise NotRecordedError."""

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
