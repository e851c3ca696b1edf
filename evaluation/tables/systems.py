"""Tables of the whole system: questions asked of built corpora, in their conversations, by each generator.

GenGO Ultra's Table 4, and TruthReader's Tables 2 and 6 (answers), Figures 4 and 5 (histories) and what
histories do to answers (robustness).
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from pydantic import BaseModel

from assistant.chat import Assistant
from assistant.checking.thresholds import thresholds
from assistant.generators.choice import check_choice, generator_choices
from assistant.generators.protocol import EXTRACTIVE
from assistant.models.menu import describe_setup
from assistant.models.protocol import ModelError, ModelUnavailableError
from assistant.records import AnswerSentence, AssistantError, Conversation, Turn
from assistant.trail.transcript import to_json
from corpus.encoder_choice import open_encoder
from corpus.records import Scope
from corpus.store.corpus import Corpus
from corpus.wording import counted
from evaluation.answers.asking import ask, open_assistant
from evaluation.answers.judge import JudgedAnswers, judge_answers
from evaluation.answers.judge_agreement import judge_agreement
from evaluation.answers.questions import (
    FULL,
    QUESTIONS,
    JudgedQuestion,
    WrittenQuestion,
    place_of,
    places,
    read_judged,
    read_questions,
)
from evaluation.answers.references import REFERENCES, judge_citations, judge_right, read_references
from evaluation.answers.rewriting import CONTEXTS, HISTORIES, HistoryKind, QueryContext
from evaluation.harness import FAILURES, Figures, list_ids, mean, say
from evaluation.histories import DEPTHS, measure_histories
from evaluation.input_files import DATA, EvaluationError, home_folder, read_json_lines
from evaluation.judging import Judge, open_judge
from evaluation.reply_cache import replies_file
from evaluation.retrieval import SearchSetup
from evaluation.summaries.summary import rouge
from evaluation.tables.harness import Asked, Missing, Planned, Row, RowPlan, once, seed_table
from evaluation.tables.sources import find
from indexer.build.run import build_collections
from indexer.sources.demo import demo_volumes

# So many errors, with no answer before them, are no fault of single questions.
MOST_ERRORS = 8
ROBUSTNESS_QUESTIONS = 30
MARKS = ("coherence", "consistency", "fluency", "relevance")
HOW_BUILT: Mapping[str, str] = {
    "demo": "demo",
    "acl-2022": "acl 2022.acl-long",
    "findings-2022": "acl 2022.findings-acl 2020.aacl-main",
    "acl-pdfs": 'pdfs FOLDER-OF-PDFS --collection acl-pdfs --title "Full texts"',
}
QUERIES_NAMED: Mapping[QueryContext, str] = {
    "none": "the question alone",
    "concatenated": "its history behind it",
    "ours": "as we rewrite it",
}
HISTORIES_NAMED: Mapping[HistoryKind, str] = {
    "none": "no history",
    "relevant": "relevant history",
    "irrelevant": "irrelevant history",
    "both": "both histories",
}


@dataclass(frozen=True, slots=True)
class SystemAnswer:
    """The turn of a question with its scope and history, or the problem that came in its place."""

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

    def asked(self, assistant: Assistant, *, as_shown: bool = False) -> "SystemAnswer":
        """Return it with its answer; raises ModelUnavailableError, other errors are its problem."""
        try:
            turn = ask(assistant, self.question, self.history, self.scope, as_shown=as_shown).turn
        except ModelUnavailableError:
            raise
        except AssistantError as error:
            return replace(self, problem=error.fault)
        if "interrupted" in turn.answer.problems:
            raise ModelUnavailableError(
                f"The reply to {self.id} ended in the middle.",
                "What was replied is kept: the same command goes on.",
            )
        return replace(self, turn=turn)


def _generators(asked: Asked) -> tuple[list[str], list[Missing]]:
    """Return the generators that answer, first the one without a model, and what is missing."""
    names, missing = [EXTRACTIVE], list[Missing]()
    if not asked.models:
        choices = [choice.name for choice in generator_choices(asked.settings)]
        there = ", ".join(name for name in choices if name != EXTRACTIVE)
        none = f"none. Set {describe_setup()}"
        missing.append(Missing("a model that answers", f"name it: --model ID. There are: {there or none}."))
    for name in dict.fromkeys(asked.models):
        try:
            check_choice(name, asked.settings, None)
        except AssistantError as error:
            missing.append(Missing(name, str(error)))
        else:
            names += [name] if name != EXTRACTIVE else []
    return names, missing


def _generator_inputs(asked: Asked, name: str) -> Mapping[str, object]:
    """Return all that answers depend on besides the questions, the corpus and our code."""
    settings = asked.settings
    choice = check_choice(name, settings, None)
    model = {"model": choice[0].model_dump_json(), "parameters": repr(choice[1])} if choice else {}
    return {"generator": name, "encoder": settings.encoder, "runtime": settings.encoder_runtime, **model}


def answer_all(
    assistant: Assistant, questions: Sequence[SystemAnswer], at_once: int, *, as_shown: bool = False
) -> list[SystemAnswer]:
    """Return the answers to all questions in their order.

    Raises ModelError where the model cannot be asked, or fails from the start.
    """
    workers = 1 if assistant.generator.name == EXTRACTIVE else at_once
    answers: list[SystemAnswer] = []
    with ThreadPoolExecutor(workers) as pool:
        for answer in pool.map(lambda question: question.asked(assistant, as_shown=as_shown), questions):
            answers.append(answer)
            if sum(bool(given.problem) for given in answers) >= MOST_ERRORS:
                _check_writes(answers)
    _check_writes(answers)
    return answers


def _check_writes(answers: Sequence[SystemAnswer]) -> None:
    """Raise ModelError where every question that reached the model failed."""
    problems = [answer.problem for answer in answers if answer.problem]
    if problems and not any(answer.turn.calls for answer in answers if answer.turn):
        raise ModelError(problems[0])


def _failures(answers: Sequence[SystemAnswer]) -> list[str]:
    """Return the note on questions that got no answer."""
    failed = [answer for answer in answers if answer.problem]
    if not failed:
        return []
    ids, problem = list_ids([answer.id for answer in failed]), failed[0].problem.rstrip(".")
    return [f"no answer to {counted(len(failed), 'question')}, counted as wrong ({ids}): {problem}"]


def _percent(part: int, whole: int) -> float:
    return 100 * part / whole if whole else 0.0


def _system_plan(asked: Asked) -> Planned:
    """Plan GenGO Ultra's Table 4: 25 questions to the demonstration, marked by a judge."""
    questions = questions_of_table()[: asked.limit]
    names, missing = _generators(asked)
    yield from missing
    if problem := _judge_problem(asked):
        yield Missing(f"marks for {', '.join(MARKS)}", problem)
    home = once(partial(_demo_home, asked))
    answers = {name: once(partial(_demo_answers, asked, name, questions, home)) for name in names}
    marks = None if problem else once(partial(_marks, asked, answers, home))
    for name in names:
        # All are marked in one prompt, so that the marks of each depend on the others.
        others = names if marks else [name]
        inputs = {
            "generators": {other: _generator_inputs(asked, other) for other in others},
            "judge": asked.judge if marks else "",
            "questions": QUESTIONS,
            "home": home_folder(asked.homes["demo"]) / "corpus" if "demo" in asked.homes else "built",
            "limit": asked.limit,
        }
        yield RowPlan(name, inputs, partial(_system_row, name, answers[name], questions, marks))


