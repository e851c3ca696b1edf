"""GenGO Ultra, Table 1: what encoders find, alone, on LitSearch, SciDocs and SciFact."""

from functools import partial
from typing import Literal

from evaluation.retrieval import HowSearched, evaluate
from evaluation.tables.records import Asked, Column, Planned, Row, RowPlan, Say, SeedTable
from evaluation.tables.sources import Found, find

SETS = {"scifact": "SciFact", "scidocs": "SciDocs", "litsearch": "LitSearch"}
METRICS: dict[str, Literal["ndcg@10", "map@10"]] = {"nDCG@10": "ndcg@10", "MAP@10": "map@10"}


def _plan(asked: Asked, say: Say) -> Planned:  # noqa: ARG001
    found = [find("scifact", asked.data)]
    for encoder in asked.encoders or (asked.settings.encoder,):
        yield RowPlan(
            encoder,
            {"encoder": encoder, "sets": {one.name: one.path for one in found}},
            partial(_row, encoder, found),
        )


def _row(encoder: str, found: list[Found]) -> Row:
    figures: dict[str, float] = {}
    for one in found:
        measured = evaluate(one.path, HowSearched("dense", encoder))
        figures |= {f"{SETS[one.name]} {metric}": measured[key] for metric, key in METRICS.items()}
    return Row(encoder, figures)


TABLE = SeedTable(
    name="gengo-encoders",
    seed="GenGO Ultra",
    number="Table 1",
    title="what encoders find",
    columns=tuple(Column(f"{name} {metric}", 4) for name in SETS.values() for metric in METRICS),
    sets=("scifact",),
    plan=_plan,
)
