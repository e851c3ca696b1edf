"""GenGO Ultra, Table 4: the whole system, by 25 questions to the demonstration, marked by a judge."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import fmean

from assistant.records import AssistantError, Conversation
from assistant.trail import to_json
from corpus.encoder_choice import open_encoder
from corpus.errors import CorpusError
from corpus.wording import counted
from evaluation.answers.judge import AskedToJudge, JudgedAnswers, judge_answers
from evaluation.answers.questions import QUESTIONS, WrittenQuestion, read_questions
from evaluation.input_files import EvaluationError, home_of
from evaluation.judging import open_judge
from evaluation.tables.records import Asked, Column, Missing, Planned, Row, RowPlan, Say, SeedTable
from evaluation.tables.replies import replies_file
from evaluation.tables.systems.answering import (
    SystemAnswer,
    SystemQuestion,
    answer_all,
    failures_said,
    generator_inputs,
    generators,
    once,
    open_system,
    share,
)
from indexer.build import build_collections
from indexer.sources.demo import demo_volumes

NAME, CORPUS = "gengo-system", "demo"
MARKS = ("coherence", "consistency", "fluency", "relevance")

Answers = Callable[[], list[SystemAnswer]]


def _plan(asked: Asked, say: Say) -> Planned:
    questions = questions_of_table()[: asked.limit]
    found = list(generators(asked))
    yield from (one for one in found if isinstance(one, Missing))
    names = [one for one in found if isinstance(one, str)]
    problem = _judge_problem(asked)
    if problem:
        yield Missing(f"marks for {', '.join(MARKS)}", problem)
    home = once(partial(_home, asked, say))
    answers = {name: once(partial(_answers, asked, name, questions, home, say)) for name in names}
    marks = None if problem else once(partial(_marks, asked, answers, say))
    for name in names:
        # All are marked in one prompt, so that the marks of one depend on the others.
        others = names if marks else [name]
        inputs = {
            "generators": {other: generator_inputs(asked, other) for other in others},
            "judge": asked.judge if marks else "",
            "questions": QUESTIONS,
            "home": home_of(asked.homes[CORPUS]) / "corpus" if CORPUS in asked.homes else "built",
            "limit": asked.limit,
        }
        yield RowPlan(name, inputs, partial(_row, name, answers[name], questions, marks))


def questions_of_table() -> list[WrittenQuestion]:
    """Return the questions to the demonstration that it answers and that are the first of theirs: 25."""
    rows = (row for _, row in read_questions(QUESTIONS, corpus=CORPUS))
    return [row for row in rows if row.expect == "answer" and not row.history]


def _judge_problem(asked: Asked) -> str:
    """Return why nobody can judge and what to do about it, "" where the judge can be asked."""
    if not asked.judge:
        return "name a judge: --judge ID."
    try:
        open_judge(asked.judge, asked.settings)
    except EvaluationError as error:
        return str(error)
    return ""


def _home(asked: Asked, say: Say) -> Path:
    """Return the home of the demonstration; without one it is built in the folder of what is measured."""
    if CORPUS in asked.homes:
        return asked.homes[CORPUS]
    home = asked.out / NAME / "home"
    say(f"Building the demonstration in {home}.")
    settings = asked.settings.model_copy(update={"home": home})
    build_collections(settings, open_encoder(settings), demo_volumes(), lambda _: None)
    return home


def _answers(
    asked: Asked, name: str, questions: Sequence[WrittenQuestion], home: Callable[[], Path], say: Say
) -> list[SystemAnswer]:
    assistant = open_system(asked, home(), name)
    say(f"{name}: {counted(len(questions), 'question')}.")
    wanted = [SystemQuestion(one.id, one.question, one.scope) for one in questions]
    return answer_all(assistant, wanted, asked.settings.model_calls)


def _marks(asked: Asked, answers: Mapping[str, Answers], say: Say) -> JudgedAnswers:
    """Return the marks of all that can be had together; raises EvaluationError where no vote counts."""
    trails = []
    for name, had in answers.items():
        try:
            given = had()
        except (AssistantError, CorpusError, EvaluationError):
            continue  # The row of its own says why.
        folder = asked.out / NAME / "trails" / replies_file(asked.out, name).stem
        trails.append(f"{name}={_written(folder, given)}")
    votes = asked.out / NAME / "votes.jsonl"
    judged = judge_answers(AskedToJudge(tuple(trails), asked.judge, kept=votes), say)
    if judged.judge.discarded == judged.judge.votes:
        raise EvaluationError(f"No vote of {asked.judge} counts: {'; '.join(judged.judge.problems)}")
    return judged


def _written(folder: Path, answers: Sequence[SystemAnswer]) -> Path:
    """Write the trails of answers to a folder that holds nothing else, and return it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.glob("*.json"):
            old.unlink()
        for number, answer in enumerate(answers):
            if answer.turn:
                conversation = Conversation(answer.question.id, answer.question.text, (answer.turn,))
                (folder / f"{number:04}.json").write_text(to_json(conversation), encoding="utf-8")
    except OSError as error:
        raise EvaluationError(f"{error.filename} cannot be written: {error.strerror}.") from error
    return folder


