"""The answer in the papers' own sentences, which stands in where a model's reply cannot be used."""

from dataclasses import replace
from typing import Protocol

from assistant.checking.mending.carried import Mend, with_found
from assistant.checking.scores.relevance import is_off
from assistant.generators.protocol import Generator
from assistant.models.protocol import whole
from assistant.own_words import OwnWords, as_list, claims_of
from assistant.ranking.evidence import RankedEvidence
from assistant.ranking.gate import cannot_answer
from assistant.records import Answer, AskOptions, CallLog, Draft, RequestKind, Turn
from corpus.wording import counted

# A small model's answer to these has to cite as many papers as the extractive one.
TELLS_OF_SEVERAL = ("comparison", "synthesis")
# A model's shorter wording scores a little lower: its relevance may be this share of the extractive one.
NEARLY = 0.95


class Checker(Protocol):
    """Makes a checked answer of a draft."""

    def __call__(self, draft: Draft, mend: Mend = ...) -> Answer: ...


class StandIn:
    """The extractive answer, written when it is first needed."""

    def __init__(
        self, writer: Generator, found: RankedEvidence, history: tuple[Turn, ...], check: Checker
    ) -> None:
        self._writer = writer
        self._found = found
        self._history = history
        self._check = check
        self._answer: Answer | None = None

    @property
    def answer(self) -> Answer | None:
        """The checked extractive answer, None if the gate refuses."""
        if self._answer is None and not cannot_answer(self._found):
            draft = whole(self._writer.write_draft(self._found, self._history, CallLog()))
            self._answer = self._check(draft, mend="nothing")
        return self._answer

    def improve(self, answer: Answer, writer: str, options: AskOptions) -> Answer:
        """Return the answer of `writer`, or the extractive one if that refuses or misses the question.

        Nothing stands in if the gate refuses.
        """
        kind = self._found.plan.kind
        if options.careful and options.finds_citations and kind == "list":
            standing = self.answer
            return answer if standing is None or standing.refusal else self._as_list(answer, standing, writer)
        if not options.finds_citations or not (answer.refusal or options.careful):
            return answer
        is_sound = not (answer.refusal or is_off(answer) or answer.not_carried)
        if is_sound and kind not in TELLS_OF_SEVERAL:
            return answer
        standing = self.answer
        if standing is None or standing.refusal or _is_better(answer, standing, kind):
            return answer
        return _standing_in(standing, answer, writer)

    def _as_list(self, answer: Answer, standing: Answer, writer: str) -> Answer:
        """Return the extractive list of papers, in the model's words where it has some."""
        listed, missing = as_list(answer, standing, self._found.evidence)
        if not listed.text:
            return _standing_in(standing, answer, writer)
        again = check_again(answer, listed, self._check)
        remark = f"Quoted from papers that the model left out: {counted(missing, 'line')}." if missing else ""
        return replace(again, remark=remark)


def check_again(answer: Answer, rewritten: OwnWords, check: Checker) -> Answer:
    """Check an answer's rewritten text, and keep the problems and removed sentences of its draft."""
    again = check(Draft(rewritten.text), mend="nothing")
    return replace(
        again,
        sentences=with_found(again.sentences, claims_of(again, rewritten.found)),
        problems=tuple(dict.fromkeys((*answer.problems, *again.problems))),
        not_carried=answer.not_carried,
    )


def _standing_in(standing: Answer, answer: Answer, writer: str) -> Answer:
    remark = _remark(answer, standing)
    return replace(standing, stands_in_for=writer, remark=remark, problems=answer.problems)


def _is_better(answer: Answer, standing: Answer, kind: RequestKind) -> bool:
    """Return True if a small model's checked answer is to be shown, and not the extractive one."""
    if answer.refusal or (kind in TELLS_OF_SEVERAL and _cites_fewer(answer, standing)):
        return False
    relevance, other = answer.relevance or 0.0, standing.relevance or 0.0
    if is_off(answer):
        return relevance >= other
    if answer.not_carried:
        return kind != "comparison" and relevance >= NEARLY * other
    return True


def _cites_fewer(answer: Answer, standing: Answer) -> bool:
    return len(answer.cited_labels) < len(standing.cited_labels)


def _remark(answer: Answer, standing: Answer) -> str:
    """Return why an answer was not used, for the reader."""
    if answer.refusal:
        return answer.refusal.message
    if is_off(answer):
        return "What it wrote may miss the question."
    if answer.not_carried:
        return "The papers support only part of what it wrote."
    if _cites_fewer(answer, standing):
        return "It wrote of fewer papers than this answer does."
    return "It names none of the papers that fit."
