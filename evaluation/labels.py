"""Compares the fields of study and entities that a build gives to papers with those that a reader labelled.

Entities are tasks, methods, data sets and metrics.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Literal

from pydantic import AliasChoices, BaseModel, Field
from sklearn.metrics import f1_score, precision_recall_fscore_support
from sklearn.preprocessing import MultiLabelBinarizer

from corpus.encoder_choice import open_encoder
from corpus.records import Paper, Topic, TopicKind
from corpus.settings import read_settings
from corpus.store.rows import indexed_text
from evaluation.harness import Figures, Report, command, figures_table, share
from evaluation.input_files import DATA, EvaluationError, read_json_lines
from indexer.enrich.fields import field_labeller
from indexer.prepare.preparer import LocalWorkers, PreparedPaper, Preparer, Task, prepare
from indexer.sources.acl_anthology import open_volumes
from indexer.sources.demo import demo_volumes
from indexer.sources.pdf_folder import PdfFolder
from indexer.sources.protocol import Source, SourcePaper

LABELLED_FIELDS = DATA / "fields.jsonl"
_FIELDS_LINE = "Each line is a JSON object with paper, collection, part and fields."
LabelledPart = Literal["development", "held back", "later"]


class LabelledPaper(BaseModel):
    """The id of a paper and of its collection, and its labelled fields of study."""

    paper: str
    collection: str
    part: LabelledPart
    fields: list[str]


def _sources(
    labelled: Sequence[LabelledPaper], anthology: Path | None, pdfs: Path | None
) -> Iterator[Source]:
    """Yield the volumes with labelled papers: from the bundled demonstration, others from the Anthology."""
    collections = dict.fromkeys(row.collection for row in labelled)
    demo = {volume.collection.id: volume for volume in demo_volumes()}
    yield from (volume for name, volume in demo.items() if name in collections)
    if anthology:
        names = [name for name in collections if name not in demo]
        folder = PdfFolder(pdfs) if pdfs else None
        yield from open_volumes(names, anthology, read_settings().home / "anthology", pdfs=folder)


def _label(labelled: Sequence[LabelledPaper], sources: Iterator[Source]) -> Mapping[str, list[str]]:
    """Prepare and label the papers as a build does; return their fields by the papers' ids."""
    encoder = open_encoder(read_settings())
    paper_ids = {row.paper for row in labelled}
    entries = (entry for source in sources for entry in source.papers())
    tasks = (Task(entry, "") for entry in entries if entry.paper.id in paper_ids)
    with Preparer(LocalWorkers()) as preparer:
        outcomes = [outcome for _, outcome in preparer.prepared(tasks)]
    prepared = [outcome for outcome in outcomes if isinstance(outcome, PreparedPaper)]
    papers = [outcome.paper for outcome in prepared]
    texts = [indexed_text(outcome.paper, outcome.passages[0]) for outcome in prepared]
    labels = field_labeller(encoder).label(papers, encoder.encode_passages(texts))
    return {paper.id: [topic.name for topic in topics] for paper, topics in zip(papers, labels, strict=True)}


def field_scores(labelled: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]) -> Figures:
    """Score the predicted fields of papers; macro-F1 is over the fields that were labelled."""
    names = sorted({name for fields in (*labelled, *predicted) for name in fields})
    binarizer = MultiLabelBinarizer(classes=names)
    true, guessed = binarizer.fit_transform(labelled), binarizer.fit_transform(predicted)
    columns = precision_recall_fscore_support(true, guessed, average=None, zero_division=0)
    scores = zip(names, *(column.tolist() for column in columns), strict=True)
    fields = {
        name: {"papers": papers, "precision": precision, "recall": recall, "f1": f1}
        for name, precision, recall, f1, papers in scores
    }
    return {
        "macro_f1": fmean(figures["f1"] for figures in fields.values() if figures["papers"]),
        "micro_f1": float(f1_score(true, guessed, average="micro")),
        "first_right": fmean(
            bool(guesses) and guesses[0] in truth for truth, guesses in zip(labelled, predicted, strict=True)
        ),
        "fields": fields,
    }


