"""A generator that asks a chat model, with the prompts of `assistant/prompts`."""

import re
import time
from collections.abc import Generator as Iteration
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from itertools import groupby, islice

from assistant.models.protocol import ChatModel, Completion, ModelError
from assistant.prompts.render import as_data, as_line, load_prompt, mark
from assistant.records import (
    Call,
    CallLog,
    Draft,
    Evidence,
    LabelledPaper,
    Message,
    Parameters,
    Rewrite,
    Step,
    Turn,
)
from corpus.records import Passage
from corpus.sentences import sentence_spans
from corpus.text import storable

TURNS_SHOWN = 4
QUESTION_WORDS = 60
ANSWER_WORDS = 120
TITLE_WORDS = 10
QUERY_LENGTH = 300
AUTHORS_SHOWN = 6
SPARE_TOKENS = 200
# English has about four bytes to a token, other scripts three or a little less: three errs on the safe side.
BYTES_PER_TOKEN = 3

_LABEL = re.compile(r"\s*\[(\d+)\]")
_QUERY_PREFIX = re.compile(
    r"^\s*(?:[-*•]\s+)?[*_]*(?:(?:rewritten|final|search)\s+)*(?:query|question)[*_]*\s*:[*_]*", re.IGNORECASE
)
_QUOTED = re.compile(r"^\s*[\"'`“‘«*_]+([^\"`“”«»]*?)[\"'`”’»*_]+\s*$")


class PromptedGenerator:
    """A chat model that writes with our prompts.

    `context` is what the model takes in, in tokens, its reply included; evidence is trimmed to it by whole
    passages. A call is logged when its reply is complete, never half.
    """

    def __init__(
        self, model: ChatModel, *, context: int = 32_768, parameters: Parameters | None = None
    ) -> None:
        self._model = model
        self._context = context
        self._parameters = parameters or Parameters()
        self._rewrite_prompt = load_prompt("rewrite")
        self._answer_prompt = load_prompt("answer")

    @property
    def name(self) -> str:
        return self._model.id

    @property
    def label(self) -> str:
        return self._model.label

    def rewrite_question(self, question: str, history: tuple[Turn, ...], log: CallLog) -> Rewrite:
        """Return the search query the model makes of `question`; the question itself where it makes none."""
        messages = self._rewrite_prompt.render(question=as_data(question), history=_render_history(history))
        # As exact as the model can be: the same question should search for the same thing.
        parameters = replace(self._parameters, temperature=0.0)
        query = _read_query(_drain(self._ask("rewrite", messages, parameters, log)).text)
        if not query:
            return Rewrite(question, question)
        first_shown = max(0, len(history) - TURNS_SHOWN)
        return Rewrite(question, query, tuple(range(first_shown, len(history))))

    def write_draft(
        self, rewrite: Rewrite, history: tuple[Turn, ...], evidence: Evidence, log: CallLog
    ) -> Iteration[str, None, Draft]:
        """Yield the draft piece by piece as it is written, then return it whole; raises ModelError."""
        messages = self._answer_messages(rewrite.question, history, evidence)
        completion = yield from self._ask("write", messages, self._parameters, log)
        if not completion.text.strip():
            raise ModelError(
                f"{self.label} wrote nothing (it ended with {completion.finish_reason!r})."
                " Your question is kept; retry or choose another writer."
            )
        return Draft(completion.text, completion.finish_reason)

    def _answer_messages(
        self, question: str, history: tuple[Turn, ...], evidence: Evidence
    ) -> tuple[Message, ...]:
        values = {"question": as_data(question), "history": _render_history(history)}
        bare = self._answer_prompt.render(papers="", **values)
        room = self._context - self._parameters.max_tokens - SPARE_TOKENS
        room -= sum(_estimate_tokens(message.content) for message in bare)
        fitting = _fit_evidence(evidence, room)
        if evidence.papers and not fitting.papers:
            raise ModelError(
                f"The question and a single passage are more than {self.label} can take in"
                f" ({self._context} tokens). Ask more briefly, or choose a writer with a longer context."
            )
        return self._answer_prompt.render(papers=_render_evidence(fitting), **values)

    def _ask(
        self, step: Step, messages: tuple[Message, ...], parameters: Parameters, log: CallLog
    ) -> Iteration[str, None, Completion]:
        started, clock = datetime.now(UTC), time.monotonic()
        completion = yield from self._model.stream(messages, parameters)
        log.add(
            Call(
                step=step,
                model=self._model.id,
                messages=messages,
                parameters=parameters,
                reply=completion.text,
                started=started.isoformat(timespec="milliseconds"),
                seconds=time.monotonic() - clock,
                finish_reason=completion.finish_reason,
                prompt_tokens=completion.prompt_tokens,
                completion_tokens=completion.completion_tokens,
            )
        )
        return completion


