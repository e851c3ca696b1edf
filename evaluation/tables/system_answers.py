"""Asks the whole system questions with each generator, and measures GenGO Ultra's Table 4."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from assistant.chat import Assistant
from assistant.generators.choice import check_choice, generator_choices
from assistant.generators.protocol import EXTRACTIVE
from assistant.models.menu import describe_setup
from assistant.models.protocol import ModelError, ModelUnavailableError
from assistant.records import AnswerSentence, AssistantError, Conversation, Turn
from assistant.trail.transcript import to_json
from corpus.encoder_choice import open_encoder
from corpus.records import Scope
from corpus.wording import counted
from evaluation.answers.asking import ask, open_assistant
from evaluation.answers.judge import JudgedAnswers, judge_answers
from evaluation.answers.judge_agreement import judge_agreement
from evaluation.answers.questions import QUESTIONS, WrittenQuestion, read_judged, read_questions
from evaluation.harness import FAILURES, list_ids, mean, say
from evaluation.input_files import EvaluationError, home_folder
from evaluation.judging import open_judge
from evaluation.reply_cache import replies_file
from evaluation.tables.harness import Missing, PlannedRows, Row, RowPlan, TableOptions, once, seed_table
from indexer.build.run import build_collections
from indexer.sources.demo import demo_volumes

# After this many errors without any answer, the model is at fault and the measurement ends.
ERRORS_TO_STOP = 8
MARKS = ("coherence", "consistency", "fluency", "relevance")


@dataclass(frozen=True, slots=True)
class SystemAnswer:
    """A question with its scope and history, and once asked, its turn or the problem."""

    id: str
    question: str
    scope: Scope
    history: tuple[Turn, ...] = ()
    turn: Turn | None = None
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

    def answered_by(self, assistant: Assistant, *, as_shown: bool = False) -> "SystemAnswer":
        """Ask the question and return it with its turn or problem; raises ModelUnavailableError."""
        try:
            turn = ask(assistant, self.question, self.history, self.scope, as_shown=as_shown).turn
        except ModelUnavailableError:
            raise
        except AssistantError as error:
            return replace(self, problem=error.fault)
        if "interrupted" in turn.answer.problems:
            raise ModelUnavailableError(
                f"The reply to {self.id} ended in the middle.",
                "Complete replies are stored: run the same command again to go on.",
            )
        return replace(self, turn=turn)


def choose_generators(options: TableOptions) -> tuple[list[str], list[Missing]]:
    """Return the generators to measure, first the one without a model, and the models that are missing."""
    names, missing = [EXTRACTIVE], list[Missing]()
    if not options.models:
        choices = [choice.name for choice in generator_choices(options.settings)]
        models = ", ".join(name for name in choices if name != EXTRACTIVE)
        none = f"none. Set {describe_setup()}"
        missing.append(Missing("a model that answers", f"name it: --model ID. There are: {models or none}."))
    for name in dict.fromkeys(options.models):
        try:
            check_choice(name, options.settings, None)
        except AssistantError as error:
            missing.append(Missing(name, str(error)))
        else:
            names += [name] if name != EXTRACTIVE else []
    return names, missing


def generator_inputs(options: TableOptions, name: str) -> Mapping[str, object]:
    """Return everything that answers depend on except the questions, the corpus and our code."""
    settings = options.settings
    choice = check_choice(name, settings, None)
    model = {"model": choice[0].model_dump_json(), "parameters": repr(choice[1])} if choice else {}
    return {"generator": name, "encoder": settings.encoder, "runtime": settings.encoder_runtime, **model}


def answer_all(
    assistant: Assistant, questions: Sequence[SystemAnswer], at_once: int, *, as_shown: bool = False
) -> list[SystemAnswer]:
    """Ask all questions and return them with their answers, in order.

    Raises ModelError if the model cannot be asked or its first calls all fail.
    """
    workers = 1 if assistant.generator.name == EXTRACTIVE else at_once
    answers: list[SystemAnswer] = []
    with ThreadPoolExecutor(workers) as pool:
        for answer in pool.map(
            lambda question: question.answered_by(assistant, as_shown=as_shown), questions
        ):
            answers.append(answer)
            if sum(bool(earlier.problem) for earlier in answers) >= ERRORS_TO_STOP:
                _check_model(answers)
    _check_model(answers)
    return answers


def _check_model(answers: Sequence[SystemAnswer]) -> None:
    """Raise ModelError if every question that reached the model failed."""
    problems = [answer.problem for answer in answers if answer.problem]
    if problems and not any(answer.turn.calls for answer in answers if answer.turn):
        raise ModelError(problems[0])


def failure_notes(answers: Sequence[SystemAnswer]) -> list[str]:
    """Return a note on the questions that got no answer, if there are any."""
    failed = [answer for answer in answers if answer.problem]
    if not failed:
        return []
    ids, problem = list_ids([answer.id for answer in failed]), failed[0].problem.rstrip(".")
    return [f"no answer to {counted(len(failed), 'question')}, counted as wrong ({ids}): {problem}"]


def percent(part: int, whole: int) -> float:
    return 100 * part / whole if whole else 0.0


def _system_plan(options: TableOptions) -> PlannedRows:
    """Plan GenGO Ultra's Table 4: 25 questions to the demonstration, with marks by a judge."""
    questions = demo_questions()[: options.limit]
    names, missing = choose_generators(options)
    yield from missing
    if problem := judge_problem(options):
        yield Missing(f"marks for {', '.join(MARKS)}", problem)
    home = once(partial(_demo_home, options))
    answers = {name: once(partial(_demo_answers, options, name, questions, home)) for name in names}
    marks = None if problem else once(partial(_judge_systems, options, answers, home))
    for name in names:
        # The judge sees all systems in one prompt, so the marks of each depend on the others.
        others = names if marks else [name]
        inputs = {
            "generators": {other: generator_inputs(options, other) for other in others},
            "judge": options.judge if marks else "",
            "questions": QUESTIONS,
            "home": home_folder(options.homes["demo"]) / "corpus" if "demo" in options.homes else "built",
            "limit": options.limit,
        }
        yield RowPlan(name, inputs, partial(_system_row, name, answers[name], questions, marks))


