"""A generator that asks a chat model, with the prompts of `assistant/prompts`."""

import re
import time
from collections.abc import Generator as Iteration
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from assistant.checking.citations import hold_back
from assistant.generators.calls import Price, call_of, unknown_price
from assistant.generators.excerpts import choose_excerpts
from assistant.generators.model_evidence import PassageOrder, by_relevance, with_authors_asked_for
from assistant.generators.parameters import SAMPLING_TEMPERATURE
from assistant.generators.rounds import RANK_TOKENS, rank_messages, ranked, revise_messages, revised
from assistant.models.protocol import ChatModel, Completion, Enough, Exchange, ModelError, relay, whole
from assistant.models.token_counts import TokenCounts
from assistant.prompts.echoes import is_looped, is_repeated, tells_example
from assistant.prompts.material import (
    ANSWERED,
    ASKED,
    SPARE_TOKENS,
    estimate_tokens,
    fit_evidence,
    render_evidence,
    render_history,
    shown_turns,
)
from assistant.prompts.render import as_data, example, load_prompt, no_answer_reason, short_task, task
from assistant.questions.rewriting import query_from_part, rewrite_from_words
from assistant.questions.vocabulary import content_words, stems, vocabulary
from assistant.ranking.evidence import RankedEvidence
from assistant.records import CallLog, Draft, Evidence, Message, Parameters, Rewrite, Step, Turn
from corpus.language.identified import foreign_language
from corpus.language.stemming import holds
from corpus.sentences import sentence_spans
from corpus.text import storable

QUERY_LENGTH = 300
# Characters of a line of a reply that are searched for a query.
LONGEST_LINE = 2_000
# A query has 40 words at most.
REWRITE_TOKENS = 120
# Tokens of context: with less, passages are worth more than an example.
ROOM_FOR_EXAMPLE = 4096
# Tokens of papers in a prompt: at most in a short one, and at least in any, however slow the model.
MOST_OF_SHORT, LEAST_EVIDENCE = 900, 400
# Tokens a second at which a usual prompt is read in three seconds.
SLOW_BELOW = 400.0
_CUT = ("interrupted", "length", "too_long", "content_filter")

_LABEL = re.compile(r"(?<!\s)\s*+\[(\d++)\]")
_QUERY_PREFIX = re.compile(
    r"^\s*(?:[-*•]\s+)?[*_]*(?:(?:rewritten|final|search)\s+)*(?:query|question)[*_]*\s*:[*_]*", re.IGNORECASE
)
# Beginnings of a model's thoughts, not of a query.
_THINKS_ALOUD = re.compile(
    r"(?:okay|ok|alright|hmm+|so|well|wait)\s*,|let(?:'s| me| us)\b|(?:i|we) (?:need|have|should|must)\b"
    r"|the (?:user|reader)\b|the answer (?:is|was|to)\b",
    re.IGNORECASE,
)
# HTML or XML, a link, a Markdown image: no words to search for.
_MARKUP = re.compile(r"</?[a-z][^<>]*>|\]\(|https?://", re.IGNORECASE)
_OPENING, _CLOSING, _NOT_INSIDE = "\"'`“‘«*_", "\"'`”’»*_", frozenset('"`“”«»')


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """The options of a model: whether it `thinks`, and which calls it gets beside the answer.

    A model that `is_small` gets the short prompt. `searches_again` is that of the generator. A prompt is cut
    to what the model reads in `reading_seconds`, once its speed is known; None for no limit.
    """

    thinks: bool = False
    rerank: bool = False
    revise: bool = False
    is_small: bool = False
    searches_again: bool = False
    reading_seconds: float | None = None