def _row(
    name: str,
    answers: Answers,
    questions: Sequence[WrittenQuestion],
    marks: Callable[[], JudgedAnswers] | None,
) -> Row:
    given = answers()
    judged = marks() if marks else None
    system = judged.judge.systems[name] if judged else None
    notes = [
        counted(len(given), "question"),
        *failures_said(given),
        *(_marks_said(name, judged) if judged else ()),
    ]
    return Row(
        name,
        {**(system.means if system else {}), **_counted(given, questions)},
        system.spreads if system else {},
        note="; ".join(notes),
    )


def _counted(answers: Sequence[SystemAnswer], questions: Sequence[WrittenQuestion]) -> dict[str, float]:
    """Return the figures that no judge is needed for."""
    turns = [one.turn for one in answers if one.turn and one.is_answered]
    expected = {one.id: set(one.expected_papers) for one in questions}
    citing = [
        one
        for one in answers
        if one.turn and expected[one.question.id] & {labelled.paper.id for labelled in one.turn.cited_papers}
    ]
    recalls = [turn.answer.citation_recall for turn in turns]
    precisions = [turn.answer.citation_precision for turn in turns]
    return {
        "answered": share(len(turns), len(answers)),
        "refused": share(sum(one.is_refused for one in answers), len(answers)),
        "cited": share(len(citing), len(answers)),
        **_mean("citation recall", recalls),
        **_mean("citation precision", precisions),
    }


def _mean(name: str, shares: Sequence[float | None]) -> dict[str, float]:
    known = [one for one in shares if one is not None]
    return {name: 100 * fmean(known)} if known else {}


def _marks_said(name: str, judged: JudgedAnswers) -> Iterator[str]:
    votes = judged.judge.votes - judged.judge.discarded
    yield (
        f"marked with {counted(len(judged.judge.systems), 'generator')}, by"
        f" {judged.judge.judge}: {counted(votes, 'vote')} on {counted(judged.judged, 'question')} that all"
        " answered"
    )
    if name in judged.judge.wrote:
        yield "the judge is the model itself"
    if judged.judge.discarded:
        yield f"{counted(judged.judge.discarded, 'vote')} discarded: {judged.judge.problems[0].rstrip('.')}"
    if judged.judge.served:
        yield f"the server says that {', '.join(judged.judge.served)} judged"


TABLE = SeedTable(
    name=NAME,
    seed="GenGO Ultra",
    number="Table 4",
    title="the whole system, marked by a judge",
    columns=(
        *(Column(name, 2) for name in MARKS),
        *(Column(name) for name in ("answered", "refused", "cited")),
        *(Column(name) for name in ("citation recall", "citation precision")),
    ),
    sets=(),
    plan=_plan,
    asks_corpora=True,
    remarks=(
        "GenGO Ultra had 25 questions marked; neither its questions nor its marks are known here. Ours are"
        " the 25 questions to the demonstration that it answers and that stand alone (corpus demo, expect"
        " answer, no history in evaluation/data/questions.jsonl), so whatever is refused is refused wrongly.",
        "Marks are 1 to 5, means over the questions that every generator answered, with the standard"
        " deviation over votes; each generator's answers stand once in each place of the judge's prompt.",
        "The other figures are percentages: of the questions those answered, refused, and whose answer cites"
        " a paper that was expected; citation recall and precision (ALCE) are means over the answers given,"
        " with our own support score as the judge. Half of the questions were in view while answering was"
        " worked on.",
    ),
)