def judge_problem(options: TableOptions) -> str:
    """Describe why no judge can be opened, "" if one can."""
    if not options.judge:
        return "name a judge: --judge ID."
    try:
        open_judge(options.judge, options.settings)
    except EvaluationError as error:
        return str(error)
    return ""


def demo_questions() -> list[WrittenQuestion]:
    """Return the 25 questions without history that the demonstration answers."""
    rows = (row for _, row in read_questions(QUESTIONS, corpus="demo"))
    return [row for row in rows if row.expect == "answer" and not row.history]


def _demo_home(options: TableOptions) -> Path:
    """Return the home of the demonstration; build it in the folder of results if none is named."""
    if "demo" in options.homes:
        return options.homes["demo"]
    home = options.out / SYSTEM.name / "home"
    say(f"Building the demonstration in {home}.")
    settings = options.settings.model_copy(update={"home": home})
    build_collections(settings, open_encoder(settings), demo_volumes(), lambda _: None)
    return home


def _demo_answers(
    options: TableOptions, name: str, questions: Sequence[WrittenQuestion], home: Callable[[], Path]
) -> list[SystemAnswer]:
    assistant = open_assistant(home(), name, options.settings, options.cached)
    say(f"{name}: {counted(len(questions), 'question')}.")
    unanswered = [SystemAnswer(row.id, row.question, row.scope) for row in questions]
    return answer_all(assistant, unanswered, options.settings.model_calls, as_shown=True)


@dataclass(frozen=True, slots=True)
class _Marks:
    """The marks of all systems, and a note on the judge's agreement with judged questions."""

    answers: JudgedAnswers
    agreement: str


