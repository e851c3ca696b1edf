"""Answers: questions understood, refused, answered, and what carries them."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from assistant.generators import EXTRACTIVE
from corpus.encoders import Runtime
from evaluation.answers.attribution.pairs import Selection
from evaluation.answers.highlights import highlights_table, measure_highlights
from evaluation.answers.questions import (
    QUESTIONS,
    Chosen,
    Part,
    QuestionKind,
    Written,
    measure_questions,
    questions_table,
)
from evaluation.answers.refusal import measure_refusal, refusal_table
from evaluation.answers.rewriting import measure_rewriting, read_turns, rewriting_table
from evaluation.answers.table_questions import (
    TABLE_QUESTIONS,
    measure_table_questions,
    read_table_questions,
    table_counts,
    table_questions_table,
)
from evaluation.answers.wordings import measure_wordings, wordings_table
from evaluation.commands.failures import failures_told
from evaluation.commands.printing import out
from evaluation.corpus_figures import corpus_table, measure_corpus
from evaluation.input_files import named_folders
from evaluation.judged import JUDGED, counts_of, judged_table, measure_judged, read_judged


def rewriting(
    turns: Annotated[
        Path,
        typer.Option(
            help="JSON lines with history, raw and manual (CAsT), or history, question and rewrite (CANARD)."
        ),
    ],
) -> None:
    """Measure rewriting without a model against questions that people rewrote."""
    with failures_told():
        figures = measure_rewriting(read_turns(turns))
    out.print(rewriting_table(figures))
    sources = {name: part for name, part in figures.items() if name != "all"}
    typer.echo(json.dumps({**figures["all"], "sources": sources}))


def refusal(
    corpus: Annotated[Path, typer.Option(help="A PAPER_TRAIL_HOME, or the corpus folder in it.")],
    *,
    made: Annotated[bool, typer.Option(help="Make questions from the papers in any case.")] = False,
) -> None:
    """Measure refusal without a model: questions asked of collections that can and cannot answer them."""
    with failures_told():
        figures = measure_refusal(corpus, made=made)
    out.print(refusal_table(figures))
    typer.echo(json.dumps(figures))


def questions(
    corpus: Annotated[Path, typer.Option(help="A PAPER_TRAIL_HOME, or the corpus folder in it.")],
    *,
    data: Annotated[
        Path, typer.Option(help="JSON lines: id, question, history, paper, expect, expected_papers.")
    ] = QUESTIONS,
    out_file: Annotated[
        Path | None, typer.Option("--out", help="Where every answer goes, for people to judge.")
    ] = None,
    part: Annotated[Part | None, typer.Option(help="Ask this part alone.")] = None,
    kind: Annotated[QuestionKind | None, typer.Option(help="Ask this kind alone.")] = None,
    corpus_name: Annotated[
        str | None, typer.Option(help="Ask those alone that were written for this corpus, such as demo.")
    ] = None,
    trails: Annotated[
        Path | None, typer.Option(help="A folder for the trail of each question, for a model to judge.")
    ] = None,
    generator: Annotated[str, typer.Option(help="What writes: extractive, or a model's id.")] = EXTRACTIVE,
) -> None:
    """Ask questions that were written beforehand, count answers and refusals, and keep them to be judged."""
    with failures_told():
        chosen, written = Chosen(part, kind, corpus_name), Written(out_file, trails)
        figures = measure_questions(data, corpus, chosen, written, generator)
    out.print(questions_table(figures))
    typer.echo(json.dumps(figures))


def corpus(
    home: Annotated[
        Path | None, typer.Option(help="The PAPER_TRAIL_HOME to measure; by default that of the settings.")
    ] = None,
    most: Annotated[int, typer.Option(help="Ask so much of each kind at most.", min=1)] = 100,
) -> None:
    """Measure a corpus as a whole, and keep the figures beside it: the About page shows them."""
    # Not of a home that only this machine has.
    command = f"paper-trail eval corpus --most {most}"
    with failures_told():
        report = measure_corpus(home, most, command)
    out.print(corpus_table(report))
    typer.echo(json.dumps(asdict(report)))


def wordings(
    corpus: Annotated[Path, typer.Option(help="A PAPER_TRAIL_HOME, or the corpus folder in it.")],
    most: Annotated[int, typer.Option(help="Ask of so many topics, full texts and systems.", min=1)] = 30,
) -> None:
    """Measure how steady answers are: in other words, of every full text, and where nothing is said."""
    with failures_told():
        figures = measure_wordings(corpus, most)
    out.print(wordings_table(figures))
    typer.echo(json.dumps(figures))


def highlights(
    data: Annotated[Path, typer.Option(help="JSON lines in the form of ACLSum, with highlights.")],
    split: Annotated[str, typer.Option(help="Ask of this split alone.")] = "",
) -> None:
    """Measure whether the first sentence about a paper's challenge, approach or outcome is highlighted."""
    with failures_told():
        figures = measure_highlights(data, split)
    out.print(highlights_table(figures))
    typer.echo(json.dumps(figures))