def _judge_problem(asked: Asked) -> str:
    """Say why nothing can be judged, "" where a judge was named that can be opened."""
    if not asked.judge:
        return "name a judge: --judge ID."
    try:
        open_judge(asked.judge, asked.settings)
    except EvaluationError as error:
        return str(error)
    return ""


def questions_of_table() -> list[WrittenQuestion]:
    """Return the questions that the demonstration answers and that stand alone: 25."""
    rows = (row for _, row in read_questions(QUESTIONS, corpus="demo"))
    return [row for row in rows if row.expect == "answer" and not row.history]


def _demo_home(asked: Asked) -> Path:
    """Return the home of the demonstration, built in the folder of results where none is named."""
    if "demo" in asked.homes:
        return asked.homes["demo"]
    home = asked.out / SYSTEM.name / "home"
    say(f"Building the demonstration in {home}.")
    settings = asked.settings.model_copy(update={"home": home})
    build_collections(settings, open_encoder(settings), demo_volumes(), lambda _: None)
    return home


def _demo_answers(
    asked: Asked, name: str, questions: Sequence[WrittenQuestion], home: Callable[[], Path]
) -> list[SystemAnswer]:
    assistant = open_assistant(home(), name, asked.settings, asked.kept)
    say(f"{name}: {counted(len(questions), 'question')}.")
    wanted = [SystemAnswer(row.id, row.question, row.scope) for row in questions]
    return answer_all(assistant, wanted, asked.settings.model_calls, as_shown=True)