def _judge_systems(
    options: TableOptions, answers: Mapping[str, Callable[[], list[SystemAnswer]]], home: Callable[[], Path]
) -> _Marks:
    """Have the judge mark all generators that answered; raises EvaluationError if no vote is valid."""
    trails = []
    for name, answer in answers.items():
        try:
            folder = options.out / SYSTEM.name / "trails" / replies_file(options.out, name).stem
            trails.append(f"{name}={_write_trails(folder, answer())}")
        except FAILURES:
            continue  # The generator's own row reports the error.
    votes = options.out / SYSTEM.name / "votes.jsonl"
    judged = judge_answers(trails, options.judge, replies=votes)
    if judged.judge.discarded == judged.judge.votes:
        raise EvaluationError(f"No vote of {options.judge} is valid: {'; '.join(judged.judge.problems)}")
    return _Marks(judged, _agreement(options, home()))


def _agreement(options: TableOptions, home: Path) -> str:
    """Describe how far the judge agrees with the judged questions to the demonstration."""
    judge = open_judge(options.judge, options.settings, options.out / SYSTEM.name / "agreement.jsonl")
    corpus = open_assistant(home, settings=options.settings).corpus
    questions = [(question, corpus) for question in read_judged() if question.corpus == "demo"]
    try:
        return judge_agreement(judge, questions, options.limit).summary
    except FAILURES as error:
        return f"the judge's agreement with judged questions was not measured: {error}"


def _write_trails(folder: Path, answers: Sequence[SystemAnswer]) -> Path:
    """Write the trails of answers to a folder, delete older trails there, and return the folder."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.glob("*.json"):
            old.unlink()
        for number, answer in enumerate(answers):
            if answer.turn:
                conversation = Conversation(answer.id, answer.question, (answer.turn,))
                (folder / f"{number:04}.json").write_text(to_json(conversation), encoding="utf-8")
    except OSError as error:
        raise EvaluationError(f"{error.filename} cannot be written: {error.strerror}.") from error
    return folder


def _system_row(
    name: str,
    answers: Callable[[], list[SystemAnswer]],
    questions: Sequence[WrittenQuestion],
    marks: Callable[[], _Marks] | None,
) -> Row:
    all_answers = answers()
    judged = marks() if marks else None
    system = judged.answers.judge.systems[name] if judged else None
    turns = [answer.turn for answer in all_answers if answer.turn and answer.is_answered]
    expected = {question.id: set(question.expected_papers) for question in questions}
    cites_expected = [
        not expected[answer.id].isdisjoint(paper.paper.id for paper in answer.turn.cited_papers)
        for answer in all_answers
        if answer.turn
    ]
    shares = {
        "citation recall": mean(turn.answer.citation_recall for turn in turns),
        "citation precision": mean(turn.answer.citation_precision for turn in turns),
    }
    figures = {
        **(system.means if system else {}),
        "answered": percent(len(turns), len(all_answers)),
        "refused": percent(sum(answer.is_refused for answer in all_answers), len(all_answers)),
        "cited": percent(sum(cites_expected), len(all_answers)),
        **{share: 100 * value for share, value in shares.items() if value is not None},
    }
    notes = [
        counted(len(all_answers), "question"),
        *failure_notes(all_answers),
        *(_marks_notes(name, judged) if judged else ()),
    ]
    return Row(name, figures, system.spreads if system else {}, note="; ".join(notes))


def _marks_notes(name: str, marks: _Marks) -> Iterator[str]:
    judged, figures = marks.answers, marks.answers.judge
    votes = counted(figures.votes - figures.discarded, "vote")
    yield (
        f"marked with {counted(len(figures.systems), 'generator')}, by {figures.judge}: {votes} on"
        f" {counted(judged.judged, 'question')} that all answered"
    )
    yield marks.agreement
    if name in figures.wrote:
        yield "the judge is the model itself"
    if figures.discarded:
        yield f"{counted(figures.discarded, 'vote')} discarded: {figures.problems[0].rstrip('.')}"
    if figures.served:
        yield f"the server says that {', '.join(figures.served)} judged"


SYSTEM = seed_table("gengo-system", _system_plan)