class PromptedGenerator:
    """A chat model that writes with our prompts.

    `context` is the model's context in tokens, reply included; evidence is cut to it by whole passages, the
    last in `order` first. `counts` learns from replies how many tokens a prompt has. A call is logged when
    its reply has ended, not if it was stopped.
    """

    def __init__(
        self,
        model: ChatModel,
        *,
        context: int = 32_768,
        parameters: Parameters | None = None,
        price: Price = unknown_price,
        order: PassageOrder = by_relevance,
        counts: TokenCounts | None = None,
        options: ModelOptions = ModelOptions(),
    ) -> None:
        self.writes_freely = self.asks_model = True
        self._model = model
        self._context = context
        self._parameters = parameters or Parameters()
        self._price = price
        self._order = order
        self._counts = counts or TokenCounts()
        self._options = options
        self._rewrite_prompt = load_prompt("rewrite")
        self._answer_prompt = load_prompt("answer")
        self._short_prompt = load_prompt("answer_short")

    @property
    def name(self) -> str:
        return self._model.id

    @property
    def label(self) -> str:
        return self._model.label

    @property
    def is_small(self) -> bool:
        return self._options.is_small

    @property
    def searches_again(self) -> bool:
        return self._options.searches_again

    @property
    def is_slow(self) -> bool:
        speed = self._counts.tokens_per_second(self._model.id)
        return self._options.reading_seconds is not None and (speed is None or speed < SLOW_BELOW)

    def for_sampling(self) -> "PromptedGenerator":
        temperature = max(self._parameters.temperature, SAMPLING_TEMPERATURE)
        return PromptedGenerator(
            self._model,
            context=self._context,
            parameters=replace(self._parameters, temperature=temperature),
            price=self._price,
            order=self._order,
            counts=self._counts,
            options=self._options,
        )

    def rewrite_question(self, question: str, history: tuple[Turn, ...], log: CallLog) -> Rewrite:
        """Return the search query the model makes of `question` in the light of the turns before it.

        A first question is not rewritten. Small models distort questions more often than the rules do: they
        only translate.
        """
        language = foreign_language(question)
        if not language and (self.is_small or not history):
            return rewrite_from_words(question, history)
        prompt = load_prompt("translate") if language else self._rewrite_prompt
        messages = prompt.render(question=as_data(question), history=render_history(history))
        reply = self._ask_for_query("rewrite", messages, log)
        return rewrite_read(reply.text, reply.finish_reason, question, history)

    def query_for_part(self, part: str, rewrite: Rewrite, log: CallLog) -> str:
        """Return the query the model makes of an open part; for a small model, the rules make it."""
        if self.is_small:
            return query_from_part(part, rewrite.searched_for)
        prompt = load_prompt("search_again")
        messages = prompt.render(question=as_data(rewrite.searched_for), part=as_data(part))
        reply = self._ask_for_query("search_again", messages, log)
        return part_query_read(reply.text, reply.finish_reason, part, rewrite)

    def _ask_for_query(self, step: Step, messages: tuple[Message, ...], log: CallLog) -> Completion:
        # The first line of a thinking model's reply may be a thought.
        enough = None if self._options.thinks else holds_query
        return whole(self._ask(step, messages, self._exact(REWRITE_TOKENS), log, enough=enough))

    def _exact(self, tokens: int) -> Parameters:
        """Return parameters for deterministic output of at most `tokens` tokens, more if the model thinks."""
        usual = self._parameters.max_tokens
        most = usual if self._options.thinks else min(tokens, usual)
        return replace(self._parameters, temperature=0.0, max_tokens=most)

    def write_draft(
        self, found: RankedEvidence, history: tuple[Turn, ...], log: CallLog
    ) -> Iteration[str, None, Draft]:
        """Yield the draft piece by piece as it is written, then return it; raises ModelError.

        Half a label at the end of an incomplete draft is removed.
        """
        rewrite = found.plan.rewrite
        fitting, messages = self._answer_messages(found, history)
        if self._options.rerank and len(fitting.papers) > 1:
            prompt = rank_messages(rewrite, fitting)
            parameters = self._exact(RANK_TOKENS)
            reply = yield from relay(self._ask("rerank", prompt, parameters, log), _hide)
            again = found.with_evidence(ranked(reply.text, fitting))
            fitting, messages = self._answer_messages(again, history)
        kept = _passage_ids(fitting)
        left_out = tuple(identifier for identifier in _passage_ids(found.evidence) if identifier not in kept)
        # Small models may repeat themselves endlessly.
        enough = is_looped if self.is_small else None
        completion = yield from self._ask(
            "write", messages, self._parameters, log, left_out=left_out, enough=enough
        )
        # Learned from this prompt only: plain English has more bytes per token than papers.
        self._counts.learn(self._model.id, messages, completion.prompt_tokens)
        first = log.calls[-1].first_token_seconds
        if completion.read_seconds is not None:
            self._counts.learn_speed(self._model.id, completion.read_tokens, completion.read_seconds)
        elif first is not None:
            self._counts.learn_speed(self._model.id, completion.prompt_tokens, first)
        is_whole = completion.finish_reason == "stop"
        text = completion.text if is_whole else hold_back(completion.text)[0]
        draft = Draft(text, completion.finish_reason, left_out)
        if self._options.revise and is_whole and no_answer_reason(text) is None:
            draft = yield from self._revised(draft, rewrite, fitting, log)
        return draft

    def _revised(
        self, draft: Draft, rewrite: Rewrite, evidence: Evidence, log: CallLog
    ) -> Iteration[str, None, Draft]:
        """Return the draft revised by the model against its papers; unchanged if they do not fit."""
        prompt = revise_messages(rewrite, evidence, draft.text)
        bytes_per_token = self._counts.bytes_per_token(self._model.id)
        needed = sum(estimate_tokens(message.content, bytes_per_token) for message in prompt)
        if needed + self._parameters.max_tokens > self._context:
            return draft
        parameters = self._exact(self._parameters.max_tokens)
        asking = self._ask("revise", prompt, parameters, log, left_out=draft.left_out)
        reply = yield from relay(asking, _hide)
        return revised(draft, reply.text, reply.finish_reason, evidence)

    def _answer_messages(
        self, found: RankedEvidence, history: tuple[Turn, ...]
    ) -> tuple[Evidence, tuple[Message, ...]]:
        """Return the evidence that fits into the context, and the messages with it."""
        if self._options.is_small:
            return self._short_messages(found)
        rewrite = found.plan.rewrite
        values = {
            "question": as_data(rewrite.question),
            "history": render_history(history),
            "task": task(rewrite.kind, found.plan.answered_in),
            "example": example(rewrite.kind) if self._context >= ROOM_FOR_EXAMPLE else "",
        }
        order = self._order(found)
        evidence = with_authors_asked_for(found.evidence, found.plan)
        room = self._room_beside(self._answer_prompt.render(papers="", **values))
        room = min(room, self._readable_tokens(room))
        fitting = fit_evidence(evidence, room, order, self._counts.bytes_per_token(self._model.id))
        if evidence.papers and not fitting.papers:
            raise ModelError(
                f"The question and a single passage are more than {self.label} can take in"
                f" ({self._context} tokens, {self._parameters.max_tokens} of them for its reply)."
                " Ask more briefly, allow its reply fewer tokens, or choose a writer with a longer context."
            )
        return fitting, self._answer_prompt.render(papers=render_evidence(fitting), **values)

    def _short_messages(self, found: RankedEvidence) -> tuple[Evidence, tuple[Message, ...]]:
        """Return the evidence of the excerpts for a small model, and the messages with them."""
        rewrite = found.plan.rewrite
        question = as_data(rewrite.question)
        if rewrite.used_turns and rewrite.searched_for != rewrite.question:
            question = f"{question} (in full: {as_data(rewrite.searched_for)})"
        kind = "part" if found.plan.of_part else rewrite.kind
        values = {"question": question, "task": short_task(kind, found.plan.answered_in)}
        room = self._room_beside(self._short_prompt.render(papers="", **values))
        tokens = min(room, self._readable_tokens(MOST_OF_SHORT))
        fitting, excerpts = choose_excerpts(found, tokens, self._counts.bytes_per_token(self._model.id))
        return fitting, self._short_prompt.render(papers=excerpts, **values)

    def _room_beside(self, messages: tuple[Message, ...]) -> int:
        """Return the tokens of the context that are left beside the reply and these messages."""
        bytes_per_token = self._counts.bytes_per_token(self._model.id)
        used = sum(estimate_tokens(message.content, bytes_per_token) for message in messages)
        return self._context - self._parameters.max_tokens - SPARE_TOKENS - used

    def _readable_tokens(self, usual: int) -> int:
        """Return the tokens of papers that can be read in time, `usual` if the speed is not known."""
        speed, seconds = self._counts.tokens_per_second(self._model.id), self._options.reading_seconds
        if speed is None or seconds is None:
            return usual
        return max(LEAST_EVIDENCE, min(usual, round(speed * seconds)))

    def _ask(
        self,
        step: Step,
        messages: tuple[Message, ...],
        parameters: Parameters,
        log: CallLog,
        *,
        left_out: tuple[str, ...] = (),
        enough: Enough | None = None,
    ) -> Iteration[str, None, Completion]:
        started, clock = datetime.now(UTC), time.monotonic()
        first_token_seconds: float | None = None

        def timed(piece: str) -> str:
            nonlocal first_token_seconds
            if piece and first_token_seconds is None:
                first_token_seconds = time.monotonic() - clock
            return piece

        completion = yield from relay(self._model.stream(messages, parameters, enough), timed)
        seconds = time.monotonic() - clock
        sent = Exchange(messages, completion, started.isoformat(timespec="milliseconds"), seconds)
        log.add(
            call_of(
                step,
                self._model.id,
                sent,
                parameters,
                self._price,
                left_out=left_out,
                first_token_seconds=first_token_seconds,
            )
        )
        return completion


