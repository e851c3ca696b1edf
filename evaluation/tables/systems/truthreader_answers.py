"""TruthReader, Table 2: answers to judged questions, and to the same with swapped contexts."""

from collections.abc import Iterator, Sequence
from functools import partial

from assistant.checking import thresholds
from assistant.records import AnswerSentence
from evaluation.tables.records import Asked, Column, Missing, Planned, Row, RowPlan, Say, SeedTable
from evaluation.tables.systems.answering import generator_inputs, generators, share
from evaluation.tables.systems.asked_twice import ask_twice, notes_on, right_and_refused
from evaluation.tables.systems.judged_questions import (
    ChosenQuestion,
    homes_missing,
    question_inputs,
    questions_here,
)


def _plan(asked: Asked, say: Say) -> Planned:
    questions = questions_here(asked, asked.limit)
    yield from homes_missing(asked)
    if not questions:
        return
    for name in generators(asked):
        if isinstance(name, Missing):
            yield name
        else:
            inputs = {**generator_inputs(asked, name), **question_inputs(asked, questions)}
            yield RowPlan(name, inputs, partial(_row, asked, name, questions, say))


def _row(asked: Asked, generator: str, questions: Sequence[ChosenQuestion], say: Say) -> Row:
    answered = ask_twice(asked, generator, questions, say)
    given = [one.whole for one in answered if one.whole.is_answered]
    citations = [is_supported for answer in given for is_supported in _supported(answer.sentences)]
    figures = {
        **right_and_refused(answered),
        **({"citation precision": share(sum(citations), len(citations))} if citations else {}),
        **({"citations": len(citations) / len(given)} if given else {}),
    }
    return Row(generator, figures, note="; ".join(notes_on(answered)))


def _supported(sentences: Sequence[AnswerSentence]) -> Iterator[bool]:
    """Yield for each citation whether it is supported; one of a paper that was never given is not."""
    bar = thresholds().support.supported
    for sentence in sentences:
        yield from ((citation.support or 0.0) >= bar for citation in sentence.citations)
        yield from (False for _ in sentence.unknown_labels)


TABLE = SeedTable(
    name="truthreader-answers",
    seed="TruthReader",
    number="Table 2",
    title="answers, refusals and citations",
    columns=(
        *(Column(name, 2) for name in ("answer accuracy", "refusal recall", "citation precision")),
        Column("citations", 2),
    ),
    sets=(),
    plan=_plan,
    asks_corpora=True,
    remarks=(
        "The questions are 88 of ours, not TruthReader's: as many, 22 of each of four corpora of papers, each"
        " with sentences that a language model judged to answer it. Printed figures are of other questions"
        " and do not rank with ours.",
        "Answered rightly: a sentence of the answer cites a sentence that was judged to answer fully. What"
        " answers and was never judged counts as wrong, and what is made of a right source is not read.",
        "Refusal recall: with its context swapped a question is asked of the papers alone that were judged"
        " with it and do not answer it, even in part; the share that is refused.",
        "Citation precision is no judge's: the share of the citations of answers given whose claim our own"
        " support score holds for supported (0.5 and more). Without a model answers are sentences of the"
        " papers, so it says little there. Citations are counted for each answer given.",
        "Without a model what is chosen and refused was fitted on 328 judged questions, these 88 among them,"
        " with the sentences of their swapped contexts: its row is of what it was fitted on.",
    ),
)