@dataclass(frozen=True, slots=True)
class _Marked:
    """The marks of all systems, and how far their judge agrees with judged questions."""

    answers: JudgedAnswers
    agreement: str


def _marks(
    asked: Asked, answers: Mapping[str, Callable[[], list[SystemAnswer]]], home: Callable[[], Path]
) -> _Marked:
    """Return the marks of all generators that answered; raises EvaluationError where no vote counts."""
    trails = []
    for name, given in answers.items():
        try:
            folder = asked.out / SYSTEM.name / "trails" / replies_file(asked.out, name).stem
            trails.append(f"{name}={_write_trails(folder, given())}")
        except FAILURES:
            continue  # The row of its own says why.
    votes = asked.out / SYSTEM.name / "votes.jsonl"
    judged = judge_answers(trails, asked.judge, replies=votes)
    if judged.judge.discarded == judged.judge.votes:
        raise EvaluationError(f"No vote of {asked.judge} counts: {'; '.join(judged.judge.problems)}")
    return _Marked(judged, _agreement(asked, home()))


def _agreement(asked: Asked, home: Path) -> str:
    """State the judge's agreement with the judged questions to the demonstration."""
    judge = open_judge(asked.judge, asked.settings, asked.out / SYSTEM.name / "agreement.jsonl")
    corpus = open_assistant(home, settings=asked.settings).corpus
    questions = [(question, corpus) for question in read_judged() if question.corpus == "demo"]
    try:
        return judge_agreement(judge, questions, asked.limit).summary
    except FAILURES as error:
        return f"the judge's agreement with judged questions was not measured: {error}"


def _write_trails(folder: Path, answers: Sequence[SystemAnswer]) -> Path:
    """Write the trails of answers to a folder that holds nothing else, and return it."""
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
    marks: Callable[[], _Marked] | None,
) -> Row:
    given = answers()
    judged = marks() if marks else None
    system = judged.answers.judge.systems[name] if judged else None
    turns = [answer.turn for answer in given if answer.turn and answer.is_answered]
    expected = {question.id: set(question.expected_papers) for question in questions}
    cites_expected = [
        not expected[answer.id].isdisjoint(paper.paper.id for paper in answer.turn.cited_papers)
        for answer in given
        if answer.turn
    ]
    shares = {
        "citation recall": mean(turn.answer.citation_recall for turn in turns),
        "citation precision": mean(turn.answer.citation_precision for turn in turns),
    }
    figures = {
        **(system.means if system else {}),
        "answered": _percent(len(turns), len(given)),
        "refused": _percent(sum(answer.is_refused for answer in given), len(given)),
        "cited": _percent(sum(cites_expected), len(given)),
        **{share: 100 * value for share, value in shares.items() if value is not None},
    }
    notes = [
        counted(len(given), "question"),
        *_failures(given),
        *(_marks_notes(name, judged) if judged else ()),
    ]
    return Row(name, figures, system.spreads if system else {}, note="; ".join(notes))


def _marks_notes(name: str, marked: _Marked) -> Iterator[str]:
    judged, figures = marked.answers, marked.answers.judge
    votes = counted(figures.votes - figures.discarded, "vote")
    yield (
        f"marked with {counted(len(figures.systems), 'generator')}, by {figures.judge}: {votes} on"
        f" {counted(judged.judged, 'question')} that all answered"
    )
    yield marked.agreement
    if name in figures.wrote:
        yield "the judge is the model itself"
    if figures.discarded:
        yield f"{counted(figures.discarded, 'vote')} discarded: {figures.problems[0].rstrip('.')}"
    if figures.served:
        yield f"the server says that {', '.join(figures.served)} judged"


class _ChosenRow(BaseModel, frozen=True, extra="forbid"):
    """Ids of judged questions: one that is asked, and two that may be asked before it."""

    id: str
    relevant: str
    irrelevant: str


