"""ChatCite's results and ablations (arXiv 2403.02574, section 5), from one experiment on gold sections."""

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
from evaluation.tables.harness import Asked, Missing, Planned, Row, RowPlan, once, seed_table
from evaluation.tables.sources import Found, find

GOLD, ANTHOLOGY = "nudtrwg", "anthology"
SAMPLES = 2
_COLUMNS = {"ROUGE-1": "rouge1", "ROUGE-2": "rouge2", "ROUGE-L": "rougeL", "G-Score": "g_score"}
# The systems by the names that the experiment has for them.
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


def _plan(without_a_model: Mapping[str, str], with_a_model: Mapping[str, str], asked: Asked) -> Planned:
    files = {name: found.path for name, found in _gold_files(asked).items()}
    if not asked.judge:
        yield Missing("G-Score", "name a judge with --judge.")
    if not asked.models:
        advice = "there is nothing to prompt: name a model with --model."
        yield Missing(", ".join(with_a_model.values()), advice)
    for index, writer in enumerate(asked.models or (EXTRACTIVE,)):
        inputs: dict[str, object] = {**files, "sections": asked.limit}
        inputs |= {"homes": {name: home_folder(home) / "corpus" for name, home in asked.homes.items()}}
        inputs |= {"writer": writer, "judge": asked.judge, "samples": SAMPLES, "encoder": _encoder(asked)}
        inputs |= {"repeat": _runs(asked, writer)}
        # One experiment has all rows, so that a judge sees all systems of a section together.
        report = once(partial(_report, asked, writer))
        own = {} if writer == EXTRACTIVE else {name: f"{it}, {writer}" for name, it in with_a_model.items()}
        for name, title in {**({} if index else without_a_model), **own}.items():
            yield RowPlan(title, inputs, partial(_row, report, name, title))


def _gold_files(asked: Asked) -> dict[str, Found]:
    """Find the gold sections; those of CORWA need the Anthology. Raises MissingError."""
    gold = find(GOLD, asked.data)
    return {GOLD: gold} | ({ANTHOLOGY: find(ANTHOLOGY, asked.data)} if gold.form.stands_in else {})


def _read_gold(asked: Asked, encoder: Encoder) -> tuple[GoldSection, ...]:
    files = _gold_files(asked)
    if ANTHOLOGY not in files:
        return read_sets(files[GOLD].path)
    places = (home_folder(home) for home in asked.homes.values())
    corpora = [
        Corpus.open(asked.settings.model_copy(update={"home": home}).corpus_path, encoder) for home in places
    ]
    return read_corwa(files[GOLD].path, files[ANTHOLOGY].path, corpora)


def _report(asked: Asked, writer: str) -> Figures:
    # rouge_score takes a second to import.
    from evaluation.summaries.experiment import run_experiment  # noqa: PLC0415

    # Summaries of a model were paid for, and outlive our code.
    made_by = [writer, *_encoder(asked), *([harness.code_hash(RESULTS.code)] if writer == EXTRACTIVE else [])]
    key = hashlib.sha256("\0".join(made_by).encode()).hexdigest()[:12]
    name = "".join(sign if sign.isalnum() else "-" for sign in writer)
    folder = asked.out / "chatcite-experiment" / f"{name}-{key}"
    encoder = open_encoder(asked.settings)
    say("Reading the gold sections and their references.")
    gold = _read_gold(asked, encoder)[: asked.limit]
    return run_experiment(
        gold, asked.settings, encoder, folder, writer, SAMPLES, asked.judge, _runs(asked, writer)
    )


def _runs(asked: Asked, writer: str) -> int:
    """Count the runs of a writer: one without a model, as every run is the same."""
    return 1 if writer == EXTRACTIVE else asked.repeat


def _encoder(asked: Asked) -> tuple[str, str]:
    return asked.settings.encoder, asked.settings.encoder_runtime


def _row(measured: Callable[[], Figures], name: str, title: str) -> Row:
    """Return the row of a system of the experiment; raises EvaluationError where it finished no section."""
    report = measured()
    own = report["rows"][name]
    if not own["sections"]:
        raise EvaluationError(f"It finished none of {report['gold']} sections. {own['problem']}")
    spreads = {column: found for column, key in _COLUMNS.items() if (found := own["figures"][key])}
    return Row(
        title,
        {column: found["mean"] for column, found in spreads.items()},
        {column: found["deviation"] for column, found in spreads.items()},
        note="; ".join(_notes(report, own, has_model=name not in _WITHOUT_A_MODEL)),
        is_whole=own["sections"] == report["gold"]
        and (not report["judge"] or report["judged"] == report["gold"]),
    )


def _notes(report: Figures, own: Figures, *, has_model: bool) -> Iterator[str]:
    """Yield on how much a row was measured and how its system wrote."""
    runs = f" in {report['runs']} runs" if report["runs"] > 1 else ""
    yield f"on {own['sections']} of {report['gold']} sections{runs}"
    if failed := report["gold"] - own["sections"]:
        yield f"it failed on {failed}"
    if report["judged"]:
        yield f"judged by {report['judge']} on {report['judged']}"
    of_runs = {column: own["of_runs"][key] for column, key in _COLUMNS.items()}
    if spreads := [f"{column} ± {found:.2f}" for column, found in of_runs.items() if found is not None]:
        yield f"means of whole runs: {', '.join(spreads)}"
    if own["note"]:
        yield own["note"]
    if has_model:
        kinds = (f"{kind} ({count})" for kind, count in report["described_by"].items())
        yield f"the work described by its {', '.join(kinds)}"


RESULTS = seed_table("chatcite-summaries", partial(_plan, _WITHOUT_A_MODEL, _WITH_A_MODEL))
ABLATIONS = seed_table("chatcite-ablations", partial(_plan, {}, _ABLATIONS))