@command("fields")
def fields(
    *,
    anthology: Path | None = None,
    pdfs: Path | None = None,
    part: LabelledPart = "development",
    data: Path = LABELLED_FIELDS,
) -> Report:
    labelled = [row for row in read_json_lines(data, LabelledPaper, _FIELDS_LINE) if row.part == part]
    predicted = _label(labelled, _sources(labelled, anthology, pdfs))
    known = [row for row in labelled if row.paper in predicted]
    if not known:
        raise EvaluationError("None of the labelled papers can be read. Give --anthology its data directory.")
    figures = {
        "part": part,
        "papers": len(known),
        "missing": len(labelled) - len(known),
        **field_scores([row.fields for row in known], [predicted[row.paper] for row in known]),
    }
    title = f"{len(known)} papers, {part}: macro-F1 {figures['macro_f1']:.3f}"
    columns = {"papers": "Papers", "precision": "Precision", "recall": "Recall", "f1": "F1"}
    return Report(figures, [figures_table("Field", figures["fields"], columns, 2, title)])


LABELLED_ENTITIES = DATA / "entities.jsonl"
KINDS: tuple[TopicKind, ...] = ("task", "method", "dataset", "metric")
_ENTITIES_LINE = "Each line is a JSON object with paper, collection, field, part, and phrases by kind."
_COLUMNS = {name: name.capitalize() for name in ("found", "precision", "labelled", "recall")}
# Files, within the data folder, of the collections that are not volumes of the Anthology.
_FILES = {"scitldr": "summaries/scitldr.jsonl", "scifact": "retrieval/scifact/corpus.jsonl"}

EntityPart = Literal["development", "held back"]
# Entities, each as a list of the forms in which papers write it.
Forms = list[list[str]]
# Names, each with True if it is right or found.
CheckedNames = list[tuple[str, bool]]


class LabelledEntities(BaseModel):
    """The entities that an abstract names; `borderline` ones are right as any kind but not required."""

    paper: str
    collection: str
    field: str
    part: EntityPart
    task: Forms
    method: Forms
    dataset: Forms
    metric: Forms
    borderline: Forms

    def of_kind(self, kind: TopicKind) -> Forms:
        forms: Forms = getattr(self, kind)
        return forms


class _Abstract(BaseModel):
    """A line of SciTLDR, or of a corpus in BEIR's format."""

    id: str = Field(validation_alias=AliasChoices("id", "_id"))
    title: str
    source: list[str] = []
    text: str = ""


def _normalised(phrase: str) -> str:
    """Normalise a phrase for comparison: lower case, hyphens as spaces, the last word without plural s."""
    words = " ".join(re.findall(r"[^\W_]+", phrase)).lower()
    return words[:-1] if words.endswith("s") and not words.endswith(("ss", "us", "is")) else words


def _matches(text: str, forms: Sequence[str]) -> bool:
    """Return True if a name equals one of the forms, or is the end of one and has two words or more."""
    name, known = _normalised(text), set(map(_normalised, forms))
    return name in known or (" " in name and any(form.endswith(f" {name}") for form in known))


def _papers(labelled: Sequence[LabelledEntities], data: Path) -> Iterator[Paper]:
    """Yield the papers of those labelled collections that are in the folder `data`."""
    collections = dict.fromkeys(row.collection for row in labelled)
    for name in (name for name in collections if name in _FILES and (data / _FILES[name]).is_file()):
        for line in read_json_lines(data / _FILES[name], _Abstract, ""):
            abstract = " ".join(line.source) or line.text
            yield Paper(line.id, name, line.title.strip(), (), None, "", abstract)
    volumes = [name for name in collections if name not in _FILES]
    if volumes and (data / "acl_anthology").is_dir():
        for source in open_volumes(volumes, data / "acl_anthology", read_settings().home / "anthology"):
            yield from (entry.paper for entry in source.papers())