@dataclass(frozen=True, slots=True)
class ChosenQuestion:
    """A judged question, one of the same papers as far as there is one, and one that others answer."""

    judged: JudgedQuestion
    relevant: JudgedQuestion
    irrelevant: JudgedQuestion

    @property
    def swapped(self) -> Scope:
        """The papers that were judged with it and do not answer it: asked of these it is to be refused."""
        seen = {paper for paper, _, _ in places(self.judged.seen)}
        return Scope(papers=tuple(sorted(seen - answering_papers(self.judged))))

    def before(self, kind: HistoryKind) -> list[str]:
        """Return the ids of the questions before it; in "both" the subject changed to its own."""
        relevant = [self.relevant.id] if kind in ("relevant", "both") else []
        return [self.irrelevant.id, *relevant] if kind in ("irrelevant", "both") else relevant


def answering_papers(question: JudgedQuestion) -> set[str]:
    """Return the papers with a sentence that answers a question or belongs to an answer."""
    return {paper for paper, _, _ in places((*question.full, *question.part))}


def read_chosen(path: Path = DATA / "asked_of_system.jsonl") -> list[ChosenQuestion]:
    """Return the 88 questions in their order, the corpora taking turns; raises EvaluationError."""
    judged = {question.id: question for question in read_judged()}
    rows = read_json_lines(path, _ChosenRow, "Each line has id, relevant and irrelevant: judged questions.")
    try:
        return [ChosenQuestion(judged[row.id], judged[row.relevant], judged[row.irrelevant]) for row in rows]
    except KeyError as error:
        raise EvaluationError(f"{path} names {error}, which is no judged question.") from None


def check_held(name: str, home: Path, corpus: Corpus, questions: Sequence[ChosenQuestion]) -> None:
    """Raise EvaluationError where a corpus is not the one that was judged."""
    for question in questions:
        held = {paper.id for paper in corpus.papers_by_id(question.swapped.papers)}
        lacking = [paper for paper in question.swapped.papers if paper not in held]
        for paper, number, sentence in places(question.judged.full):
            passages = [found for found in corpus.passages(paper) if found.number == number]
            if not any(sentence < len(passage.sentences) for passage in passages):
                lacking.append(f"{paper}#{number}:{sentence}")
        if lacking:
            raise EvaluationError(
                f"The corpus of {home} has no {lacking[0]}, which {question.judged.id} was judged by: it is"
                f" not the corpus {name} as PAPER_TRAIL_HOME=FOLDER paper-trail index {HOW_BUILT[name]}"
                " builds it."
            )


Histories = Callable[[], Mapping[str, Turn]]


def _judged_plan(kinds: Sequence[HistoryKind | None], limit: int | None, asked: Asked) -> Planned:
    """Plan TruthReader's Tables 2 and 6: judged questions, whole and with their context swapped.

    With the kind None there is no history, and citations are counted.
    """
    chosen = read_chosen()
    questions = [own for own in chosen if own.judged.corpus in asked.homes][: asked.limit or limit]
    for name, count in Counter(own.judged.corpus for own in chosen).items():
        if name not in asked.homes:
            yield Missing(
                f"{count} questions of the corpus {name}",
                f"build it and name it: PAPER_TRAIL_HOME=FOLDER paper-trail index {HOW_BUILT[name]}, then"
                f" --home {name}=FOLDER",
            )
    corpora = sorted({own.judged.corpus for own in questions})
    # Histories are asked for what they do to answers: those of citations and references stand without them.
    problem = _judge_problem(asked) if None in kinds else ""
    if problem:
        yield Missing("accuracy and citation precision by a judge", problem)
    inputs = {
        "questions": ", ".join(own.judged.id for own in questions),
        "homes": {name: home_folder(asked.homes[name]) / "corpus" for name in corpora},
        "references": REFERENCES,
        "judge": "" if problem or None not in kinds else asked.judge,
    }
    earlier = once(partial(_earlier, asked, questions))
    names, missing = _generators(asked) if questions else ([], [])
    yield from missing
    for name in names:
        own = {**_generator_inputs(asked, name), **inputs}
        for kind in kinds:
            system = f"{name}, {HISTORIES_NAMED[kind]}" if kind else name
            row = partial(_judged_row, system, asked, name, questions, kind, earlier)
            yield RowPlan(system, {**own, "history": kind} if kind else own, row)


