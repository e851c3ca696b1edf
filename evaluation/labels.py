"""Fields of study and entities of papers against labels that a reader gave.

Papers are prepared and labelled as a build does it. Entities are tasks, methods, data sets and metrics; their
figures are by kind and field.
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
    data: Path = LABELLED_FIELDS,
) -> Report:
    labelled = [row for row in read_json_lines(data, LabelledPaper, _FIELDS_LINE) if row.part == part]
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


LABELLED_ENTITIES = DATA / "entities.jsonl"
KINDS: tuple[TopicKind, ...] = ("task", "method", "dataset", "metric")
_ENTITIES_LINE = "Each line is a JSON object with paper, collection, field, part, and phrases by kind."
_COLUMNS = {name: name.capitalize() for name in ("found", "precision", "labelled", "recall")}
# The collections that are no volumes of the Anthology, and their files in the folder of the data.
_FILES = {"scitldr": "summaries/scitldr.jsonl", "scifact": "retrieval/scifact/corpus.jsonl"}

EntityPart = Literal["development", "held back"]
Forms = list[list[str]]
"""Things by the forms that papers write them in."""
Names = list[tuple[str, bool]]


class LabelledEntities(BaseModel):
    """The entities that an abstract names; `borderline` ones are right as any kind, and need not be found."""

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
    """A line of SciTLDR, or of a corpus in BEIR's form."""

    id: str = Field(validation_alias=AliasChoices("id", "_id"))
    title: str
    source: list[str] = []
    text: str = ""


def _words(phrase: str) -> str:
    """Return a phrase as phrases are compared: in lower case, hyphens as spaces, its last word singular."""
    words = " ".join(re.findall(r"[^\W_]+", phrase)).lower()
    return words[:-1] if words.endswith("s") and not words.endswith(("ss", "us", "is")) else words


def _names(found: str, forms: Sequence[str]) -> bool:
    """Return True if a name is one of the forms, or two words or more at the end of one."""
    name, known = _words(found), set(map(_words, forms))
    return name in known or (" " in name and any(form.endswith(f" {name}") for form in known))


def _papers(labelled: Sequence[LabelledEntities], data: Path) -> Iterator[Paper]:
    """Yield the papers of the labelled collections that are in the folder `data`."""
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
    """Return the topics that a build gives to the labelled papers, by their ids."""
    wanted = {row.paper for row in labelled}
    papers = (paper for paper in _papers(labelled, data) if paper.id in wanted)
    prepared = (prepare(Task(SourcePaper(paper.id, paper), ""), None) for paper in papers)
    return {item.paper.id: item.paper.topics for item in prepared}


def compare_entities(row: LabelledEntities, topics: Sequence[Topic], kind: TopicKind) -> tuple[Names, Names]:
    """Compare a paper's topics of a kind with its labels.

    Returns by the name of each topic whether it is right, and by that of each labelled thing whether it was
    found.
    """
    names = [topic.name for topic in topics if topic.kind == kind]
    things = row.of_kind(kind)
    allowed = [*things, *row.borderline]
    return (
        [(name, any(_names(name, forms) for forms in allowed)) for name in names],
        [(forms[0], any(_names(name, forms) for name in names)) for forms in things],
    )


def entity_scores(
    labelled: Sequence[LabelledEntities], topics: Mapping[str, Sequence[Topic]], kinds: Sequence[TopicKind]
) -> Figures:
    """Count the topics of some kinds that are labelled, and the labelled entities that were found."""
    compared = [compare_entities(row, topics[row.paper], kind) for row in labelled for kind in kinds]
    found, wanted = (sum(len(own[side]) for own in compared) for side in (0, 1))
    right, met = (sum(is_so for own in compared for _, is_so in own[side]) for side in (0, 1))
    return {
        "found": found,
        "precision": share(right, found),
        "labelled": wanted,
        "recall": share(met, wanted),
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
        of_field = [row for row in known if row.field == name]
        by_kind = {kind: entity_scores(of_field, topics, [kind]) for kind in KINDS}
        figures[name] = {**by_kind, "all": entity_scores(of_field, topics, KINDS)}
        rows |= {f"{name}, {kind}": own for kind, own in figures[name].items()}
    title = f"{len(known)} papers, {part}"
    shown = [figures_table("Field and kind", rows, _COLUMNS, 2, title)]
    return Report(figures, [*shown, *(_differences(known, topics) if errors else ())])


def _differences(
    labelled: Sequence[LabelledEntities], topics: Mapping[str, Sequence[Topic]]
) -> Iterator[str]:
    """Yield a line on the names that are not labelled, and the entities that were not found."""
    for row in labelled:
        for kind in KINDS:
            sides = compare_entities(row, topics[row.paper], kind)
            wrong, missing = ([name for name, is_so in side if not is_so] for side in sides)
            if wrong or missing:
                said = f"wrong {'; '.join(wrong) or 'none'}, missing {'; '.join(missing) or 'none'}"
                yield f"{row.paper} {kind}: {said}"
