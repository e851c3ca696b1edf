"""TruthReader's Tables 2 and 6 (answers), Figures 4 and 5 (histories), and answers with histories."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pydantic import BaseModel

from assistant.checking.thresholds import thresholds
from assistant.generators.protocol import EXTRACTIVE
from assistant.records import Turn
from corpus.encoder_choice import open_encoder
from corpus.records import Scope
from corpus.store.corpus import Corpus
from corpus.wording import counted
from evaluation.answers.asking import open_assistant
from evaluation.answers.questions import FULL, JudgedQuestion, place_of, places, read_judged
from evaluation.answers.references import REFERENCES, judge_citations, judge_right, read_references
from evaluation.answers.rewriting import CONTEXTS, HISTORIES, HistoryKind, QueryContext
from evaluation.harness import Figures, say
from evaluation.histories import DEPTHS, measure_histories
from evaluation.input_files import DATA, EvaluationError, home_folder, read_json_lines
from evaluation.judging import Judge, open_judge
from evaluation.reply_cache import replies_file
from evaluation.retrieval import SearchSetup
from evaluation.summaries.summary import rouge
from evaluation.tables.harness import Missing, PlannedRows, Row, RowPlan, TableOptions, once, seed_table
from evaluation.tables.sources import find_data_set
from evaluation.tables.system_answers import (
    SystemAnswer,
    answer_all,
    choose_generators,
    failure_notes,
    generator_inputs,
    judge_problem,
    percent,
)

ROBUSTNESS_QUESTIONS = 30
# Arguments of `paper-trail index` that build each corpus.
INDEX_ARGUMENTS: Mapping[str, str] = {
    "demo": "demo",
    "acl-2022": "acl 2022.acl-long",
    "findings-2022": "acl 2022.findings-acl 2020.aacl-main",
    "acl-pdfs": 'pdfs FOLDER-OF-PDFS --collection acl-pdfs --title "Full texts"',
}
QUERY_TITLES: Mapping[QueryContext, str] = {
    "none": "the question alone",
    "concatenated": "its history behind it",
    "ours": "as we rewrite it",
}
HISTORY_TITLES: Mapping[HistoryKind, str] = {
    "none": "no history",
    "relevant": "relevant history",
    "irrelevant": "irrelevant history",
    "both": "both histories",
}


class _ChosenRow(BaseModel, frozen=True, extra="forbid"):
    """Ids of judged questions: the one to ask, and two that may come before it."""

    id: str
    relevant: str
    irrelevant: str


@dataclass(frozen=True, slots=True)
class ChosenQuestion:
    """A judged question, and two for its history: on the same papers if possible, and on other papers."""

    judged: JudgedQuestion
    relevant: JudgedQuestion
    irrelevant: JudgedQuestion

    @property
    def swapped(self) -> Scope:
        """The papers that were judged for it and do not answer it; put to them, it should be refused."""
        judged_papers = {paper for paper, _, _ in places(self.judged.seen)}
        return Scope(papers=tuple(sorted(judged_papers - answering_papers(self.judged))))

    def history_ids(self, kind: HistoryKind) -> list[str]:
        """Return the ids of the questions before it; in "both" the relevant one comes last."""
        relevant = [self.relevant.id] if kind in ("relevant", "both") else []
        return [self.irrelevant.id, *relevant] if kind in ("irrelevant", "both") else relevant


def answering_papers(question: JudgedQuestion) -> set[str]:
    """Return the papers with a sentence that answers a question or belongs to an answer."""
    return {paper for paper, _, _ in places((*question.full, *question.part))}


def read_chosen(path: Path = DATA / "asked_of_system.jsonl") -> list[ChosenQuestion]:
    """Read the 88 questions, whose corpora alternate; raises EvaluationError."""
    judged = {question.id: question for question in read_judged()}
    rows = read_json_lines(path, _ChosenRow, "Each line has id, relevant and irrelevant: judged questions.")
    try:
        return [ChosenQuestion(judged[row.id], judged[row.relevant], judged[row.irrelevant]) for row in rows]
    except KeyError as error:
        raise EvaluationError(f"{path} names {error}, which is not a judged question.") from None


def check_corpus(name: str, home: Path, corpus: Corpus, questions: Sequence[ChosenQuestion]) -> None:
    """Raise EvaluationError if a corpus lacks a paper or sentence that was judged."""
    for question in questions:
        known = {paper.id for paper in corpus.papers_by_id(question.swapped.papers)}
        lacking = [paper for paper in question.swapped.papers if paper not in known]
        for paper, number, sentence in places(question.judged.full):
            passages = [passage for passage in corpus.passages(paper) if passage.number == number]
            if not any(sentence < len(passage.sentences) for passage in passages):
                lacking.append(f"{paper}#{number}:{sentence}")
        if lacking:
            raise EvaluationError(
                f"The corpus of {home} has no {lacking[0]}, which the question {question.judged.id} needs."
                f" Build the corpus {name} with PAPER_TRAIL_HOME=FOLDER paper-trail index"
                f" {INDEX_ARGUMENTS[name]}."
            )


def _judged_plan(
    kinds: Sequence[HistoryKind | None], limit: int | None, options: TableOptions
) -> PlannedRows:
    """Plan TruthReader's Tables 2 and 6: judged questions, in their own scope and in a swapped one.

    With the kind None there is no history, and citations are measured too.
    """
    chosen = read_chosen()
    questions = [question for question in chosen if question.judged.corpus in options.homes]
    questions = questions[: options.limit or limit]
    for name, count in Counter(question.judged.corpus for question in chosen).items():
        if name not in options.homes:
            yield Missing(
                f"{count} questions of the corpus {name}",
                f"build it and name it: PAPER_TRAIL_HOME=FOLDER paper-trail index {INDEX_ARGUMENTS[name]},"
                f" then --home {name}=FOLDER",
            )
    corpora = sorted({question.judged.corpus for question in questions})
    # Citations and reference answers are only judged without a history.
    problem = judge_problem(options) if None in kinds else ""
    if problem:
        yield Missing("accuracy and citation precision by a judge", problem)
    inputs = {
        "questions": ", ".join(question.judged.id for question in questions),
        "homes": {name: home_folder(options.homes[name]) / "corpus" for name in corpora},
        "references": REFERENCES,
        "judge": "" if problem or None not in kinds else options.judge,
    }
    history_turns = once(partial(_history_turns, options, questions))
    names, missing = choose_generators(options) if questions else ([], [])
    yield from missing
    for name in names:
        row_inputs = {**generator_inputs(options, name), **inputs}
        for kind in kinds:
            system = f"{name}, {HISTORY_TITLES[kind]}" if kind else name
            row = partial(_judged_row, system, options, name, questions, kind, history_turns)
            yield RowPlan(system, {**row_inputs, "history": kind} if kind else row_inputs, row)


def _history_turns(options: TableOptions, questions: Sequence[ChosenQuestion]) -> Mapping[str, Turn]:
    """Return the turns of histories by question id, answered without a model for all generators alike."""
    turns: dict[str, Turn] = {}
    earlier = {
        question.id: question for chosen in questions for question in (chosen.relevant, chosen.irrelevant)
    }
    for name in sorted({question.corpus for question in earlier.values()}):
        unanswered = [
            SystemAnswer(question.id, question.question, question.scope)
            for question in earlier.values()
            if question.corpus == name
        ]
        say(f"{len(unanswered)} questions of {name} for histories.")
        assistant = open_assistant(options.homes[name], EXTRACTIVE, options.settings)
        for answer in answer_all(assistant, unanswered, 1):
            if answer.turn is None:
                raise EvaluationError(f"{answer.id} has no answer: {answer.problem}")
            turns[answer.id] = answer.turn
    return turns


@dataclass(frozen=True, slots=True)
class AnsweredTwice:
    """The answers to a question in its own scope, and in the swapped scope, which cannot answer it."""

    chosen: ChosenQuestion
    answerable: SystemAnswer
    swapped: SystemAnswer

    @property
    def is_right(self) -> bool:
        """True if the answer cites a sentence that was judged to answer the question fully."""
        citations = [citation for sentence in self.answerable.sentences for citation in sentence.citations]
        grades = self.chosen.judged.grades
        return any(grades.get(place_of(citation)) == FULL for citation in citations)


def _ask_twice(
    options: TableOptions,
    generator: str,
    questions: Sequence[ChosenQuestion],
    history: Callable[[ChosenQuestion], tuple[Turn, ...]],
) -> list[AnsweredTwice]:
    """Ask all questions in both scopes, corpus by corpus."""
    answered: list[AnsweredTwice] = []
    for name in dict.fromkeys(chosen.judged.corpus for chosen in questions):
        corpus_questions = [chosen for chosen in questions if chosen.judged.corpus == name]
        assistant = open_assistant(options.homes[name], generator, options.settings, options.cached)
        check_corpus(name, options.homes[name], assistant.corpus, corpus_questions)
        say(f"{generator}: {len(corpus_questions)} questions of {name}, twice.")
        unanswered = []
        for chosen in corpus_questions:
            turns, judged = history(chosen), chosen.judged
            unanswered.append(SystemAnswer(judged.id, judged.question, judged.scope, turns))
            unanswered.append(SystemAnswer(f"{judged.id} swapped", judged.question, chosen.swapped, turns))
        answers = answer_all(assistant, unanswered, options.settings.model_calls)
        answered += map(AnsweredTwice, corpus_questions, answers[::2], answers[1::2])
    return answered


def _judged_row(
    system: str,
    options: TableOptions,
    generator: str,
    questions: Sequence[ChosenQuestion],
    kind: HistoryKind | None,
    history_turns: Callable[[], Mapping[str, Turn]],
) -> Row:
    def history(question: ChosenQuestion) -> tuple[Turn, ...]:
        return tuple(history_turns()[earlier] for earlier in question.history_ids(kind)) if kind else ()

    answered = _ask_twice(options, generator, questions, history)
    answers = [answer for pair in answered for answer in (pair.answerable, pair.swapped)]
    corpora = Counter(pair.chosen.judged.corpus for pair in answered)
    listed = ", ".join(f"{name} {count}" for name, count in corpora.items())
    notes = [
        f"{len(answered)} of {len(read_chosen())} questions ({listed})",
        f"{sum(pair.answerable.is_refused for pair in answered)} refused that can be answered",
        *failure_notes(answers),
    ]
    earlier_turns = [turn for pair in answered for turn in pair.answerable.history]
    if earlier_turns:
        rewritten = sum(bool(answer.turn.rewrite.used_turns) for answer in answers if answer.turn)
        notes.append(f"{rewritten} of {len(answers)} were searched for in the light of their history")
    if refused := sum(turn.answer.refusal is not None for turn in earlier_turns):
        notes.append(f"{refused} of the {len(earlier_turns)} turns before them are refusals")
    figures = {
        "answer accuracy": percent(sum(pair.is_right for pair in answered), len(answered)),
        "refusal recall": percent(sum(pair.swapped.is_refused for pair in answered), len(answered)),
    }
    if kind is None:
        with_answer = [pair.answerable for pair in answered if pair.answerable.is_answered]
        references = read_references()
        figures |= _citation_figures(with_answer) | _reference_figures(with_answer, references)
        if not judge_problem(options):
            judge = open_judge(options.judge, options.settings, replies_file(options.out, options.judge))
            judged_figures, judged_notes = _judge_answers(judge, with_answer, len(answered), references)
            figures |= judged_figures
            notes += judged_notes
    return Row(system, figures, note="; ".join(notes))


def _reference_figures(answers: Sequence[SystemAnswer], references: Mapping[str, str]) -> dict[str, float]:
    """Return the mean ROUGE-L of answers against their reference answers, without citations."""
    scores = [
        rouge(answer.turn.answer.text, references[answer.id])["rougeL"]
        for answer in answers
        if answer.turn and answer.id in references
    ]
    return {"ROUGE-L": sum(scores) / len(scores)} if scores else {}


def _judge_answers(
    judge: Judge, answers: Sequence[SystemAnswer], questions: int, references: Mapping[str, str]
) -> tuple[dict[str, float], list[str]]:
    """Return answer accuracy and citation precision by a judge, with notes on both.

    `questions` is the number of questions asked; those without an answer count as wrong. A citation with an
    unknown label counts as not supported.
    """
    turns = {answer.id: answer.turn for answer in answers if answer.turn}
    right, supported = judge_right(judge, turns, references), judge_citations(judge, list(turns.values()))
    unknown = sum(len(sentence.unknown_labels) for answer in answers for sentence in answer.sentences)
    figures = {"answer accuracy": percent(right.holding, questions - right.failed)}
    if supported.judged + unknown:
        figures["citation precision"] = percent(supported.holding, supported.judged + unknown)
    notes = [
        f"answers and citations judged by {judge.model.id}, which found {right.holding} of"
        f" {right.judged} answers right and {supported.holding} of {supported.judged} citations borne out"
    ]
    for verdicts, kind in ((right, "answer"), (supported, "citation")):
        if verdicts.failed:
            fault = verdicts.problem.rstrip(".")
            notes.append(f"{counted(verdicts.failed, kind)} left out, as no verdict could be used: {fault}")
    return figures, notes


def _citation_figures(answers: Sequence[SystemAnswer]) -> dict[str, float]:
    """Return the share of supported citations, and the number of citations per answer."""
    bar = thresholds().support.supported
    sentences = [sentence for answer in answers for sentence in answer.sentences]
    supported = [(cited.support or 0.0) >= bar for sentence in sentences for cited in sentence.citations]
    # A citation with an unknown label is not supported.
    supported += [False for sentence in sentences for _ in sentence.unknown_labels]
    figures = {"citation precision": percent(sum(supported), len(supported))} if supported else {}
    return figures | ({"citations": len(supported) / len(answers)} if answers else {})


def _histories_plan(options: TableOptions) -> PlannedRows:
    """Plan TruthReader's Figures 4 and 5: recall of an encoder with four kinds of history."""
    found = find_data_set("mtrag", options.data)
    for encoder in dict.fromkeys((options.settings.encoder, *options.encoders)):

        def measured(encoder: str = encoder) -> Figures:
            settings = SearchSetup(encoder=encoder).settings(options.settings)
            return measure_histories(found.path, open_encoder(settings), limit=options.limit)

        # All rows of an encoder are measured at once.
        figures = once(measured)
        inputs = {
            "encoder": encoder,
            "runtime": options.settings.encoder_runtime,
            "turns": found.path,
            "limit": options.limit,
        }
        for context in CONTEXTS:
            for kind in HISTORIES:
                # Other combinations give the same query as a listed one: the question alone.
                if context == "ours" or (context == "none") == (kind == "none"):
                    history = "" if context == "none" else f", {HISTORY_TITLES[kind]}"
                    system = f"{encoder}, {QUERY_TITLES[context]}{history}"
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


ANSWERS = seed_table("truthreader-answers", partial(_judged_plan, (None,), None))
HISTORIES_TABLE = seed_table("truthreader-histories", _histories_plan)
ROBUSTNESS = seed_table("truthreader-robustness", partial(_judged_plan, HISTORIES, ROBUSTNESS_QUESTIONS))
