"""GenGO Ultra, Table 1: what encoders find, alone and in our search, on SciFact, SciDocs and LitSearch."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any, Literal

from corpus.search import SearchMode
from corpus.settings import BUNDLED_ENCODER
from evaluation.retrieval import (
    HowSearched,
    JudgedCollection,
    evaluate_modes,
    is_litsearch,
    read_judged,
    read_litsearch,
)
from evaluation.tables.fetching import cached_weights
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
from evaluation.tables.sources import Found, check_count, find

# The six encoders of the table by their names on the hub.
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
METRICS: Mapping[str, Literal["ndcg@10", "map@10", "recall@5", "recall@20"]] = {
    "nDCG@10": "ndcg@10",
    "MAP@10": "map@10",
    "Recall@5": "recall@5",
    "Recall@20": "recall@20",
}
MODES: Mapping[SearchMode, str] = {"dense": "", "hybrid": ", our hybrid search"}

_Figures = Mapping[str, Mapping[SearchMode, dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class _Set:
    found: Found
    judged: JudgedCollection


def _plan(titles: Mapping[str, str], asked: Asked, say: Say) -> Planned:
    sets: list[_Set] = []
    for name in titles:
        try:
            sets.append(_read(find(name, asked.data), asked.limit))
        except MissingError as error:
            yield Missing(error.what, error.advice)
    for encoder in _encoders(asked) if sets else ():
        yield from _rows(encoder, sets, titles, asked, say)


def _read(found: Found, limit: int | None) -> _Set:
    """Read a set as its paper's authors publish it, or in BEIR's form; raises MissingError for another."""
    judged = read_litsearch(found.path) if is_litsearch(found.path) else read_judged(found.path)
    check_count(found, "documents", len(judged))
    check_count(found, "queries", len(judged.queries))
    judged = replace(judged, leaves_out_itself=found.name in _PAPERS_AS_QUERIES)
    return _Set(found, judged.first(limit))


def _encoders(asked: Asked) -> tuple[str, ...]:
    """Return the encoders that were asked for, else the paper's six and the setting's."""
    named = {encoder_name(one): one for one in ENCODERS}
    if asked.encoders:
        return tuple(named.get(one, one) for one in asked.encoders)
    return tuple(dict.fromkeys((*ENCODERS, asked.settings.encoder)))


def encoder_name(encoder: str) -> str:
    """Return an encoder's name as tables print it: without its owner, or its folder."""
    return Path(encoder).name


def _rows(
    encoder: str, sets: list[_Set], titles: Mapping[str, str], asked: Asked, say: Say
) -> Iterator[RowPlan | Missing]:
    name, weights = encoder_name(encoder), _weights(encoder)
    if not (weights or encoder == BUNDLED_ENCODER or asked.encoders):
        yield Missing(
            name,
            f"its weights are not on this machine. --encoder {encoder} fetches them where the model hub can"
            " be reached; a folder that holds them can be named in its place.",
        )
        return
    inputs = {
        "encoder": encoder,
        "weights": weights,
        "runtime": asked.settings.encoder_runtime,
        "limit": asked.limit,
        "sets": {one.found.name: one.found.path for one in sets},
    }
    measured = cache(partial(_measure, encoder, sets, say))
    for mode, label in MODES.items():
        row = partial(_row, f"{name}{label}", mode, titles, measured, asked.limit)
        yield RowPlan(f"{name}{label}", {**inputs, "mode": mode}, row)


def _weights(encoder: str) -> Path | None:
    """Return where an encoder's weights are on this machine, if they are; the bundled ones have no place."""
    if encoder == BUNDLED_ENCODER:
        return None
    return Path(encoder) if Path(encoder).is_dir() else cached_weights(encoder)


def _measure(encoder: str, sets: list[_Set], say: Say) -> _Figures:
    figures: dict[str, Mapping[SearchMode, dict[str, Any]]] = {}
    for one in sets:
        say(f"{one.found.data_set.title}: {len(one.judged):,} documents are encoded and indexed.")
        figures[one.found.name] = evaluate_modes(one.judged, HowSearched(encoder=encoder), tuple(MODES))
    return figures


def _row(
    system: str,
    mode: SearchMode,
    titles: Mapping[str, str],
    measured: Callable[[], _Figures],
    limit: int | None,
) -> Row:
    of_sets = {name: figures[mode] for name, figures in measured().items()}
    figures = {
        f"{titles[name]} {metric}": of_set[key]
        for name, of_set in of_sets.items()
        for metric, key in METRICS.items()
    }
    return Row(system, figures, note=_note(mode, list(of_sets.values()), limit))


def _note(mode: SearchMode, figures: list[dict[str, Any]], limit: int | None) -> str:
    is_int8 = mode == "dense" and figures[0]["runtime"] == "onnx-int8"
    return "; ".join(
        [
            *([f"the first {limit:,} queries of each set"] if limit else []),
            *(["run in 8-bit integers (PAPER_TRAIL_ENCODER_RUNTIME=torch: as published)"] if is_int8 else []),
        ]
    )


def _columns(titles: Mapping[str, str]) -> tuple[Column, ...]:
    return tuple(Column(f"{title} {metric}", 4) for title in titles.values() for metric in METRICS)


_REMARKS = (
    "An encoder alone ranks by the cosine of the query and of title and abstract as one text, each behind"
    " the prompt that it was trained with.",
    "nDCG has linear gains; MAP@10 divides by all that is relevant, as trec_eval and BEIR do; queries"
    " without anything relevant are left out.",
)

# What encoding and searching take; what only answers or other tables take has no part in them.
_CODE = (
    *("corpus/encoders", "corpus/search", "corpus/store", "corpus/language", "corpus/text.py"),
    *("indexer/build", "indexer/prepare", "evaluation/retrieval.py", "evaluation/tables/gengo/encoders.py"),
)

TABLE = SeedTable(
    name="gengo-encoders",
    seed="GenGO Ultra",
    number="Table 1",
    title="what encoders find",
    columns=_columns(SETS),
    sets=tuple(SETS),
    plan=partial(_plan, SETS),
    code=_CODE,
    remarks=(
        *_REMARKS,
        "The paper prints no recall. On SciDocs a query's own paper is left out, as BEIR does.",
    ),
)
OTHERS = SeedTable(
    name="others-encoders",
    seed="GenGO Ultra",
    number="beside Table 1",
    title="what encoders find on another set",
    columns=_columns(OTHER_SETS),
    sets=tuple(OTHER_SETS),
    plan=partial(_plan, OTHER_SETS),
    code=_CODE,
    remarks=_REMARKS,
)