def _hide(_: str) -> str:
    """Return an empty piece, which only shows that a reply is awaited."""
    return ""


def _passage_ids(evidence: Evidence) -> tuple[str, ...]:
    return tuple(passage.id for paper in evidence.papers for passage in paper.passages)


def rewrite_read(reply: str, finish_reason: str, question: str, history: tuple[Turn, ...]) -> Rewrite:
    """Return the search query of a model's reply, or the one that rules make if it is not usable."""
    by_words = rewrite_from_words(question, history)
    # An incomplete query would search for something else, or be a model's thoughts.
    query = "" if finish_reason in _CUT else _read_query(reply)
    language = foreign_language(question)
    if language:
        is_translated = query and not foreign_language(query) and _fits(query, question, history)
        return (
            Rewrite(question, query, shown_turns(history), language=language) if is_translated else by_words
        )
    if not query or not _fits(query, question, history) or _has_lost_subject(query, question, by_words):
        return by_words
    return Rewrite(question, query, shown_turns(history))


def part_query_read(reply: str, finish_reason: str, part: str, rewrite: Rewrite) -> str:
    """Return the query of a model's reply for an open part, or the one that rules make."""
    query = "" if finish_reason in _CUT else _read_query(reply)
    is_usable = query and _fits(query, part, ()) and not foreign_language(query)
    return query if is_usable else query_from_part(part, rewrite.searched_for)


