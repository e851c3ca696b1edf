"""ChatCite's results and ablations (arXiv 2403.02574, section 4), from one experiment on gold sections."""

import hashlib
from collections.abc import Callable, Mapping
from functools import cache, partial

from assistant.generators import EXTRACTIVE
from evaluation.harness import Figures
from evaluation.tables import harness
from evaluation.tables.harness import Asked, Missing, Planned, Row, RowPlan, seed_table
from evaluation.tables.sources import MissingError, find

SETS = ("corwa", "anthology")
SAMPLES = 2
_ROUGE = {"ROUGE-1": "rouge1", "ROUGE-2": "rouge2", "ROUGE-L": "rougeL"}
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


def _plan(without_a_model: Mapping[str, str], with_a_model: Mapping[str, str], asked: Asked) -> Planned:
    corwa, anthology = (find(name, asked.data).path for name in SETS)
    if not asked.judge:
        yield Missing("G-Score", "name a judge with --judge.")
    if not asked.models:
        advice = "there is nothing to prompt: name a model with --model."
        yield Missing(", ".join(with_a_model.values()), advice)
    for index, writer in enumerate(asked.models or (EXTRACTIVE,)):
        inputs: dict[str, object] = {"corwa": corwa, "anthology": anthology, "sections": asked.limit}
        inputs |= {"writer": writer, "judge": asked.judge, "samples": SAMPLES, "encoder": _encoder(asked)}
        # One experiment has all rows, so that a judge sees all systems of a section together.
        report = cache(partial(_report, asked, writer))
        own = {} if writer == EXTRACTIVE else {name: f"{it}, {writer}" for name, it in with_a_model.items()}
        for name, title in {**({} if index else without_a_model), **own}.items():
            yield RowPlan(title, inputs, partial(_row, report, name, title))


def _report(asked: Asked, writer: str) -> Figures:
    # rouge_score takes a second to import.
    from evaluation.summaries.experiment import run_experiment  # noqa: PLC0415

    corwa, anthology = (find(name, asked.data).path for name in SETS)
    # Summaries of a model were paid for, and outlive our code.
    made_by = [writer, *_encoder(asked), *([harness.code_hash(RESULTS.code)] if writer == EXTRACTIVE else [])]
    key = hashlib.sha256("\0".join(made_by).encode()).hexdigest()[:12]
    name = "".join(sign if sign.isalnum() else "-" for sign in writer)
    folder = asked.out / "chatcite-experiment" / f"{name}-{key}"
    return run_experiment(corwa, anthology, folder, writer, SAMPLES, asked.limit, asked.judge)


def _encoder(asked: Asked) -> tuple[str, str]:
    return asked.settings.encoder, asked.settings.encoder_runtime


def _row(measured: Callable[[], Figures], name: str, title: str) -> Row:
    """Return the row of a system of the experiment; raises MissingError where it does not apply."""
    report = measured()
    found = report["rows"][name]
    if found["not_applicable"]:
        raise MissingError("not applicable", found["not_applicable"])
    spreads = {column: found["rouge"][metric] for column, metric in _ROUGE.items()}
    if found["g_score"]:
        spreads["G-Score"] = found["g_score"]
    failed = f"; it failed on {found['failed']}" if found["failed"] else ""
    judged = f"; judged by {report['judge']} on {report['judged']}" if found["g_score"] else ""
    return Row(
        title,
        {column: spread["mean"] for column, spread in spreads.items()},
        {column: spread["deviation"] for column, spread in spreads.items()},
        note=f"on {report['sections']} of {report['gold']} sections{failed}{judged}",
        is_whole=report["sections"] == report["gold"]
        and (not report["judge"] or report["judged"] == report["sections"]),
    )


RESULTS = seed_table("chatcite-summaries", partial(_plan, _WITHOUT_A_MODEL, _WITH_A_MODEL))
ABLATIONS = seed_table("chatcite-ablations", partial(_plan, {}, _ABLATIONS))
