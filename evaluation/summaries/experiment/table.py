"""ChatCite's table: what each system reaches over all gold sections, beside what the paper prints."""

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Column, Table

from assistant.comparing import Comparison
from assistant.generators import EXTRACTIVE
from corpus.encoder_choice import open_encoder
from corpus.encoders import SentenceEncoder
from corpus.settings import read_settings
from corpus.wording import counted
from evaluation.input_files import EvaluationError
from evaluation.judging import Judge, JudgeFigures, open_judge
from evaluation.summaries.experiment.gold import GoldSection, read_gold_sections
from evaluation.summaries.experiment.runs import (
    Experiment,
    Say,
    SectionRun,
    build_gold_corpus,
    judged_section,
)
from evaluation.summaries.experiment.systems import TableRow, table_rows
from evaluation.summaries.judge import VOTES
from evaluation.summaries.sentence_tags import SentenceTagger, tag_weights
from evaluation.summaries.summary import ROUGE, System, measure_summary
from evaluation.tables.printed import printed_rows


@dataclass(frozen=True, slots=True)
class TableAsked:
    """What the table is made of, and where finished sections are kept; `judge` is "" for none.

    Of so many `sections` the first are taken, None for all.
    """

    corwa: Path
    anthology: Path
    out: Path
    writer: str = EXTRACTIVE
    samples: int = 2
    sections: int | None = None
    judge: str = ""
    votes: int = VOTES


@dataclass(frozen=True, slots=True)
class Spread:
    """A mean over sections, and the standard deviation round it."""

    mean: float
    deviation: float


@dataclass(frozen=True, slots=True)
class RowFigures:
    """What a system reaches, over the sections that all systems have finished.

    `failed` counts the others that it failed on. `covered` is the share of the papers that it cites. Calls
    and tokens are of one section, those that another row's run had made already among them; None where a
    server does not count tokens.
    """

    title: str
    failed: int = 0
    rouge: Mapping[str, Spread] | None = None
    citation_recall: Spread | None = None
    citation_precision: Spread | None = None
    covered: Spread | None = None
    comparative: Spread | None = None
    words: Spread | None = None
    g_score: Spread | None = None
    calls: Spread | None = None
    tokens: Spread | None = None
    not_applicable: str = ""


@dataclass(frozen=True, slots=True)
class TableReport:
    """The whole experiment. `sections` are those measured, `gold` all that were to be."""

    writer: str
    judge: str
    gold: int
    references: int
    sections: int
    judged: int
    rows: Mapping[str, RowFigures]
    problems: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "printed": _printed()}


# The whole Anthology is read for them, which takes half a minute; each writer's table wants the same.
_gold_sections = lru_cache(maxsize=1)(read_gold_sections)


def table_report(asked: TableAsked, say: Say) -> TableReport:
    """Run the experiment, or what is left of it.

    Raises EvaluationError, CorpusError, SourceError and AssistantError.
    """
    settings = read_settings()
    judge = open_judge(asked.judge, settings) if asked.judge else None
    encoder = open_encoder(settings)
    rows = table_rows(asked.writer, asked.samples, settings, encoder)
    say("Looking up the references of all sections in the Anthology.")
    gold = _gold_sections(asked.corwa, asked.anthology)[: asked.sections]
    home = settings.model_copy(update={"home": asked.out})
    corpus = build_gold_corpus(gold, home, encoder, say)
    runs = tuple(Experiment(corpus, encoder, rows, asked.out / "summaries", say).run(gold))
    finished = tuple(run for run in runs if not run.failed)
    if not finished:
        raise EvaluationError(f"No section was finished by all systems. {next(_problems(runs, rows))}")
    judged, unjudged = _judged(finished, judge, asked, say) if judge else ({}, ())
    return TableReport(
        writer=asked.writer,
        judge=asked.judge,
        gold=len(gold),
        references=sum(len(section.papers) for section in gold),
        sections=len(finished),
        judged=len(judged),
        rows=_all_figures(rows, runs, finished, judged),
        problems=(*_problems(runs, rows), *unjudged),
    )


def _judged(
    runs: Sequence[SectionRun], judge: Judge, asked: TableAsked, say: Say
) -> tuple[dict[str, JudgeFigures], tuple[str, ...]]:
    """Return the marks of the sections that could be judged, by their keys, and why others could not."""
    found: dict[str, JudgeFigures] = {}
    problems = []
    for number, run in enumerate(runs, start=1):
        say(f"Section {number} of {len(runs)}: judged by {judge.model.label}.")
        try:
            figures = judged_section(run, tuple(run.systems.values()), judge, asked.votes, asked.out)
        except EvaluationError as error:
            problems.append(f"Section {run.section.key} was not judged. {error}")
            continue
        if figures.discarded < figures.votes:
            found[run.section.key] = figures
        problems += [f"Section {run.section.key}, a vote discarded: {one}" for one in figures.problems]
    return found, tuple(problems)


def _all_figures(
    rows: Sequence[TableRow],
    runs: Sequence[SectionRun],
    finished: Sequence[SectionRun],
    judged: Mapping[str, JudgeFigures],
) -> dict[str, RowFigures]:
    # What the weights were trained with, whatever the corpus has.
    tagger = SentenceTagger(tag_weights().chain(), SentenceEncoder())
    figures = {}
    for row in rows:
        if row.not_applicable:
            figures[row.name] = RowFigures(row.title, not_applicable=row.not_applicable)
            continue
        measured = [(run.section, run.systems[row.name]) for run in finished]
        failed = sum(row.name in run.failed for run in runs)
        marks = [one.systems[row.name].overall for one in judged.values()]
        figures[row.name] = _row_figures(row, measured, failed, marks, tagger)
    return figures