def holds_query(reply: str) -> bool:
    """Return True if a partial reply holds a complete query, or a line too long for one."""
    *lines, last = reply.splitlines() or [""]
    return bool(last.strip() and _read_query("\n".join(lines))) or len(last) > QUERY_LENGTH


def _has_lost_subject(query: str, question: str, by_words: Rewrite) -> bool:
    """Return True if a follow-up needs words of earlier turns, and the query does not have any."""
    question_stems = stems(question)
    return not stems(by_words.search_query) <= question_stems and stems(query) <= question_stems


def _read_query(reply: str) -> str:
    """Return the first line of a reply that is a query, without labels or quotation marks; "" for none."""
    for line in storable(reply).splitlines():
        bare = _QUERY_PREFIX.sub("", _LABEL.sub("", line[:LONGEST_LINE]).lstrip("# "), count=1)
        query = " ".join(_unquoted(bare.strip()).split())
        # "Here is the query:" announces the query on the next line, and a fence holds none.
        if query and not query.endswith(":") and not query.startswith("```"):
            if is_repeated(query) or query.startswith((ASKED, ANSWERED)) or _THINKS_ALOUD.match(query):
                return ""
            # Several sentences are an answer, not a query; braces are JSON where a line was asked for.
            is_query = len(sentence_spans(query)) == 1 and not query.startswith(("{", "[{"))
            return _shorten(query, QUERY_LENGTH) if is_query else ""
    return ""


def _unquoted(line: str) -> str:
    """Return a line without the quotes or marks around all of it."""
    opened = line.lstrip(_OPENING)
    if len(line) < 2 or opened == line or line[-1] not in _CLOSING:
        return line
    inside = opened.rstrip(_CLOSING)
    return line if _NOT_INSIDE.intersection(inside) else inside


def _fits(query: str, question: str, history: tuple[Turn, ...]) -> bool:
    """Return True if a query shares a word with the question or an earlier turn.

    Any query fits a question that names no subject or is in another language.
    """
    titles = [paper.paper.title for turn in history for paper in turn.evidence.papers]
    earlier = [text for turn in history for text in (turn.question, turn.rewrite.search_query)]
    named = (question, *titles, *earlier)
    answers = [turn.answer.text for turn in history]
    if _MARKUP.search(query) or (not foreign_language(question) and tells_example(query, (*named, *answers))):
        return False
    known_words = vocabulary()
    asking = known_words.frame | known_words.aspects | known_words.verbs | known_words.judging
    if foreign_language(question) or all(word in asking for word in content_words(question)):
        return True
    known, searched = stems(" ".join(named)), stems(query)
    return any(holds(searched, word) for word in known) or any(holds(known, word) for word in searched)


def _shorten(text: str, length: int) -> str:
    return text if len(text) <= length else text[:length].rpartition(" ")[0] or text[:length]
