"""GenGO Ultra, Table 2: summaries of papers, in one sentence (SciTLDR) and by aspects (ACLSum)."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from evaluation.paper_summaries import (
    ASPECTS,
    measure_aspects,
    measure_tldr,
    read_aspect_items,
    read_tldr_items,
    score_aspects,
    score_tldrs,
)
from evaluation.rouge import Scores
from evaluation.tables.gengo.writers import open_writer
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

TLDR, ACLSUM = "SciTLDR", "ACLSum"
METRICS = {"rouge1": "ROUGE-1", "rouge2": "ROUGE-2", "rougeL": "ROUGE-L", "rougeK": "ROUGE-K"}
_READ: Mapping[str, Callable[[Path], tuple[str, Sequence[object]]]] = {
    TLDR: read_tldr_items,
    ACLSUM: read_aspect_items,
}
# Our rows by the names that the figures have for them.
_OURS = {"ours": "extractive, one sentence chosen", "lead": "lead sentences", "oracle": "oracle sentence"}


def _plan(asked: Asked, say: Say) -> Planned:  # noqa: ARG001
    found: dict[str, Found] = {}
    for title, name in ((TLDR, "scitldr"), (ACLSUM, "aclsum")):
        try:
            one = find(name, asked.data)
            check_count(one, "papers", len(_READ[title](one.path)[1]))
            found[title] = one
        except MissingError as error:
            yield Missing(error.what, error.advice)
    if not found:
        return
    inputs: dict[str, object] = {title: one.path for title, one in found.items()}
    for name, title in _OURS.items():
        yield RowPlan(title, inputs, partial(_our_row, found, name, title))
    if not asked.models:
        yield Missing("any model", "name it with --model.")
    for model in asked.models:
        yield RowPlan(model, {**inputs, "limit": asked.limit}, partial(_model_row, asked, found, model))


def _our_row(found: Mapping[str, Found], name: str, title: str) -> Row:
    figures: dict[str, float] = {}
    notes = []
    if one := found.get(TLDR):
        tldr = measure_tldr(one.path)
        figures |= _named(TLDR, tldr.systems[name]["highest"])
        notes.append(f"{tldr.papers:,} papers of SciTLDR ({tldr.split})")
    if one := found.get(ACLSUM):
        aspects = measure_aspects(one.path)
        figures |= _aspect_figures(aspects.systems[name])
        notes.append(f"{aspects.papers:,} of ACLSum ({aspects.split})")
    return Row(title, figures, note=", ".join(notes))


def _model_row(asked: Asked, found: Mapping[str, Found], model: str) -> Row:
    writer = open_writer(model, asked)
    figures: dict[str, float] = {}
    notes = []
    if one := found.get(TLDR):
        items = read_tldr_items(one.path)[1][: asked.limit]
        figures |= _named(TLDR, score_tldrs(items, writer.tldrs(items))["highest"])
        notes.append(f"{len(items):,} papers of SciTLDR")
    if one := found.get(ACLSUM):
        papers = read_aspect_items(one.path)[1][: asked.limit]
        figures |= _aspect_figures(score_aspects(papers, writer.aspects(papers)))
        notes.append(f"{len(papers):,} of ACLSum")
    return Row(model, figures, note="; ".join(filter(None, (", ".join(notes), writer.note))))


def _aspect_figures(scores: Mapping[str, Scores]) -> dict[str, float]:
    return {name: figure for aspect in ASPECTS for name, figure in _named(aspect, scores[aspect]).items()}


def _named(what: str, scores: Scores) -> dict[str, float]:
    return {f"{what} {title}": scores[metric] for metric, title in METRICS.items() if metric in scores}


TABLE = SeedTable(
    name="gengo-summaries",
    seed="GenGO Ultra",
    number="Table 2",
    title="summaries in one sentence and by aspects",
    columns=tuple(Column(f"{what} {metric}") for what in (TLDR, *ASPECTS) for metric in METRICS.values()),
    sets=("scitldr", "aclsum"),
    plan=_plan,
    remarks=(
        "ROUGE F1 with stemming; of several targets of SciTLDR the one with the highest ROUGE-1, as its"
        " script does it. ROUGE-K is the share of the keywords (n-grams that references and title share) that"
        " a summary has, with stems where the authors take lemmas, over the papers that have keywords.",
        "The oracle takes the one sentence that comes closest to what is wanted, so it is what choosing can"
        " reach at most. Models write aspects as `indexer enrich` has them written: what the paper does not"
        " carry gives way to the chosen sentence.",
    ),
)