def _drain(reply: Iteration[str, None, Completion]) -> Completion:
    """Return the whole reply, without its pieces."""
    while True:
        try:
            next(reply)
        except StopIteration as end:
            completion: Completion = end.value
            return completion


def _read_query(reply: str) -> str:
    """Return the first line of a reply that holds a query, without a label or quotation marks round it."""
    for line in storable(reply).splitlines():
        bare = _QUERY_PREFIX.sub("", _LABEL.sub("", line).lstrip("# "), count=1)
        query = " ".join(_QUOTED.sub(r"\1", bare).split())
        # "Here is the query:" announces the query on the next line, and a fence holds none.
        if query and not query.endswith(":") and not query.startswith("```"):
            # Several sentences are an answer, not a query.
            return "" if len(sentence_spans(query)) > 1 else _shorten(query, QUERY_LENGTH)
    return ""


def _shorten(text: str, length: int) -> str:
    return text if len(text) <= length else text[:length].rpartition(" ")[0] or text[:length]


def _render_history(history: tuple[Turn, ...]) -> str:
    """Return the last turns, oldest first, each question with the answer it was given."""
    if not history:
        return "(none: this is the first question)"
    first = max(0, len(history) - TURNS_SHOWN)
    return "\n\n".join(_render_turn(number, turn) for number, turn in enumerate(history[first:], start=1))


def _render_turn(number: int, turn: Turn) -> str:
    answer = (
        turn.answer.refusal.message if turn.answer.refusal else _name_cited(turn.answer.text, turn.evidence)
    )
    return "\n".join(
        (
            mark(f"turn {number}"),
            f"The reader asked: {_first_words(as_line(turn.question), QUESTION_WORDS)}",
            f"The answer was: {_first_words(as_line(answer), ANSWER_WORDS)}",
            mark(f"end of turn {number}"),
        )
    )


def _name_cited(answer: str, evidence: Evidence) -> str:
    """Return an earlier answer with its papers' titles at the labels, which name other papers by now."""

    def named(label: re.Match[str]) -> str:
        cited = evidence.paper(int(label[1]))
        return f" 〔{label[1]}: {_first_words(as_line(cited.paper.title), TITLE_WORDS)}〕" if cited else ""

    return _LABEL.sub(named, answer)


def _first_words(text: str, limit: int) -> str:
    words = text.split()
    return text if len(words) <= limit else " ".join(words[:limit]) + " …"


def _render_evidence(evidence: Evidence) -> str:
    return "\n\n".join(_render_paper(paper) for paper in evidence.papers) or "(none)"


def _render_paper(labelled: LabelledPaper) -> str:
    passages = sorted(labelled.passages, key=lambda passage: passage.number)
    return "\n".join(
        (
            _render_paper_start(labelled),
            *map(_render_passage, passages),
            mark(f"end of paper {labelled.label}"),
        )
    )


def _render_paper_start(labelled: LabelledPaper) -> str:
    paper = labelled.paper
    names = [author.name for author in islice(paper.authors, AUTHORS_SHOWN)]
    names += ["and others"] if len(paper.authors) > AUTHORS_SHOWN else []
    return "\n".join(
        (
            f"[{labelled.label}] {mark(f'paper {labelled.label}')}",
            f"Title: {as_line(paper.title)}",
            f"Authors: {as_line(', '.join(names)) or 'unknown'}",
            f"Year: {paper.year or 'unknown'}",
        )
    )


def _render_passage(passage: Passage) -> str:
    section = passage.section_path or passage.kind
    page = "" if passage.page is None else f", page {passage.page}"
    return f"{mark(f'passage: {section}{page}')}\n{as_data(passage.text)}"


def _fit_evidence(evidence: Evidence, room: int) -> Evidence:
    """Return as much of the evidence as fits into `room` tokens, by whole passages.

    What goes first are the later passages of the lowest ranked papers; a paper without passages goes too.
    """
    kept: list[tuple[LabelledPaper, Passage]] = []
    started: set[int] = set()
    for labelled, passage in _in_rank_order(evidence):
        room -= _estimate_tokens(_render_passage(passage))
        room -= (
            0
            if labelled.label in started
            else _estimate_tokens(_render_paper(replace(labelled, passages=())))
        )
        if room < 0:
            break
        started.add(labelled.label)
        kept.append((labelled, passage))
    papers = groupby(kept, key=lambda pair: pair[0])
    return Evidence(tuple(replace(paper, passages=tuple(p for _, p in pairs)) for paper, pairs in papers))


def _in_rank_order(evidence: Evidence) -> Iterator[tuple[LabelledPaper, Passage]]:
    for labelled in sorted(evidence.papers, key=lambda paper: paper.label):
        for passage in sorted(labelled.passages, key=lambda passage: passage.number):
            yield labelled, passage


def _estimate_tokens(text: str) -> int:
    return len(text.encode()) // BYTES_PER_TOKEN + 1
