"""TruthReader, Table 6: the same questions after none, a relevant, an irrelevant history, and both."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from assistant.generators import EXTRACTIVE
from assistant.records import Turn
from evaluation.answers.query_contexts import HISTORIES, HistoryKind
from evaluation.input_files import EvaluationError
from evaluation.judged import JudgedQuestion
from evaluation.tables.records import Asked, Column, Missing, Planned, Row, RowPlan, Say, SeedTable
from evaluation.tables.systems.answering import (
    SystemQuestion,
    answer_all,
    generator_inputs,
    generators,
    once,
    open_system,
)
from evaluation.tables.systems.asked_twice import AnsweredTwice, ask_twice, notes_on, right_and_refused
from evaluation.tables.systems.judged_questions import (
    ChosenQuestion,
    homes_missing,
    question_inputs,
    questions_here,
)
from evaluation.tables.systems.truthreader_histories import HISTORIES_NAMED

QUESTIONS = 30


@dataclass(frozen=True, slots=True)
class _Histories:
    """Histories of one kind, of the turns that may come before by the ids of their questions."""

    kind: HistoryKind
    earlier: Callable[[], Mapping[str, Turn]]

    def before(self, question: ChosenQuestion) -> tuple[Turn, ...]:
        """Return the turns before a question: where there are both, the subject has changed to its own."""
        relevant = (question.relevant.id,) if self.kind in ("relevant", "both") else ()
        irrelevant = (question.irrelevant.id,) if self.kind in ("irrelevant", "both") else ()
        return tuple(self.earlier()[one] for one in (*irrelevant, *relevant))


def _plan(asked: Asked, say: Say) -> Planned:
    questions = questions_here(asked, asked.limit or QUESTIONS)
    yield from homes_missing(asked)
    if not questions:
        return
    earlier = once(partial(_earlier, asked, questions, say))
    for name in generators(asked):
        if isinstance(name, Missing):
            yield name
            continue
        for kind in HISTORIES:
            inputs = {
                **generator_inputs(asked, name),
                **question_inputs(asked, questions),
                "history": kind,
            }
            system = f"{name}, {HISTORIES_NAMED[kind]}"
            yield RowPlan(
                system, inputs, partial(_row, asked, name, questions, _Histories(kind, earlier), say)
            )


def _earlier(asked: Asked, questions: Sequence[ChosenQuestion], say: Say) -> Mapping[str, Turn]:
    """Return the turns that may come before, by the ids of their questions.

    They are answered without a model, so that all generators have the same histories.
    """
    turns: dict[str, Turn] = {}
    before = {one.id: one for chosen in questions for one in (chosen.relevant, chosen.irrelevant)}
    for name in sorted({one.corpus for one in before.values()}):
        here = [one for one in before.values() if one.corpus == name]
        say(f"{len(here)} questions of {name} that come before others.")
        assistant = open_system(asked, asked.homes[name], EXTRACTIVE)
        for answer in answer_all(assistant, list(map(_question, here)), 1):
            if answer.turn is None:
                raise EvaluationError(f"{answer.question.id} cannot be asked: {answer.problem}")
            turns[answer.question.id] = answer.turn
    return turns


def _question(judged: JudgedQuestion) -> SystemQuestion:
    return SystemQuestion(judged.id, judged.question, judged.scope)


def _row(
    asked: Asked, generator: str, questions: Sequence[ChosenQuestion], histories: _Histories, say: Say
) -> Row:
    answered = ask_twice(asked, generator, questions, say, histories.before)
    notes = [*notes_on(answered), *_histories_said(answered)]
    system = f"{generator}, {HISTORIES_NAMED[histories.kind]}"
    return Row(system, right_and_refused(answered), note="; ".join(notes))


def _histories_said(answered: Sequence[AnsweredTwice]) -> Iterator[str]:
    """Yield how far the rewriting saw that a question stands alone, and how many histories are refusals."""
    before = [turn for one in answered for turn in one.whole.question.history]
    if not before:
        return
    leant = [
        answer.turn
        for one in answered
        for answer in (one.whole, one.swapped)
        if answer.turn and answer.turn.rewrite.used_turns
    ]
    yield f"{len(leant)} of {2 * len(answered)} were searched for in the light of their history"
    if refused := sum(turn.answer.refusal is not None for turn in before):
        yield f"{refused} of the {len(before)} turns before them are refusals"


TABLE = SeedTable(
    name="truthreader-robustness",
    seed="TruthReader",
    number="Table 6",
    title="answers and refusals after four kinds of history",
    columns=(Column("answer accuracy", 2), Column("refusal recall", 2)),
    sets=(),
    plan=_plan,
    asks_corpora=True,
    remarks=(
        "Of what TruthReader prints there only the table's number is known here. Questions and figures are"
        f" those of truthreader-answers, the first {QUESTIONS} of them by default; what is said there of how"
        " they are counted holds here.",
        "A relevant history is another judged question that most of the same papers answer or, where there"
        " is none, were found for; an irrelevant one is answered by other papers. Both: first the irrelevant"
        " one. Their answers are ours without a model, for all generators.",
        "The questions can all be read alone, so none needs a history: what is measured is whether it harms.",
    ),
)
