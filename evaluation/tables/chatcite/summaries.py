"""ChatCite's results and its ablations, from one experiment on gold sections."""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from assistant.generators import EXTRACTIVE
from evaluation.tables.records import (
    Asked,
    Column,
    Missing,
    MissingError,
    Planned,
    Row,
    RowPlan,
    Say,
    SeedTable,
)
from evaluation.tables.runs import code_hash
from evaluation.tables.sources import find

if TYPE_CHECKING:
    from evaluation.summaries.experiment import RowFigures, TableReport

SETS = ("corwa", "anthology")
SAMPLES = 2
_ROUGE = {"ROUGE-1": "rouge1", "ROUGE-2": "rouge2", "ROUGE-L": "rougeL"}
_COLUMNS = tuple(Column(name, 2) for name in (*_ROUGE, "G-Score"))
# The systems by the names that the experiment has for them.
_WITHOUT_A_MODEL = {"lead": "lead sentences", "extractive": "extractive"}
_WITH_A_MODEL = {
    "zero-shot": "zero-shot",
    "few-shot": "few-shot",
    "without-reflection": "incremental, no reflection",
    "chatcite": "ChatCite's method",
}
_ABLATIONS = {
    "chatcite": "all parts",
    "without-elements": "no elements",
    "without-increments": "no increments",
    "without-reflection": "no reflection",
}
_REMARKS = (
    "Ours: sections of CORWA whose references the Anthology has with an abstract; the paper's own gold"
    " sections and references are not published. ROUGE F1 with stemming over the whole text.",
    "G-Score: means of the marks of one judge, who is shown all systems of a section together; the printed"
    " ones are by GPT-4 on other papers.",
)


def _plan_results(asked: Asked, say: Say) -> Planned:
    yield from _plan(asked, say, _WITHOUT_A_MODEL, _WITH_A_MODEL)


def _plan_ablations(asked: Asked, say: Say) -> Planned:
    yield from _plan(asked, say, {}, _ABLATIONS)


def _plan(
    asked: Asked, say: Say, without_a_model: Mapping[str, str], with_a_model: Mapping[str, str]
) -> Planned:
    corwa, anthology = (find(name, asked.data).path for name in SETS)
    if not asked.judge:
        yield Missing("G-Score", "name a judge with --judge.")
    if not asked.models:
        yield Missing(_listed(with_a_model), "there is nothing to prompt: name a model with --model.")
    for index, writer in enumerate(asked.models or (EXTRACTIVE,)):
        inputs: dict[str, object] = {"corwa": corwa, "anthology": anthology, "sections": asked.limit}
        inputs |= {"writer": writer, "judge": asked.judge, "samples": SAMPLES, "encoder": _encoder(asked)}
        # One experiment has all its rows, so that a judge sees all systems of a section together.
        report = cache(partial(_report, asked, writer, say))
        own = {} if writer == EXTRACTIVE else {name: f"{it}, {writer}" for name, it in with_a_model.items()}
        for name, title in {**({} if index else without_a_model), **own}.items():
            yield RowPlan(title, inputs, partial(_row, report, name, title))


def _listed(systems: Mapping[str, str]) -> str:
    return ", ".join(systems.values())


def _report(asked: Asked, writer: str, say: Say) -> "TableReport":
    # rouge_score takes a second to import.
    from evaluation.summaries.experiment import TableAsked, table_report  # noqa: PLC0415

    corwa, anthology = (find(name, asked.data).path for name in SETS)
    wanted = TableAsked(corwa, anthology, _folder(asked, writer), writer, SAMPLES, asked.limit, asked.judge)
    return table_report(wanted, say)


def _folder(asked: Asked, writer: str) -> Path:
    """Return where the summaries of a writer are kept.

    Those of a model were paid for, and outlive our code; what costs nothing is of the code that is measured.
    """
    made_by = [writer, *_encoder(asked), *([code_hash(_CODE)] if writer == EXTRACTIVE else [])]
    told_apart = hashlib.sha256("\0".join(made_by).encode()).hexdigest()[:12]
    name = "".join(one if one.isalnum() else "-" for one in writer)
    return asked.out / "chatcite-experiment" / f"{name}-{told_apart}"


def _encoder(asked: Asked) -> tuple[str, str]:
    return asked.settings.encoder, asked.settings.encoder_runtime


def _row(measured: Callable[[], "TableReport"], name: str, title: str) -> Row:
    """Return the row of a system of the experiment; raises MissingError where it does not apply."""
    report = measured()
    found = report.rows[name]
    if found.not_applicable:
        raise MissingError("not applicable", found.not_applicable)
    spreads = dict(_spreads(found))
    return Row(
        title,
        {column: mean for column, (mean, _) in spreads.items()},
        {column: deviation for column, (_, deviation) in spreads.items()},
        note=_note(report, found),
        is_whole=report.sections == report.gold and (not report.judge or report.judged == report.sections),
    )


def _spreads(found: "RowFigures") -> Iterator[tuple[str, tuple[float, float]]]:
    for column, metric in _ROUGE.items():
        if found.rouge:
            yield column, (found.rouge[metric].mean, found.rouge[metric].deviation)
    if found.g_score:
        yield "G-Score", (found.g_score.mean, found.g_score.deviation)


def _note(report: "TableReport", found: "RowFigures") -> str:
    failed = f"; it failed on {found.failed}" if found.failed else ""
    judged = f"; judged by {report.judge} on {report.judged}" if found.g_score else ""
    return f"on {report.sections} of {report.gold} sections{failed}{judged}"


_CODE = (
    *("assistant", "corpus", "indexer"),
    *("evaluation/summaries", "evaluation/judging", "evaluation/tables/chatcite"),
)

RESULTS = SeedTable(
    name="chatcite-summaries",
    seed="ChatCite",
    number="main results",
    title="comparative summaries beside gold sections",
    columns=_COLUMNS,
    sets=SETS,
    plan=_plan_results,
    remarks=_REMARKS,
    code=_CODE,
)
ABLATIONS = SeedTable(
    name="chatcite-ablations",
    seed="ChatCite",
    number="ablations",
    title="what each part of the method brings",
    columns=_COLUMNS,
    sets=SETS,
    plan=_plan_ablations,
    remarks=_REMARKS,
    code=_CODE,
)
