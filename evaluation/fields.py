"""Fields of study against labels that a reader gave: papers are prepared and labelled as a build does it."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Literal

from pydantic import BaseModel
from sklearn.metrics import f1_score, precision_recall_fscore_support
from sklearn.preprocessing import MultiLabelBinarizer

from corpus.encoder_choice import open_encoder
from corpus.settings import read_settings
from corpus.store.rows import indexed_text
from evaluation.harness import Figures, Report, command, figures_table
from evaluation.input_files import DATA, EvaluationError, read_json_lines
from indexer.enrich.fields import field_labeller
from indexer.prepare.preparer import LocalWorkers, PreparedPaper, Preparer, Task
from indexer.sources.acl_anthology import open_volumes
from indexer.sources.demo import demo_volumes
from indexer.sources.pdf_folder import PdfFolder
from indexer.sources.protocol import Source

LABELLED = DATA / "fields.jsonl"
_LINE = "Each line is a JSON object with paper, collection, part and fields."
LabelledPart = Literal["development", "held back", "later"]


class LabelledPaper(BaseModel):
    """A paper by its id and the id of its collection, and its fields."""

    paper: str
    collection: str
    part: LabelledPart
    fields: list[str]


def _sources(
    labelled: Sequence[LabelledPaper], anthology: Path | None, pdfs: Path | None
) -> Iterator[Source]:
    """Yield the volumes that hold labelled papers, the demonstration's from the product itself."""
    wanted = dict.fromkeys(row.collection for row in labelled)
    of_demo = {volume.collection.id: volume for volume in demo_volumes()}
    yield from (volume for name, volume in of_demo.items() if name in wanted)
    if anthology:
        names = [name for name in wanted if name not in of_demo]
        folder = PdfFolder(pdfs) if pdfs else None
        yield from open_volumes(names, anthology, read_settings().home / "anthology", pdfs=folder)


def _label(labelled: Sequence[LabelledPaper], sources: Iterator[Source]) -> Mapping[str, list[str]]:
    """Prepare and label the papers as a build does, and return their fields by their ids."""
    encoder = open_encoder(read_settings())
    wanted = {row.paper for row in labelled}
    entries = (entry for source in sources for entry in source.papers())
    tasks = (Task(entry, "") for entry in entries if entry.paper.id in wanted)
    with Preparer(LocalWorkers()) as preparer:
        outcomes = [outcome for _, outcome in preparer.prepared(tasks)]
    prepared = [outcome for outcome in outcomes if isinstance(outcome, PreparedPaper)]
    papers = [outcome.paper for outcome in prepared]
    texts = [indexed_text(outcome.paper, outcome.passages[0]) for outcome in prepared]
    labels = field_labeller(encoder).label(papers, encoder.encode_passages(texts))
    return {paper.id: [topic.name for topic in own] for paper, own in zip(papers, labels, strict=True)}


def field_scores(wanted: Sequence[Sequence[str]], found: Sequence[Sequence[str]]) -> Figures:
    """Score the fields found against the true ones; macro-F1 is over the true ones."""
    names = sorted({name for fields in (*wanted, *found) for name in fields})
    binarizer = MultiLabelBinarizer(classes=names)
    true, given = binarizer.fit_transform(wanted), binarizer.fit_transform(found)
    precision, recall, f1, papers = precision_recall_fscore_support(
        true, given, average=None, zero_division=0
    )
    scores = zip(names, papers.tolist(), precision.tolist(), recall.tolist(), f1.tolist(), strict=True)
    fields = {
        name: {"papers": count, "precision": own, "recall": other, "f1": both}
        for name, count, own, other, both in scores
    }
    return {
        "macro_f1": fmean(own["f1"] for own in fields.values() if own["papers"]),
        "micro_f1": float(f1_score(true, given, average="micro")),
        "first_right": fmean(
            bool(own) and own[0] in fields for fields, own in zip(wanted, found, strict=True)
        ),
        "fields": fields,
    }


@command("fields")
def fields(
    *,
    anthology: Path | None = None,
    pdfs: Path | None = None,
    part: LabelledPart = "development",
    data: Path = LABELLED,
) -> Report:
    labelled = [row for row in read_json_lines(data, LabelledPaper, _LINE) if row.part == part]
    found = _label(labelled, _sources(labelled, anthology, pdfs))
    known = [row for row in labelled if row.paper in found]
    if not known:
        raise EvaluationError("None of the labelled papers can be read. Give --anthology its data directory.")
    figures = {
        "part": part,
        "papers": len(known),
        "missing": len(labelled) - len(known),
        **field_scores([row.fields for row in known], [found[row.paper] for row in known]),
    }
    title = f"{len(known)} papers, {part}: macro-F1 {figures['macro_f1']:.3f}"
    columns = {"papers": "Papers", "precision": "Precision", "recall": "Recall", "f1": "F1"}
    return Report(figures, [figures_table("Field", figures["fields"], columns, 2, title)])
