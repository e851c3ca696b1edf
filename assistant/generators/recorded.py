"""A generator for replays: it returns recorded replies and reads them as when they were recorded."""

from collections.abc import Callable, Iterator, Sequence
from collections.abc import Generator as Iteration
from dataclasses import replace
from itertools import islice, zip_longest

from assistant.generators.best_of import MOST_DRAFTS
from assistant.generators.choice import open_stand_in
from assistant.generators.model_evidence import by_rank
from assistant.generators.prompted import PromptedGenerator, part_query_read, rewrite_read
from assistant.generators.protocol import ANY_LENGTH, Generator
from assistant.generators.rounds import revised
from assistant.models.protocol import Completion, Enough, Exchange, ModelError, OnPiece, Schema
from assistant.questions.rewriting import query_from_part
from assistant.ranking.evidence import RankedEvidence
from assistant.records import Call, CallLog, Draft, Message, Parameters, Rewrite, Turn
from corpus.encoders.base import Encoder


def recorded_generators(turn: Turn, encoder: Encoder) -> list[Generator]:
    """Return a generator for each recorded draft; a single one without a draft if there is none."""
    drafts = list(islice(_drafts(turn.calls), MOST_DRAFTS))
    return [RecordedGenerator(turn, calls, open_stand_in(encoder)) for calls in drafts or ((),)]


def _drafts(calls: Sequence[Call]) -> Iterator[tuple[Call, ...]]:
    """Yield the calls of each draft: the writing call, with the revising call if it was revised."""
    for call, following in zip_longest(calls, calls[1:]):
        if call.step == "write":
            yield (call, following) if following and following.step == "revise" else (call,)


class RecordedGenerator:
    """Returns a turn's recorded replies; the extractive writer's queries are computed again."""

    asks_model = is_small = is_slow = False

    def __init__(self, turn: Turn, calls: tuple[Call, ...], writer: Generator) -> None:
        self.name = self.label = turn.provenance.generator
        self._anew = writer if writer.name == self.name else None
        self.writes_freely = self._anew is None
        self._turn = turn
        self._written, self._revision = (*calls, None, None)[:2]

    def for_sampling(self) -> "RecordedGenerator":
        return self

    def rewrite_question(self, question: str, history: tuple[Turn, ...], log: CallLog) -> Rewrite:
        if self._anew:
            return self._anew.rewrite_question(question, history, log)
        call = next((call for call in self._turn.calls if call.step == "rewrite"), None)
        if call is None:
            return self._turn.rewrite
        log.add(call)
        return rewrite_read(call.reply, call.finish_reason, question, history)

    @property
    def searches_again(self) -> bool:
        return bool(self._turn.second_searches)

    def query_for_part(self, part: str, rewrite: Rewrite, log: CallLog) -> str:
        if self._anew:
            return self._anew.query_for_part(part, rewrite, log)
        made = next((second for second in self._turn.second_searches if second.part == part), None)
        calls = [call for call in self._turn.calls if call.step == "search_again"]
        if made is None or not calls:
            return made.query if made else query_from_part(part, rewrite.searched_for)
        call = calls[min(self._turn.second_searches.index(made), len(calls) - 1)]
        log.add(call)
        return part_query_read(call.reply, call.finish_reason, part, rewrite)

    def write_draft(
        self, found: RankedEvidence, history: tuple[Turn, ...], log: CallLog
    ) -> Iteration[str, None, Draft]:
        if self._written is None:  # it was refused before anything was written
            return Draft("")
        if self.writes_freely:
            draft = yield from PromptedGenerator(
                _RecordedModel(self._written), context=ANY_LENGTH, order=by_rank
            ).write_draft(found, history, log)
            draft = replace(draft, left_out=self._written.left_out)
            if not self._revision:
                return draft
            log.add(self._revision)
            evidence = found.evidence.without(draft.left_out)
            return revised(draft, self._revision.reply, self._revision.finish_reason, evidence)
        log.add(self._written)
        yield self._written.reply
        return Draft(self._written.reply, self._written.finish_reason)


class _RecordedModel:
    """A model that gives a recorded reply, whatever it is asked."""

    def __init__(self, call: Call) -> None:
        self.id = self.label = call.model
        self._call = call

    def stream(
        self,
        messages: Sequence[Message],  # noqa: ARG002
        parameters: Parameters,  # noqa: ARG002
        enough: Enough | None = None,  # noqa: ARG002
    ) -> Iteration[str, None, Completion]:
        yield self._call.reply
        return Completion(self._call.reply, self._call.finish_reason)

    def reply(
        self,
        messages: Sequence[Message],  # noqa: ARG002
        parameters: Parameters,  # noqa: ARG002
        schema: type[Schema],
        on_exchange: Callable[[Exchange], None] | None = None,  # noqa: ARG002
        on_piece: OnPiece | None = None,  # noqa: ARG002
    ) -> Schema:
        raise ModelError(f"The recorded reply is text, no {schema.__name__}.")
