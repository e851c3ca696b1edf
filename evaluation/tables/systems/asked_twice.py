"""Judged questions asked of the whole system twice: with their context, and with that swapped."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from assistant.records import Turn
from evaluation.tables.records import Asked, Say
from evaluation.tables.systems.answering import (
    SystemAnswer,
    SystemQuestion,
    answer_all,
    failures_said,
    open_system,
    share,
)
from evaluation.tables.systems.judged_questions import (
    ChosenQuestion,
    answers_fully,
    check_held,
    read_chosen,
)

HistoryBefore = Callable[[ChosenQuestion], tuple[Turn, ...]]


@dataclass(frozen=True, slots=True)
class AnsweredTwice:
    """What became of a question, and of the same with its context swapped."""

    chosen: ChosenQuestion
    whole: SystemAnswer
    swapped: SystemAnswer


def no_history(question: ChosenQuestion) -> tuple[Turn, ...]:  # noqa: ARG001
    return ()


def ask_twice(
    asked: Asked,
    generator: str,
    questions: Sequence[ChosenQuestion],
    say: Say,
    history: HistoryBefore = no_history,
) -> list[AnsweredTwice]:
    """Return what becomes of all questions, corpus by corpus.

    Raises EvaluationError, CorpusError and AssistantError.
    """
    answered: list[AnsweredTwice] = []
    for name in dict.fromkeys(one.judged.corpus for one in questions):
        here = [one for one in questions if one.judged.corpus == name]
        assistant = open_system(asked, asked.homes[name], generator)
        check_held(name, asked.homes[name], assistant.corpus, here)
        say(f"{generator}: {len(here)} questions of {name}, twice.")
        wanted = [question for one in here for question in _twice(one, history(one))]
        answers = answer_all(assistant, wanted, asked.settings.model_calls)
        answered += map(AnsweredTwice, here, answers[::2], answers[1::2])
    return answered


def _twice(one: ChosenQuestion, history: tuple[Turn, ...]) -> Iterator[SystemQuestion]:
    judged = one.judged
    yield SystemQuestion(judged.id, judged.question, judged.scope, history)
    yield SystemQuestion(f"{judged.id} swapped", judged.question, one.swapped, history)


def right_and_refused(answered: Sequence[AnsweredTwice]) -> dict[str, float]:
    """Return the shares of questions answered rightly, and of those with swapped contexts refused."""
    right = sum(answers_fully(one.whole, one.chosen.judged) for one in answered)
    refused = sum(one.swapped.is_refused for one in answered)
    return {
        "answer accuracy": share(right, len(answered)),
        "refusal recall": share(refused, len(answered)),
    }


def notes_on(answered: Sequence[AnsweredTwice]) -> Iterator[str]:
    """Yield what has to be known of a row: which questions it is of, and what went wrong."""
    corpora = Counter(one.chosen.judged.corpus for one in answered)
    told = ", ".join(f"{name} {count}" for name, count in corpora.items())
    yield f"{len(answered)} of {len(read_chosen())} questions ({told})"
    yield f"{sum(one.whole.is_refused for one in answered)} refused that can be answered"
    yield from failures_said([answer for one in answered for answer in (one.whole, one.swapped)])