def _earlier(asked: Asked, questions: Sequence[ChosenQuestion]) -> Mapping[str, Turn]:
    """Return the turns that may come before, by question; without a model, the same for all generators."""
    turns: dict[str, Turn] = {}
    before = {own.id: own for chosen in questions for own in (chosen.relevant, chosen.irrelevant)}
    for name in sorted({own.corpus for own in before.values()}):
        here = [
            SystemAnswer(own.id, own.question, own.scope) for own in before.values() if own.corpus == name
        ]
        say(f"{len(here)} questions of {name} that come before others.")
        for answer in answer_all(open_assistant(asked.homes[name], EXTRACTIVE, asked.settings), here, 1):
            if answer.turn is None:
                raise EvaluationError(f"{answer.id} cannot be asked: {answer.problem}")
            turns[answer.id] = answer.turn
    return turns


@dataclass(frozen=True, slots=True)
class AnsweredTwice:
    """The answers to a question, and to the same with its context swapped."""

    chosen: ChosenQuestion
    whole: SystemAnswer
    swapped: SystemAnswer

    @property
    def is_right(self) -> bool:
        """True if a sentence of the answer cites a sentence that was judged to answer fully."""
        places = [place_of(citation) for sentence in self.whole.sentences for citation in sentence.citations]
        return any(self.chosen.judged.grades.get(place) == FULL for place in places)


def _ask_twice(
    asked: Asked,
    generator: str,
    questions: Sequence[ChosenQuestion],
    history: Callable[[ChosenQuestion], tuple[Turn, ...]],
) -> list[AnsweredTwice]:
    """Return the answers to all questions, corpus by corpus."""
    answered: list[AnsweredTwice] = []
    for name in dict.fromkeys(chosen.judged.corpus for chosen in questions):
        here = [chosen for chosen in questions if chosen.judged.corpus == name]
        assistant = open_assistant(asked.homes[name], generator, asked.settings, asked.kept)
        check_held(name, asked.homes[name], assistant.corpus, here)
        say(f"{generator}: {len(here)} questions of {name}, twice.")
        wanted = []
        for chosen in here:
            turns, judged = history(chosen), chosen.judged
            wanted.append(SystemAnswer(judged.id, judged.question, judged.scope, turns))
            wanted.append(SystemAnswer(f"{judged.id} swapped", judged.question, chosen.swapped, turns))
        answers = answer_all(assistant, wanted, asked.settings.model_calls)
        answered += map(AnsweredTwice, here, answers[::2], answers[1::2])
    return answered


def _judged_row(
    system: str,
    asked: Asked,
    generator: str,
    questions: Sequence[ChosenQuestion],
    kind: HistoryKind | None,
    earlier: Histories,
) -> Row:
    def history(question: ChosenQuestion) -> tuple[Turn, ...]:
        return tuple(earlier()[before] for before in question.before(kind)) if kind else ()

    answered = _ask_twice(asked, generator, questions, history)
    answers = [answer for both in answered for answer in (both.whole, both.swapped)]
    corpora = Counter(both.chosen.judged.corpus for both in answered)
    of = ", ".join(f"{name} {count}" for name, count in corpora.items())
    notes = [
        f"{len(answered)} of {len(read_chosen())} questions ({of})",
        f"{sum(both.whole.is_refused for both in answered)} refused that can be answered",
        *_failures(answers),
    ]
    before = [turn for both in answered for turn in both.whole.history]
    if before:
        leant = sum(bool(answer.turn.rewrite.used_turns) for answer in answers if answer.turn)
        notes.append(f"{leant} of {len(answers)} were searched for in the light of their history")
    if refused := sum(turn.answer.refusal is not None for turn in before):
        notes.append(f"{refused} of the {len(before)} turns before them are refusals")
    figures = {
        "answer accuracy": _percent(sum(both.is_right for both in answered), len(answered)),
        "refusal recall": _percent(sum(both.swapped.is_refused for both in answered), len(answered)),
    }
    if kind is None:
        given = [both.whole for both in answered if both.whole.is_answered]
        references = read_references()
        figures |= _citation_figures(given) | _reference_figures(given, references)
        if not _judge_problem(asked):
            judge = open_judge(asked.judge, asked.settings, replies_file(asked.out, asked.judge))
            judged_figures, judged_notes = _judge_answers(judge, given, len(answered), references)
            figures |= judged_figures
            notes += judged_notes
    return Row(system, figures, note="; ".join(notes))