def _row_figures(
    row: TableRow,
    measured: Sequence[tuple[GoldSection, System]],
    failed: int,
    marks: Sequence[float | None],
    tagger: SentenceTagger,
) -> RowFigures:
    found = [measure_summary(system, tagger, gold.text) for gold, system in measured]
    return RowFigures(
        title=row.title,
        failed=failed,
        rouge={name: _required([one.rouge[name] for one in found if one.rouge]) for name in ROUGE},
        citation_recall=spread([one.citation_recall for one in found]),
        citation_precision=spread([one.citation_precision for one in found]),
        covered=spread([one.papers_covered / one.papers for one in found]),
        comparative=spread([one.comparative for one in found]),
        words=spread([one.words for one in found]),
        g_score=spread(marks),
        calls=spread([len(system.comparison.calls) for _, system in measured]),
        tokens=spread([_tokens(system.comparison) for _, system in measured]),
    )


def _tokens(comparison: Comparison) -> int | None:
    """Return how many tokens a comparison took, None where a server does not count them."""
    usage = comparison.usage
    if None in (usage.prompt_tokens, usage.completion_tokens) and comparison.calls:
        return None
    return (usage.prompt_tokens or 0) + (usage.completion_tokens or 0)


def spread(numbers: Sequence[float | None]) -> Spread | None:
    """Return mean and standard deviation of the numbers that there are, None where there are none."""
    known = [number for number in numbers if number is not None]
    return _required(known) if known else None


def _required(numbers: Sequence[float]) -> Spread:
    return Spread(statistics.fmean(numbers), statistics.pstdev(numbers))


def _problems(runs: Sequence[SectionRun], rows: Sequence[TableRow]) -> Iterator[str]:
    titles = {row.name: row.title for row in rows}
    for run in runs:
        for name, problem in run.failed.items():
            yield f"{titles[name]} failed on section {run.section.key}. {problem}"


def experiment_tables(report: TableReport) -> Iterator[Table]:
    """Yield what people read: quality beside the paper's figures, and what else was measured."""
    yield _quality_table(report)
    yield _other_table(report)


def _printed() -> dict[str, tuple[float | None, ...]]:
    """Return what arXiv 2403.02574 prints, of other papers by GPT-4: ROUGE-1, -2 and -L, G-Score."""
    rows = (*printed_rows("chatcite-summaries"), *printed_rows("chatcite-ablations"))
    return {f"printed: {row.system}": tuple(map(row.figures.get, _QUALITY)) for row in rows}


def _quality_table(report: TableReport) -> Table:
    columns = [Column(name, justify="right") for name in _QUALITY]
    table = Table(Column("System", no_wrap=True), *columns, box=SIMPLE_HEAD, caption=_notes(report))
    table.title = (
        f"{report.sections} of {counted(report.gold, 'gold section')} finished by all systems,"
        f" {report.references} references, writer {report.writer}"
    )
    for row in report.rows.values():
        if row.not_applicable:
            table.add_row(row.title, "not applicable")
            continue
        rouge = ("" if row.rouge is None else _shown(row.rouge[name]) for name in ROUGE)
        table.add_row(row.title, *rouge, _shown(row.g_score))
    table.add_section()
    for name, figures in _printed().items():
        cells = ("" if figure is None else f"{figure:.2f}" for figure in figures)
        table.add_row(name, *cells)
    return table


def _other_table(report: TableReport) -> Table:
    columns = [Column(name, justify="right") for name in (*_OTHER, "Failed")]
    table = Table(Column("System", no_wrap=True), *columns, box=SIMPLE_HEAD)
    for row in report.rows.values():
        if not row.not_applicable:
            means = ((getattr(row, field), places) for field, places in _OTHER.values())
            cells = ("" if one is None else f"{one.mean:,.{places}f}" for one, places in means)
            table.add_row(row.title, *cells, str(row.failed))
    return table


_QUALITY = ("ROUGE-1", "ROUGE-2", "ROUGE-L", "G-Score")
_OTHER = {
    "Rec.": ("citation_recall", 2),
    "Prec.": ("citation_precision", 2),
    "Cov.": ("covered", 2),
    "Comp.": ("comparative", 2),
    "Words": ("words", 0),
    "Calls": ("calls", 1),
    "Tokens": ("tokens", 0),
}


def _notes(report: TableReport) -> str:
    notes = [
        "Means ± standard deviations over sections. No reflection is the incremental baseline too. Printed:"
        " arXiv 2403.02574, on other papers, with another judge; zero-shot and LitLLM with GPT-4."
    ]
    if report.judge:
        notes.append(f"G-Score by {report.judge} on {counted(report.judged, 'section')}.")
    if report.judge == report.writer:
        notes.append("The judge is the writer: models favour their own texts.")
    return "\n".join((*notes, *_not_applicable(report), *report.problems))


def _not_applicable(report: TableReport) -> Iterator[str]:
    """Yield why rows are not applicable, those together that have one reason."""
    reasons = dict.fromkeys(row.not_applicable for row in report.rows.values() if row.not_applicable)
    for reason in reasons:
        rows = (row.title for row in report.rows.values() if row.not_applicable == reason)
        yield f"{'; '.join(rows)}: {reason}"


def _shown(figure: Spread | None) -> str:
    return "" if figure is None else f"{figure.mean:.2f} ± {figure.deviation:.2f}"
