"""Questions put to the whole system, by each generator in turn; what fails costs one question."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from assistant.chat import Assistant
from assistant.generators import EXTRACTIVE, check_choice, generator_choices
from assistant.models import ModelError, ModelUnavailableError
from assistant.records import AnswerSentence, AssistantError, Turn
from corpus.errors import CorpusError
from corpus.records import Scope
from corpus.wording import counted
from evaluation.answers.asking import ask, open_assistant
from evaluation.input_files import EvaluationError
from evaluation.tables.records import Asked, Missing
from evaluation.tables.replies import KeptModel, KeptReplies, replies_file
from indexer.errors import SourceError

Value = TypeVar("Value")

# So many errors, with no answer before them, are no fault of single questions.
MOST_ERRORS = 8
IDS_NAMED = 5


@dataclass(frozen=True, slots=True)
class SystemQuestion:
    """A question as a system is asked it: of what, and after which turns."""

    id: str
    text: str
    scope: Scope
    history: tuple[Turn, ...] = ()


@dataclass(frozen=True, slots=True)
class SystemAnswer:
    """What became of a question: its turn, or the problem that came in its place."""

    question: SystemQuestion
    turn: Turn | None
    problem: str = ""

    @property
    def is_refused(self) -> bool:
        return self.turn is not None and self.turn.answer.refusal is not None

    @property
    def is_answered(self) -> bool:
        return self.turn is not None and not self.is_refused

    @property
    def sentences(self) -> tuple[AnswerSentence, ...]:
        return self.turn.answer.sentences if self.turn else ()


def generators(asked: Asked) -> Iterator[str | Missing]:
    """Yield the names of all that is to answer, and what is missing for it: always without a model first."""
    yield EXTRACTIVE
    if not asked.models:
        there = ", ".join(one.name for one in generator_choices(asked.settings) if one.name != EXTRACTIVE)
        none = (
            "none. Set TOGETHER_API_KEY, PAPER_TRAIL_MODEL_URL for a server of your own, or"
            " PAPER_TRAIL_LOCAL_MODEL for a model of this machine"
        )
        yield Missing("a model that answers", f"name it: --model ID. There are: {there or none}.")
    for name in dict.fromkeys(asked.models):
        if name == EXTRACTIVE:
            continue
        try:
            check_choice(name, asked.settings, None)
        except AssistantError as error:
            yield Missing(name, str(error))
        else:
            yield name


def generator_inputs(asked: Asked, name: str) -> Mapping[str, object]:
    """Return all that answers depend on besides the questions, the corpus and our code."""
    settings = asked.settings
    choice = check_choice(name, settings, None)
    return {
        "generator": name,
        "encoder": settings.encoder,
        "runtime": settings.encoder_runtime,
        **({"model": choice[0].model_dump_json(), "parameters": repr(choice[1])} if choice else {}),
    }


def open_system(asked: Asked, home: Path, generator: str) -> Assistant:
    """Return what answers from a home; the replies of a model are kept. Raises CorpusError."""
    return open_assistant(
        home,
        generator,
        asked.settings,
        lambda model: KeptModel(model, KeptReplies(replies_file(asked.out, model.id))),
    )


def answer_all(assistant: Assistant, questions: Sequence[SystemQuestion], at_once: int) -> list[SystemAnswer]:
    """Return what becomes of all questions in their order, a model being asked so many at once.

    Raises ModelError where the model cannot be asked, or fails from the start.
    """
    workers = 1 if assistant.generator.name == EXTRACTIVE else at_once
    answers: list[SystemAnswer] = []
    with ThreadPoolExecutor(workers) as pool:
        for answer in pool.map(lambda question: _answer(assistant, question), questions):
            answers.append(answer)
            if sum(bool(one.problem) for one in answers) >= MOST_ERRORS:
                _check_writes(answers)
    _check_writes(answers)
    return answers


def _check_writes(answers: Sequence[SystemAnswer]) -> None:
    """Raise ModelError where there are problems alone besides what was refused before a model was asked."""
    problems = [one.problem for one in answers if one.problem]
    if problems and not any(one.turn.calls for one in answers if one.turn):
        raise ModelError(problems[0])


def _answer(assistant: Assistant, question: SystemQuestion) -> SystemAnswer:
    try:
        turn = ask(assistant, question.text, question.history, question.scope).turn
    except ModelUnavailableError:
        # No fault of the question: what has come is kept, and the next run goes on.
        raise
    except AssistantError as error:
        return SystemAnswer(question, None, error.fault)
    if "interrupted" in turn.answer.problems:
        raise ModelUnavailableError(
            f"The reply to {question.id} ended in the middle.",
            "What was replied is kept: the same command goes on.",
        )
    return SystemAnswer(question, turn)


def failures_said(answers: Sequence[SystemAnswer]) -> list[str]:
    """Return what is said of questions that got no answer, nothing where all did."""
    failed = [answer for answer in answers if answer.problem]
    if not failed:
        return []
    ids = ", ".join(answer.question.id for answer in failed[:IDS_NAMED])
    more = f" and {len(failed) - IDS_NAMED:,} more" if len(failed) > IDS_NAMED else ""
    problem = failed[0].problem.rstrip(".")
    return [f"no answer to {counted(len(failed), 'question')}, counted as wrong ({ids}{more}): {problem}"]


def share(part: int, whole: int) -> float:
    """Return a percentage, 0 of nothing."""
    return 100 * part / whole if whole else 0.0


def once(work: Callable[[], Value]) -> Callable[[], Value]:
    """Return work that is done when it is first wanted; what it returned or raised then is had again."""
    done: Future[Value] = Future()

    def had() -> Value:
        if not done.done():
            try:
                done.set_result(work())
            except (AssistantError, CorpusError, EvaluationError, SourceError) as error:
                done.set_exception(error)
        return done.result()

    return had
