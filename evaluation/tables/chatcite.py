"""ChatCite's tables of results and ablations (arXiv 2403.02574, section 5), both from one experiment."""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from functools import partial

from assistant.generators.protocol import EXTRACTIVE
from corpus.encoder_choice import open_encoder
from corpus.encoders.base import Encoder
from corpus.store.corpus import Corpus
from evaluation.harness import Figures, say
from evaluation.input_files import EvaluationError, home_folder
from evaluation.summaries.gold import GoldSection, read_corwa, read_sets
from evaluation.tables import harness
from evaluation.tables.harness import Missing, PlannedRows, Row, RowPlan, TableOptions, once, seed_table
from evaluation.tables.sources import FoundDataSet, find_data_set

GOLD, ANTHOLOGY = "nudtrwg", "anthology"
SAMPLES = 2
_COLUMNS = {"ROUGE-1": "rouge1", "ROUGE-2": "rouge2", "ROUGE-L": "rougeL", "G-Score": "g_score"}
# Titles of the systems by their names in the experiment.
_WITHOUT_A_MODEL = {"lead": "lead sentences", "extractive": "extractive"}
_WITH_A_MODEL = {
    "zero-shot": "zero-shot",
    "few-shot": "few-shot",
    "litllm": "LitLLM's way, a plan first",
    "without-reflection": "incremental, no reflection",
    "chatcite": "ChatCite's method",
}
_ABLATIONS = {
    "few-shot": "few-shot",
    "chatcite": "all parts",
    "without-elements": "no elements",
    "without-increments": "no increments",
    "without-reflection": "no reflection",
}


def _plan(
    without_a_model: Mapping[str, str], with_a_model: Mapping[str, str], options: TableOptions
) -> PlannedRows:
    files = {name: found.path for name, found in _gold_files(options).items()}
    if not options.judge:
        yield Missing("G-Score", "name a judge with --judge.")
    if not options.models:
        advice = "there is nothing to prompt: name a model with --model."
        yield Missing(", ".join(with_a_model.values()), advice)
    for index, writer in enumerate(options.models or (EXTRACTIVE,)):
        inputs: dict[str, object] = {**files, "sections": options.limit}
        inputs |= {"homes": {name: home_folder(home) / "corpus" for name, home in options.homes.items()}}
        inputs |= {"writer": writer, "judge": options.judge, "samples": SAMPLES, "encoder": _encoder(options)}
        inputs |= {"repeat": _runs(options, writer)}
        # One experiment has all rows, so that a judge sees all systems of a section together.
        report = once(partial(_report, options, writer))
        titles = {} if index else dict(without_a_model)
        if writer != EXTRACTIVE:
            titles |= {name: f"{title}, {writer}" for name, title in with_a_model.items()}
        for name, title in titles.items():
            yield RowPlan(title, inputs, partial(_row, report, name, title))


def _gold_files(options: TableOptions) -> dict[str, FoundDataSet]:
    """Find the file of gold sections and, for CORWA, the Anthology; raises MissingError."""
    gold = find_data_set(GOLD, options.data)
    return {GOLD: gold} | ({ANTHOLOGY: find_data_set(ANTHOLOGY, options.data)} if gold.form.stands_in else {})


def _read_gold(options: TableOptions, encoder: Encoder) -> tuple[GoldSection, ...]:
    files = _gold_files(options)
    if ANTHOLOGY not in files:
        return read_sets(files[GOLD].path)
    corpora = [
        Corpus.open(options.settings.model_copy(update={"home": home_folder(home)}).corpus_path, encoder)
        for home in options.homes.values()
    ]
    return read_corwa(files[GOLD].path, files[ANTHOLOGY].path, corpora)


def _report(options: TableOptions, writer: str) -> Figures:
    # rouge_score takes a second to import.
    from evaluation.summaries.experiment import run_experiment  # noqa: PLC0415

    # Paid summaries of a model are reused after a change of our code.
    made_by = [
        writer,
        *_encoder(options),
        *([harness.code_hash(RESULTS.code)] if writer == EXTRACTIVE else []),
    ]
    key = hashlib.sha256("\0".join(made_by).encode()).hexdigest()[:12]
    name = "".join(character if character.isalnum() else "-" for character in writer)
    folder = options.out / "chatcite-experiment" / f"{name}-{key}"
    encoder = open_encoder(options.settings)
    say("Reading the gold sections and their references.")
    gold = _read_gold(options, encoder)[: options.limit]
    return run_experiment(
        gold, options.settings, encoder, folder, writer, SAMPLES, options.judge, _runs(options, writer)
    )


def _runs(options: TableOptions, writer: str) -> int:
    """Return the number of runs of a writer; without a model all runs are the same, so 1."""
    return 1 if writer == EXTRACTIVE else options.repeat


def _encoder(options: TableOptions) -> tuple[str, str]:
    return options.settings.encoder, options.settings.encoder_runtime


def _row(run_experiment: Callable[[], Figures], name: str, title: str) -> Row:
    """Return the row of a system of the experiment; raises EvaluationError if it finished no section."""
    report = run_experiment()
    figures = report["rows"][name]
    if not figures["sections"]:
        raise EvaluationError(f"It finished none of {report['gold']} sections. {figures['problem']}")
    spreads = {column: spread for column, key in _COLUMNS.items() if (spread := figures["figures"][key])}
    return Row(
        title,
        {column: spread["mean"] for column, spread in spreads.items()},
        {column: spread["deviation"] for column, spread in spreads.items()},
        note="; ".join(_notes(report, figures, has_model=name not in _WITHOUT_A_MODEL)),
        is_whole=figures["sections"] == report["gold"]
        and (not report["judge"] or report["judged"] == report["gold"]),
    )


def _notes(report: Figures, figures: Figures, *, has_model: bool) -> Iterator[str]:
    """Yield notes on the sections and runs behind a row and on how its system wrote."""
    runs = f" in {report['runs']} runs" if report["runs"] > 1 else ""
    yield f"on {figures['sections']} of {report['gold']} sections{runs}"
    if failed := report["gold"] - figures["sections"]:
        yield f"it failed on {failed}"
    if report["judged"]:
        yield f"judged by {report['judge']} on {report['judged']}"
    deviations = {column: figures["of_runs"][key] for column, key in _COLUMNS.items()}
    if listed := [f"{column} ± {value:.2f}" for column, value in deviations.items() if value is not None]:
        yield f"means of whole runs: {', '.join(listed)}"
    if figures["note"]:
        yield figures["note"]
    if has_model:
        kinds = (f"{kind} ({count})" for kind, count in report["described_by"].items())
        yield f"the work described by its {', '.join(kinds)}"


RESULTS = seed_table("chatcite-summaries", partial(_plan, _WITHOUT_A_MODEL, _WITH_A_MODEL))
ABLATIONS = seed_table("chatcite-ablations", partial(_plan, {}, _ABLATIONS))