def _reference_figures(given: Sequence[SystemAnswer], references: Mapping[str, str]) -> dict[str, float]:
    """Return the mean ROUGE-L of answers given with their reference answers, without citations."""
    scores = [
        rouge(answer.turn.answer.text, references[answer.id])["rougeL"]
        for answer in given
        if answer.turn and answer.id in references
    ]
    return {"ROUGE-L": sum(scores) / len(scores)} if scores else {}


def _judge_answers(
    judge: Judge, given: Sequence[SystemAnswer], asked: int, references: Mapping[str, str]
) -> tuple[dict[str, float], list[str]]:
    """Return accuracy and citation precision as a judge has them, with notes on both.

    What is refused is wrong, and a citation of a paper that was never given is not borne out.
    """
    turns = {answer.id: answer.turn for answer in given if answer.turn}
    right, borne_out = judge_right(judge, turns, references), judge_citations(judge, list(turns.values()))
    unknown = sum(len(sentence.unknown_labels) for answer in given for sentence in answer.sentences)
    figures = {"answer accuracy": _percent(right.holding, asked - right.failed)}
    if borne_out.judged + unknown:
        figures["citation precision"] = _percent(borne_out.holding, borne_out.judged + unknown)
    notes = [
        f"answers and citations judged by {judge.model.id}, which found {right.holding} of"
        f" {right.judged} answers right and {borne_out.holding} of {borne_out.judged} citations borne out"
    ]
    for verdicts, what in ((right, "answer"), (borne_out, "citation")):
        if verdicts.failed:
            fault = verdicts.problem.rstrip(".")
            notes.append(f"{counted(verdicts.failed, what)} left out, as no verdict could be used: {fault}")
    return figures, notes


def _citation_figures(given: Sequence[SystemAnswer]) -> dict[str, float]:
    """Return the share of supported citations, and citations for each answer."""
    bar = thresholds().support.supported
    sentences = [sentence for answer in given for sentence in answer.sentences]
    supported = [(cited.support or 0.0) >= bar for sentence in sentences for cited in sentence.citations]
    # A citation of a paper that was never given is not supported.
    supported += [False for sentence in sentences for _ in sentence.unknown_labels]
    figures = {"citation precision": _percent(sum(supported), len(supported))} if supported else {}
    return figures | ({"citations": len(supported) / len(given)} if given else {})


def _histories_plan(asked: Asked) -> Planned:
    """Plan TruthReader's Figures 4 and 5: what an encoder finds with four kinds of history."""
    found = find("mtrag", asked.data)
    for encoder in dict.fromkeys((asked.settings.encoder, *asked.encoders)):

        def measured(encoder: str = encoder) -> Figures:
            settings = SearchSetup(encoder=encoder).settings(asked.settings)
            return measure_histories(found.path, open_encoder(settings), limit=asked.limit)

        # All rows of an encoder are measured at once.
        figures = once(measured)
        inputs = {
            "encoder": encoder,
            "runtime": asked.settings.encoder_runtime,
            "turns": found.path,
            "limit": asked.limit,
        }
        for context in CONTEXTS:
            for kind in HISTORIES:
                # Without a history, or not looking at it, a question is itself.
                if context == "ours" or (context == "none") == (kind == "none"):
                    history = "" if context == "none" else f", {HISTORIES_NAMED[kind]}"
                    system = f"{encoder}, {QUERIES_NAMED[context]}{history}"
                    row = partial(_histories_row, system, figures, context, kind)
                    yield RowPlan(system, {**inputs, "query": context, "history": kind}, row)


def _histories_row(
    system: str, figures: Callable[[], Figures], context: QueryContext, kind: HistoryKind
) -> Row:
    measured = figures()
    recall = measured["recall"][context][kind]
    note = f"{counted(measured['turns'], 'turn')} among {counted(measured['passages'], 'passage')}"
    shares = {f"Recall@{depth}": 100 * recall[f"recall@{depth}"] for depth in DEPTHS}
    return Row(system, shares, note=note if context == "none" else "")


SYSTEM = seed_table("gengo-system", _system_plan)
ANSWERS = seed_table("truthreader-answers", partial(_judged_plan, (None,), None))
HISTORIES_TABLE = seed_table("truthreader-histories", _histories_plan)
ROBUSTNESS = seed_table("truthreader-robustness", partial(_judged_plan, HISTORIES, ROBUSTNESS_QUESTIONS))