def judged(
    home: Annotated[
        list[str], typer.Option(help="Where a corpus of the questions was built: NAME=FOLDER, once for each.")
    ],
    data: Annotated[Path, typer.Option(help="The judged questions.")] = JUDGED,
) -> None:
    """Ask questions of which was judged what answers them, and count the sentences that do."""
    with failures_told():
        outcomes = measure_judged(read_judged(data), named_folders(home))
    out.print(judged_table(outcomes))
    typer.echo(json.dumps(counts_of(outcomes)))


def tables_asked(
    home: Annotated[
        list[str], typer.Option(help="Where a corpus of the questions was built: NAME=FOLDER, once for each.")
    ],
    data: Annotated[
        Path, typer.Option(help="JSON lines: question, corpus, paper, row, value.")
    ] = TABLE_QUESTIONS,
) -> None:
    """Ask questions about cells of tables, and count the answers from the row that is printed."""
    with failures_told():
        outcomes = measure_table_questions(read_table_questions(data), named_folders(home))
    out.print(table_questions_table(outcomes))
    typer.echo(json.dumps(table_counts(outcomes)))


def attribution(
    pairs: Annotated[
        Path,
        typer.Option(
            help="JSON lines: claim, references or evidence, label (1 = supported, or in words), set, split."
        ),
    ],
    *,
    cross_validate: Annotated[
        bool,
        typer.Option("--cross-validate", help="Score each pair by weights that saw nothing of its kind."),
    ] = False,
    across_sets: Annotated[
        bool, typer.Option("--across-sets", help="Score each set by weights trained on the other sets.")
    ] = False,
    only_set: Annotated[
        list[str] | None, typer.Option("--set", help="Measure this set alone; for several, repeat.")
    ] = None,
    split: Annotated[
        list[str] | None, typer.Option(help="Measure this split alone; for several, repeat.")
    ] = None,
    sample: Annotated[
        int | None, typer.Option(help="Measure so many pairs of each set, the same every time.", min=1)
    ] = None,
    runtime: Annotated[Runtime | None, typer.Option(help="What runs the encoder.")] = None,
) -> None:
    """Measure overlap and support against human labels, and on claims made wrong on purpose."""
    from evaluation.answers.attribution import agreement as report  # noqa: PLC0415 - scikit-learn takes seconds to import

    how: report.Scoring = "cross-validated" if cross_validate else "other sets" if across_sets else "shipped"
    with failures_told():
        chosen = Selection(tuple(only_set or ()), tuple(split or ()), sample)
        figures = report.attribution_figures(pairs, how, runtime, chosen)
    for table in report.attribution_tables(figures):
        out.print(table)
    typer.echo(json.dumps(figures.to_json()))


def evidence(
    data: Annotated[
        Path, typer.Option(help="JSON lines: question, candidates, relevant (indices), history, title, set.")
    ],
    runtime: Annotated[Runtime | None, typer.Option(help="What runs the encoder.")] = None,
) -> None:
    """Measure how high rankers place the candidates that answer a question."""
    from evaluation.answers.evidence import ranking as report  # noqa: PLC0415 - scikit-learn takes seconds to import

    with failures_told():
        figures = report.measure_evidence(data, runtime)
    out.print(report.evidence_table(figures))
    typer.echo(json.dumps(figures.to_json()))


def evidence_sets(
    data: Annotated[Path, typer.Option(help="The folder with questions/ and attribution/.")],
    out_file: Annotated[Path, typer.Option("--out", help="Where the rows go.")],
    only_set: Annotated[
        list[str] | None, typer.Option("--set", help="Write this set alone; for several, repeat.")
    ] = None,
) -> None:
    """Write rows for `evidence`, made of data sets in which people marked what answers a question."""
    from evaluation.answers.evidence import sets  # noqa: PLC0415 - needed by this command alone

    with failures_told():
        made = sets.write_evidence_sets(data, out_file, only_set or ())
    out.print(sets.evidence_sets_table(made))
    typer.echo(json.dumps(sets.count_rows(made)))


def judge(
    turns: Annotated[
        list[str],
        typer.Option(help="A trail's JSON or a folder of them, as FILE or NAME=FILE; once for each system."),
    ],
    model: Annotated[str, typer.Option(help="The model that marks all answers to a question together.")],
    *,
    votes: Annotated[
        int | None,
        typer.Option(
            help="How often the judge is asked of each question; by default once for each system.",
            min=1,
            max=25,
        ),
    ] = None,
    out_file: Annotated[
        Path | None, typer.Option("--out", help="Where votes are kept; those in it are not asked for again.")
    ] = None,
    human: Annotated[
        Path | None,
        typer.Option(help="People's marks, JSON lines or CSV: question, system, a mark for each quality."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print nothing but the JSON line.")] = False,
) -> None:
    """Have answers of several systems marked by a model, and measure how far it agrees with people."""
    from evaluation.answers import judge as report  # noqa: PLC0415 - scipy takes a second to import

    with failures_told():
        asked = report.AskedToJudge(turns, model, votes, out_file, human)
        judged = report.judge_answers(asked, lambda line: typer.echo(line, err=True))
    for table in () if as_json else report.judge_tables(judged):
        out.print(table)
    typer.echo(json.dumps(judged.to_json(), allow_nan=False))
    if not judged.judged:
        raise typer.Exit(2)
