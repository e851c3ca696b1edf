"""Fields of study beside labels that a reader gave: papers prepared and labelled anew, as a build does it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Literal, TypedDict

from pydantic import BaseModel
from rich.box import SIMPLE_HEAD
from rich.table import Column, Table

from corpus.encoders import Encoder
from corpus.settings import read_settings
from corpus.store import indexed_text
from evaluation.input_files import EvaluationError, read_json_lines
from indexer.enrich import field_labeller
from indexer.prepare import LocalWorkers, PreparedPaper, Preparer, Task
from indexer.sources import Source
from indexer.sources.acl_anthology import open_volumes
from indexer.sources.demo import demo_volumes
from indexer.sources.pdf_folder import PdfFolder

LABELLED = Path(__file__).parent / "data" / "fields.jsonl"
_LINE = "Each line is a JSON object with paper, collection, part and fields."

LabelledPart = Literal["development", "held back", "later"]


class LabelledPaper(BaseModel):
    """A paper by its id and the id of its collection, and the fields that it is about."""

    paper: str
    collection: str
    part: LabelledPart
    fields: list[str]


class FieldScores(TypedDict):
    """How many labelled papers have a field, and how surely and fully it is found."""

    papers: int
    precision: float
    recall: float
    f1: float


class FieldFigures(TypedDict):
    """What is measured on a part; `macro_f1` is the mean over the fields that its papers have.

    `first_right` is the share of papers whose surest field is one of theirs.
    """

    part: str
    papers: int
    missing: int
    macro_f1: float
    micro_f1: float
    first_right: float
    fields: dict[str, FieldScores]


@dataclass(frozen=True, slots=True)
class Readable:
    """Where the labelled papers are read: the Anthology's data, and PDFs of some of them.

    The demonstration's papers are read from the product; those of an Anthology that is not there are missing.
    """

    anthology: Path | None = None
    pdfs: Path | None = None


def measure_fields(data: Path, readable: Readable, encoder: Encoder, part: LabelledPart) -> FieldFigures:
    """Return how well the fields of a part's papers are found; raises EvaluationError and SourceError."""
    labelled = [one for one in read_json_lines(data, LabelledPaper, _LINE) if one.part == part]
    found = _fields_found(_prepared(labelled, readable), encoder)
    known = [one for one in labelled if one.paper in found]
    if not known:
        raise EvaluationError("None of the labelled papers can be read. Give --anthology its data directory.")
    pairs = [(set(one.fields), found[one.paper]) for one in known]
    return FieldFigures(part=part, papers=len(known), missing=len(labelled) - len(known), **_scores(pairs))


def fields_table(figures: FieldFigures) -> Table:
    """Return a row for each field that a labelled paper has or was given."""
    numbers = (Column(name, justify="right") for name in ("Papers", "Precision", "Recall", "F1"))
    table = Table("Field", *numbers, box=SIMPLE_HEAD)
    table.title = f"{figures['papers']} papers, {figures['part']}: macro-F1 {figures['macro_f1']:.3f}"
    for name, scores in figures["fields"].items():
        shares = (f"{scores['precision']:.2f}", f"{scores['recall']:.2f}", f"{scores['f1']:.2f}")
        table.add_row(name, str(scores["papers"]), *shares)
    return table


def _prepared(labelled: Sequence[LabelledPaper], readable: Readable) -> list[PreparedPaper]:
    wanted = {one.paper for one in labelled}
    entries = (entry for source in _sources(labelled, readable) for entry in source.papers())
    tasks = (Task(entry, "") for entry in entries if entry.paper.id in wanted)
    with Preparer(LocalWorkers()) as preparer:
        outcomes = [outcome for _, outcome in preparer.prepared(tasks)]
    return [one for one in outcomes if isinstance(one, PreparedPaper)]


def _sources(labelled: Sequence[LabelledPaper], readable: Readable) -> Iterator[Source]:
    """Yield the volumes that hold labelled papers, the demonstration's from the product itself."""
    wanted = dict.fromkeys(one.collection for one in labelled)
    of_the_demonstration = {volume.collection.id: volume for volume in demo_volumes()}
    yield from (volume for name, volume in of_the_demonstration.items() if name in wanted)
    if readable.anthology is None:
        return
    pdfs = PdfFolder(readable.pdfs) if readable.pdfs else None
    volumes = [name for name in wanted if name not in of_the_demonstration]
    yield from open_volumes(volumes, readable.anthology, read_settings().home / "anthology", pdfs=pdfs)


def _fields_found(prepared: Sequence[PreparedPaper], encoder: Encoder) -> Mapping[str, list[str]]:
    papers = [one.paper for one in prepared]
    texts = [indexed_text(one.paper, one.passages[0]) for one in prepared]
    labels = field_labeller(encoder).label(papers, encoder.encode_passages(texts))
    return {paper.id: [topic.name for topic in own] for paper, own in zip(papers, labels, strict=True)}


class _Figures(TypedDict):
    macro_f1: float
    micro_f1: float
    first_right: float
    fields: dict[str, FieldScores]


def _scores(pairs: Sequence[tuple[set[str], list[str]]]) -> _Figures:
    """Return the figures of papers' true fields beside those that were found."""
    names = sorted({name for wanted, found in pairs for name in (*wanted, *found)})
    scores = {name: _score(name, pairs) for name in names}
    right = sum(len(wanted.intersection(found)) for wanted, found in pairs)
    said = sum(len(wanted) + len(found) for wanted, found in pairs)
    return _Figures(
        macro_f1=fmean(one["f1"] for one in scores.values() if one["papers"]),
        micro_f1=2 * right / said,
        first_right=fmean(bool(found) and found[0] in wanted for wanted, found in pairs),
        fields=scores,
    )


def _score(name: str, pairs: Sequence[tuple[set[str], list[str]]]) -> FieldScores:
    wanted = sum(name in true for true, _ in pairs)
    given = sum(name in found for _, found in pairs)
    right = sum(name in true and name in found for true, found in pairs)
    return FieldScores(
        papers=wanted,
        precision=right / given if given else 0.0,
        recall=right / wanted if wanted else 0.0,
        f1=2 * right / (wanted + given),
    )
