"""A recorded comparison done again: the same corpus, the same request, the replies that were recorded."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain

from assistant.compare import Comparer
from assistant.comparing.journal import Journal
from assistant.comparing.recorded import NotRecordedError, RecordedComparer
from assistant.comparing.records import Compared, Comparison, ComparisonRequest, KeyElements, Round, WorkCall
from assistant.records import AssistantError
from assistant.replay import CorpusAt
from assistant.replayed_steps import (
    SCORED,
    StepReplay,
    check_encoder,
    differences,
    evidence_differences,
    provenance_notes,
    quoted,
    step_replay,
)
from corpus.encoder import Encoder
from corpus.errors import CorpusError

# How sentences were led to evidence depends on what scores support, too.
_BY_SCORER = SCORED | {"evidence", "passage_id", "sentence"}
# When it was extracted, and in whose words a failure was told.
_NOT_REPEATED = frozenset({"written", "problem"})


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
        generator = RecordedComparer(comparison, encoder)
        comparer = Comparer(corpus_at(versions), encoder, generator)
        try:
            found = _compare_again(comparison, comparer)
        except NotRecordedError:
            return ComparisonReplay(comparison.about, (step_replay("calls", _asked_anew(generator.missing)),))
    except (AssistantError, CorpusError) as error:
        return ComparisonReplay(comparison.about, impossible=str(error))
    steps = tuple(_compared(comparison, found, generator.missing))
    notes = tuple(provenance_notes(comparison.provenance, found.provenance))
    return ComparisonReplay(comparison.about, steps, notes)


def _compare_again(comparison: Comparison, comparer: Comparer) -> Comparison:
    # Without reflection no votes are recorded, but none can be asked for.
    options = replace(comparison.options, votes=max(1, comparison.options.votes))
    request = ComparisonRequest(_papers_asked_for(comparison), comparison.about, options)
    for event in comparer.compare(request, Journal(comparison.calls), comparison.id):
        if isinstance(event, Compared):
            return event.comparison
    raise AssistantError("The comparison was not completed.")


def _papers_asked_for(comparison: Comparison) -> tuple[str, ...]:
    """Return the papers, those once more that had been named twice: of that there is a remark."""
    twice = (
        one.paper.id
        for one in comparison.evidence.papers
        if any(remark.startswith(f"“{one.paper.title}” was named") for remark in comparison.remarks)
    )
    return (*comparison.paper_ids, *twice)


def _compared(recorded: Comparison, found: Comparison, missing: Iterable[str]) -> Iterator[StepReplay]:
    other_scorer = recorded.provenance.scorer != found.provenance.scorer
    skipped = _NOT_REPEATED | (_BY_SCORER if other_scorer else frozenset())
    yield step_replay("papers", chain(_request(recorded, found), _papers(recorded, found)))
    yield step_replay("elements", _elements(recorded, found, skipped))
    rounds = differences(_rounds(recorded), _rounds(found), "round", skipped)
    yield step_replay("rounds", chain(rounds, _failures(recorded, found)))
    yield step_replay("summary", differences(recorded.answer.text, found.answer.text, "text"))
    yield step_replay("check", differences(recorded.answer, found.answer, skipped=skipped | {"text"}))
    yield step_replay("calls", chain(_calls(recorded, found), _asked_anew(_unexplained(recorded, missing))))


def _request(recorded: Comparison, found: Comparison) -> Iterator[str]:
    yield from differences(recorded.about, found.about, "description")
    yield from differences(recorded.options, found.options, "options")
    yield from differences(recorded.paper_ids, found.paper_ids, "papers")


def _papers(recorded: Comparison, found: Comparison) -> Iterator[str]:
    yield from evidence_differences(recorded.evidence, found.evidence)
    yield from differences(_said(recorded.remarks), _said(found.remarks), "remark")


def _said(remarks: Iterable[str]) -> tuple[str, ...]:
    """Return remarks without the words in which a failure was told."""
    return tuple(remark.partition(" could not be read. ")[0] for remark in remarks)


def _elements(recorded: Comparison, found: Comparison, skipped: Collection[str]) -> Iterator[str]:
    before, after = _by_label(recorded), _by_label(found)
    yield from differences(before, after, skipped=skipped)
    for label, one in before.items():
        now = after.get(label)
        if now and bool(one.problem) != bool(now.problem):
            yield f"{label}, problem: was {quoted(one.problem)}, now {quoted(now.problem)}"


def _by_label(comparison: Comparison) -> dict[str, KeyElements]:
    return {f"[{one.label}]" if one.label else "description": one for one in comparison.elements}


def _rounds(comparison: Comparison) -> tuple[Round, ...]:
    return tuple(replace(one, failed=()) for one in comparison.rounds)


def _failures(recorded: Comparison, found: Comparison) -> Iterator[str]:
    """Yield where samples or votes failed that now do not, or the other way round."""
    for before, now in zip(recorded.rounds, found.rounds, strict=False):
        place = f"round, {before.number}"
        yield from differences(len(before.failed), len(now.failed), f"{place}, failed samples")
        yield from differences(_discarded(before), _discarded(now), f"{place}, votes with a problem")


def _discarded(one: Round) -> tuple[int, ...]:
    return tuple(vote.number for vote in one.votes if vote.problem)


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


def _unexplained(recorded: Comparison, missing: Iterable[str]) -> set[str]:
    """Return what was asked for in vain, but for what had failed then, too."""
    return set(missing) - set(_failed_works(recorded.rounds, recorded.calls))


def _failed_works(rounds: Iterable[Round], calls: Iterable[WorkCall]) -> Iterator[str]:
    made = {one.work for one in calls}
    for one in rounds:
        written = {candidate.number for candidate in one.candidates}
        tried = range(1, len(written) + len(one.failed) + 1)
        samples = (f"round {one.number} sample {age}" for age in tried if age not in written)
        votes = (f"round {one.number} vote {vote.number}" for vote in one.votes if vote.problem)
        yield from (work for work in chain(samples, votes) if work not in made)
