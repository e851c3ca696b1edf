"""Replays of conversations: the same corpus and question, with the recorded replies.

Search, evidence and checking run again through the assistant's own flow. Models are not asked: their replies
are recorded. Steps without a model are computed again, including the extractive writer's rewriting.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain

from assistant.chat import Assistant
from assistant.generators.best_of import citation_quality
from assistant.generators.protocol import Generator, uses_model
from assistant.generators.recorded import recorded_generators
from assistant.questions.intent import request_kind
from assistant.records import AskOptions, AssistantError, Conversation, Turn
from assistant.trail.replayed_steps import (
    SCORED,
    TOLERANCE,
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
from corpus.records import parse_topic_key
from corpus.store.corpus import Corpus

CorpusAt = Callable[[Mapping[str, int]], Corpus]

# Older versions of Paper Trail did not record these.
_LATER = ("abbreviations",)


@dataclass(frozen=True, slots=True)
class TurnReplay(Replayed):
    """A replayed turn; `number` counts from 1.

    `impossible` is the reason if it could not be replayed, `notes` are differences outside its steps.
    """

    number: int
    question: str
    steps: tuple[StepReplay, ...] = ()
    notes: tuple[str, ...] = ()
    impossible: str = ""


@dataclass(frozen=True, slots=True)
class Replayer:
    """Replays turns with an encoder and an opener of the corpus at recorded versions.

    With `generator_of`, the generator that it returns for a turn is asked again instead of taking the
    recorded reply.
    """

    encoder: Encoder
    corpus_at: CorpusAt
    generator_of: Callable[[Turn], Generator] | None = None

    def replay(self, conversation: Conversation) -> Iterator[TurnReplay]:
        """Replay every turn and yield its comparison with the record."""
        for index, turn in enumerate(conversation.turns):
            try:
                replayed = self._ask_again(turn, conversation.turns[:index])
                steps = tuple(_compared(turn, replayed, is_asked_again=self.generator_of is not None))
                yield TurnReplay(index + 1, turn.question, steps, tuple(_notes(turn, replayed)))
            except (AssistantError, CorpusError) as error:
                yield TurnReplay(index + 1, turn.question, impossible=str(error))

    def _ask_again(self, turn: Turn, history: tuple[Turn, ...]) -> Turn:
        """Return the replayed turn; of several recorded drafts, the one that is best now."""
        check_encoder(turn.provenance, self.encoder)
        _check_history(turn, history)
        corpus = self.corpus_at({entry.table: entry.version for entry in turn.provenance.corpus})
        if self.generator_of:
            writers, drafts = [self.generator_of(turn)], turn.drafts
        else:
            writers, drafts = recorded_generators(turn, self.encoder), 1
        options = _options(turn, drafts)
        candidates = [
            Assistant(corpus, self.encoder, writer).answer(turn.question, history, options)
            for writer in writers
        ]
        return max(candidates, key=lambda replayed: citation_quality(replayed.answer))


def _check_history(turn: Turn, history: tuple[Turn, ...]) -> None:
    """Raise AssistantError if a turn refers to turns that are not in the conversation."""
    if not all(0 <= used < len(history) for used in turn.rewrite.used_turns):
        raise AssistantError(
            "This turn leaned on turns that are not in this file. Replay the file of the whole conversation."
        )


def _options(turn: Turn, drafts: int) -> AskOptions:
    """Return the options with which a turn was asked; raises AssistantError for an impossible scope."""
    try:
        for key in turn.scope.topics:
            parse_topic_key(key)
    except ValueError as error:
        raise AssistantError(f"Its scope cannot be read: {error}.") from error
    return AskOptions(
        scope=turn.scope,
        papers=turn.papers_wanted,
        search_query=turn.rewrite.search_query if turn.rewrite.edited else "",
        kind=turn.rewrite.kind,
        drafts=drafts,
        in_context=turn.in_context,
        passages=turn.passages,
        finds_citations=turn.finds_citations,
        careful=turn.careful,
        names_unsaid=turn.names_unsaid,
        searches_again=bool(turn.second_searches),
    )


def _compared(recorded: Turn, found: Turn, *, is_asked_again: bool) -> Iterator[StepReplay]:
    read = differences(recorded.rewrite, found.rewrite, optional=_LATER)
    yield step_replay("rewrite", chain(read, _misread(recorded)))
    again = differences(recorded.second_searches, found.second_searches, "second search")
    yield step_replay("retrieve", chain(_hits(recorded, found), again))
    yield step_replay("evidence", evidence_differences(recorded.evidence, found.evidence))
    contradictions = tuple(_miswritten(recorded))
    if is_asked_again or contradictions:
        replies = differences(_replies(recorded), _replies(found), "reply") if is_asked_again else ()
        yield step_replay("write", chain(contradictions, replies))
    yield step_replay(
        "check", differences(recorded.answer, found.answer, skipped=_not_compared(recorded, found))
    )


def _not_compared(recorded: Turn, found: Turn) -> frozenset[str]:
    """Return the fields not compared: scores by another scorer, and fields that older versions lack."""
    refusal = recorded.answer.refusal
    older = frozenset() if refusal and refusal.covers else frozenset({"covers"})
    return older | (SCORED if recorded.provenance.scorer != found.provenance.scorer else frozenset())


def _misread(turn: Turn) -> Iterator[str]:
    """Yield contradictions in a record on the origin of the search query."""
    rewrite, is_made = turn.rewrite, any(call.step == "rewrite" for call in turn.calls)
    if rewrite.edited and is_made:
        yield "edited: the query is said to be the reader's own, but one was made of the question"
    if not (rewrite.edited or is_made) and rewrite.search_query != rewrite.question:
        yield "edited: the query is said to be made of the question, but nothing made it"


def _miswritten(turn: Turn) -> Iterator[str]:
    """Yield contradictions in a record on the writer and the number of drafts."""
    name, written = turn.provenance.generator, len(_replies(turn))
    for call in turn.calls:
        if call.model != name:
            yield f"generator: was {quoted(name)}, but the {call.step} call names {quoted(call.model)}"
        elif bool(call.messages) != uses_model(name):
            sent = "was sent messages" if call.messages else "was sent nothing"
            yield f"generator: was {quoted(name)}, but for the {call.step} call it {sent}"
    if written > turn.drafts:
        yield f"drafts: {turn.drafts} are said to be written, but {written} are recorded"


def _replies(turn: Turn) -> tuple[str, ...]:
    return tuple(call.reply for call in turn.calls if call.step == "write")


def _hits(recorded: Turn, found: Turn) -> Iterator[str]:
    before = {hit.passage_id: hit for hit in recorded.hits}
    now = {hit.passage_id: hit for hit in found.hits}
    yield from (f"{identifier} is no longer found" for identifier in before if identifier not in now)
    yield from (f"{identifier} is found now" for identifier in now if identifier not in before)
    # Older versions of Paper Trail did not record it.
    has_sentences = any(hit.sentence is not None for hit in recorded.hits)
    skipped = frozenset() if has_sentences else frozenset({"sentence"})
    for identifier in before.keys() & now.keys():
        yield from differences(before[identifier], now[identifier], identifier, skipped)
    if before.keys() == now.keys() and list(before) != list(now) and not _is_a_tie(recorded, found):
        yield "the passages are found in another order"


def _is_a_tie(recorded: Turn, found: Turn) -> bool:
    pairs = zip(recorded.hits, found.hits, strict=True)
    return all(abs(before.score - now.score) <= TOLERANCE for before, now in pairs)


def _notes(recorded: Turn, found: Turn) -> Iterator[str]:
    yield from provenance_notes(recorded.provenance, found.provenance)
    rewrite = recorded.rewrite
    understood = rewrite.search_query if rewrite.used_turns or rewrite.language else recorded.question
    if rewrite.kind not in (
        request_kind(recorded.question, recorded.scope),
        request_kind(understood, recorded.scope),
    ):
        yield f"answered as a {rewrite.kind}, which is not how the question reads: it must have been chosen"