def _topics(labelled: Sequence[LabelledEntities], data: Path) -> Mapping[str, Sequence[Topic]]:
    """Return the topics that a build gives to the labelled papers, by the papers' ids."""
    paper_ids = {row.paper for row in labelled}
    papers = (paper for paper in _papers(labelled, data) if paper.id in paper_ids)
    prepared = (prepare(Task(SourcePaper(paper.id, paper), ""), None) for paper in papers)
    return {item.paper.id: item.paper.topics for item in prepared}


def compare_entities(
    row: LabelledEntities, topics: Sequence[Topic], kind: TopicKind
) -> tuple[CheckedNames, CheckedNames]:
    """Compare a paper's topics of a kind with its labels.

    Returns the topics, each with True if it is right, and the labelled entities, each with True if it was
    found.
    """
    names = [topic.name for topic in topics if topic.kind == kind]
    entities = row.of_kind(kind)
    allowed = [*entities, *row.borderline]
    return (
        [(name, any(_matches(name, forms) for forms in allowed)) for name in names],
        [(forms[0], any(_matches(name, forms) for name in names)) for forms in entities],
    )


def entity_scores(
    labelled: Sequence[LabelledEntities], topics: Mapping[str, Sequence[Topic]], kinds: Sequence[TopicKind]
) -> Figures:
    """Compute the precision of the topics of some kinds, and the recall of the labelled entities."""
    compared = [compare_entities(row, topics[row.paper], kind) for row in labelled for kind in kinds]
    names = [name for paper_names, _ in compared for name in paper_names]
    entities = [entity for _, paper_entities in compared for entity in paper_entities]
    right, met = (sum(is_match for _, is_match in checked) for checked in (names, entities))
    return {
        "found": len(names),
        "precision": share(right, len(names)),
        "labelled": len(entities),
        "recall": share(met, len(entities)),
        "right": right,
        "met": met,
    }


@command("entities")
def entities(
    *, data: Path, part: EntityPart = "development", labels: Path = LABELLED_ENTITIES, errors: bool = False
) -> Report:
    labelled = [row for row in read_json_lines(labels, LabelledEntities, _ENTITIES_LINE) if row.part == part]
    topics = _topics(labelled, data)
    known = [row for row in labelled if row.paper in topics]
    if not known:
        raise EvaluationError(f"None of the labelled papers is in {data}.")
    figures: Figures = {"part": part, "papers": len(known), "missing": len(labelled) - len(known)}
    rows: Figures = {}
    for name in dict.fromkeys(row.field for row in known):
        field_rows = [row for row in known if row.field == name]
        by_kind = {kind: entity_scores(field_rows, topics, [kind]) for kind in KINDS}
        figures[name] = {**by_kind, "all": entity_scores(field_rows, topics, KINDS)}
        rows |= {f"{name}, {kind}": kind_figures for kind, kind_figures in figures[name].items()}
    title = f"{len(known)} papers, {part}"
    tables = [figures_table("Field and kind", rows, _COLUMNS, 2, title)]
    return Report(figures, [*tables, *(_differences(known, topics) if errors else ())])


def _differences(
    labelled: Sequence[LabelledEntities], topics: Mapping[str, Sequence[Topic]]
) -> Iterator[str]:
    """Yield a line for each paper and kind on wrong names and missing entities."""
    for row in labelled:
        for kind in KINDS:
            sides = compare_entities(row, topics[row.paper], kind)
            wrong, missing = ([name for name, is_match in side if not is_match] for side in sides)
            if wrong or missing:
                errors = f"wrong {'; '.join(wrong) or 'none'}, missing {'; '.join(missing) or 'none'}"
                yield f"{row.paper} {kind}: {errors}"
