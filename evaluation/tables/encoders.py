"""GenGO Ultra, Table 1: retrieval by encoders, alone and in our search, on SciFact, SciDocs and LitSearch."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

from corpus.search.hybrid import SearchMode
from corpus.settings import BUNDLED_ENCODER
from evaluation.harness import Figures, say
from evaluation.retrieval import JudgedCollection, SearchSetup, evaluate_modes, read_judged
from evaluation.tables.harness import Missing, PlannedRows, Row, RowPlan, TableOptions, seed_table
from evaluation.tables.sources import FoundDataSet, MissingError, cached_weights, check_count, find_data_set

# The six encoders of the paper's table.
ENCODERS = (
    "Snowflake/snowflake-arctic-embed-m-v1.5",
    "Snowflake/snowflake-arctic-embed-m",
    "BAAI/bge-small-en-v1.5",
    "intfloat/e5-small-v2",
    "Snowflake/snowflake-arctic-embed-xs",
    BUNDLED_ENCODER,
)
SETS = {"scifact": "SciFact", "scidocs": "SciDocs", "litsearch": "LitSearch"}
OTHER_SETS = {"cacm": "CACM"}
# Queries of SciDocs are titles of papers that may be in the collection, under the same ids.
_PAPERS_AS_QUERIES = frozenset({"scidocs"})
METRICS = {"nDCG@10": "ndcg@10", "MAP@10": "map@10", "Recall@5": "recall@5", "Recall@20": "recall@20"}
MODES: Mapping[SearchMode, str] = {"dense": "", "hybrid": ", our hybrid search"}

_Set = tuple[FoundDataSet, JudgedCollection]


def _plan(titles: Mapping[str, str], options: TableOptions) -> PlannedRows:
    sets: list[_Set] = []
    for name in titles:
        try:
            found = find_data_set(name, options.data)
            judged = read_judged(found.path)
            check_count(found, "documents", len(judged))
            check_count(found, "queries", len(judged.queries))
        except MissingError as error:
            yield Missing(error.what, error.advice)
        else:
            judged = replace(judged, leaves_out_itself=name in _PAPERS_AS_QUERIES)
            sets.append((found, judged.first(options.limit)))
    for encoder in _encoders(options) if sets else ():
        yield from _rows(encoder, sets, titles, options)


def _encoders(options: TableOptions) -> tuple[str, ...]:
    """Return the requested encoders, by default the paper's six and that of the settings."""
    named = {encoder_name(encoder): encoder for encoder in ENCODERS}
    if options.encoders:
        return tuple(named.get(encoder, encoder) for encoder in options.encoders)
    return tuple(dict.fromkeys((*ENCODERS, options.settings.encoder)))


def encoder_name(encoder: str) -> str:
    """Return an encoder's name without its owner or folder, as tables print it."""
    return Path(encoder).name


def _rows(
    encoder: str, sets: Sequence[_Set], titles: Mapping[str, str], options: TableOptions
) -> Iterator[RowPlan | Missing]:
    name = encoder_name(encoder)
    weights = None
    if encoder != BUNDLED_ENCODER:
        weights = Path(encoder) if Path(encoder).is_dir() else cached_weights(encoder)
        if not (weights or options.encoders):
            yield Missing(
                name,
                f"its weights are not on this machine. Use --encoder {encoder} to fetch them from the model"
                " hub, or --encoder FOLDER with a folder that has them.",
            )
            return
    inputs = {
        "encoder": encoder,
        "weights": weights,
        "runtime": options.settings.encoder_runtime,
        "limit": options.limit,
        "sets": {found.name: found.path for found, _ in sets},
    }
    measured = cache(partial(_measure, encoder, sets))
    for mode, label in MODES.items():
        row = partial(_row, f"{name}{label}", mode, titles, measured, options.limit)
        yield RowPlan(f"{name}{label}", {**inputs, "mode": mode}, row)


def _measure(encoder: str, sets: Sequence[_Set]) -> Mapping[str, Mapping[SearchMode, Figures]]:
    figures = {}
    for found, judged in sets:
        say(f"{found.data_set.title}: {len(judged):,} documents are encoded and indexed.")
        figures[found.name] = evaluate_modes(judged, SearchSetup(encoder=encoder), tuple(MODES))
    return figures


def _row(
    system: str,
    mode: SearchMode,
    titles: Mapping[str, str],
    measured: Callable[[], Mapping[str, Mapping[SearchMode, Figures]]],
    limit: int | None,
) -> Row:
    by_set = {titles[name]: figures[mode] for name, figures in measured().items()}
    figures = {
        f"{title} {metric}": set_figures[key]
        for title, set_figures in by_set.items()
        for metric, key in METRICS.items()
    }
    notes = [f"the first {limit:,} queries of each set"] if limit else []
    if mode == "dense" and any(set_figures["runtime"] == "onnx-int8" for set_figures in by_set.values()):
        notes.append("run in 8-bit integers (PAPER_TRAIL_ENCODER_RUNTIME=torch: as published)")
    return Row(system, figures, note="; ".join(notes))


TABLE = seed_table("gengo-encoders", partial(_plan, SETS))
OTHERS = seed_table("others-encoders", partial(_plan, OTHER_SETS))
