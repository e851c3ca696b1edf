"""Fields of study of papers on other subjects than language: clusters, named by distinctive terms.

Papers are labelled with fields of language research when they are encoded. A collection most of whose papers
are on another subject gets none of these. The papers of all such collections are clustered together when most
of them are new; later papers join the existing clusters, so that fields keep their names.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from corpus.encoders.base import Encoder, Vectors
from corpus.records import Paper, Topic
from corpus.store.writer import CorpusWriter
from indexer.enrich.fields import field_labeller, field_names
from indexer.paper_map.cluster_labels import distinctive_terms
from indexer.paper_map.map import cluster_texts, paper_vectors
from indexer.paper_map.projection import group

# Fewer papers are not clustered.
_FEWEST = 20
_MOST_FIELDS = 24
_TERMS_OF_A_NAME = 2
_LEAST_SCORE = 0.001


@dataclass(frozen=True, slots=True)
class _Known:
    """A paper's collection and topics in the tables."""

    collection_id: str
    topics: tuple[Topic, ...]

    @property
    def fields(self) -> list[str]:
        return [topic.name for topic in self.topics if topic.kind == "field"]


def assign_fields(writer: CorpusWriter, encoder: Encoder) -> None:
    """Assign cluster fields to collections on other subjects, and restore the fields of the others."""
    ids, vectors = paper_vectors(writer)
    if not ids:
        return
    known = dict(_known(writer, ids))
    outside = _outside(known, ids, field_labeller(encoder).outside(vectors))
    is_outside = np.array([known[identifier].collection_id in outside for identifier in ids])
    language = field_names()
    lost = [row for row in np.flatnonzero(~is_outside) if not language.issuperset(known[ids[row]].fields)]
    fields = {
        **dict(_labelled_again(writer, encoder, [ids[row] for row in lost], vectors[lost])),
        **_fields(writer, [ids[row] for row in np.flatnonzero(is_outside)], vectors[is_outside], known),
    }
    now = {
        paper: (*new, *(topic for topic in known[paper].topics if topic.kind != "field"))
        for paper, new in fields.items()
    }
    writer.put_topics({paper: topics for paper, topics in now.items() if topics != known[paper].topics})


def _known(writer: CorpusWriter, ids: Sequence[str]) -> Iterator[tuple[str, _Known]]:
    for table in writer.papers_as(["id", "collection_id", "topics"], ids):
        for row in table.to_pylist():
            topics = tuple(Topic(**topic) for topic in row["topics"] or ())
            yield row["id"], _Known(row["collection_id"], topics)


def _outside(known: Mapping[str, _Known], ids: Sequence[str], outside: NDArray[np.bool_]) -> set[str]:
    """Return the collections most of whose papers are on another subject."""
    papers: dict[str, list[bool]] = defaultdict(list)
    for identifier, elsewhere in zip(ids, outside.tolist(), strict=True):
        papers[known[identifier].collection_id].append(elsewhere)
    return {collection for collection, votes in papers.items() if 2 * sum(votes) > len(votes)}


def _labelled_again(
    writer: CorpusWriter, encoder: Encoder, ids: Sequence[str], vectors: Vectors
) -> Iterator[tuple[str, tuple[Topic, ...]]]:
    """Yield the fields of language research of papers."""
    tables = writer.papers_as(["id", "title", "abstract"], ids)
    row_of = {row["id"]: row for table in tables for row in table.to_pylist()}
    papers = [
        Paper(paper, "", row_of[paper]["title"], (), None, "", row_of[paper]["abstract"]) for paper in ids
    ]
    yield from zip(ids, field_labeller(encoder).label(papers, vectors), strict=True)


def _fields(
    writer: CorpusWriter, ids: Sequence[str], vectors: Vectors, known: Mapping[str, _Known]
) -> dict[str, tuple[Topic, ...]]:
    """Return the field of each paper on another subject: its present one, or that of the nearest cluster."""
    language = field_names()
    names = [next((name for name in known[paper].fields if name not in language), "") for paper in ids]
    if 2 * sum(map(bool, names)) < len(ids):
        names = _name_groups(writer, ids, vectors) if len(ids) >= _FEWEST else []
    fields = sorted({*names} - {""})
    if not fields:
        return dict.fromkeys(ids, ())
    nearness = _nearness(vectors, names, fields)
    chosen = [fields.index(name) if name else int(nearness[row].argmax()) for row, name in enumerate(names)]
    scores = nearness[np.arange(len(ids)), chosen].clip(_LEAST_SCORE, 1).tolist()
    labelled = zip(ids, chosen, scores, strict=True)
    return {paper: (Topic("field", fields[index], round(score, 3)),) for paper, index, score in labelled}


def _name_groups(writer: CorpusWriter, ids: Sequence[str], vectors: Vectors) -> list[str]:
    """Cluster papers and return the name of each paper's cluster, "" without distinctive terms."""
    groups = group(ids, vectors, _MOST_FIELDS)
    terms = distinctive_terms(cluster_texts(writer, ids, groups))
    names = [", ".join(best[:_TERMS_OF_A_NAME]) for best in terms]
    return ["" if names[number] in field_names() else names[number] for number in groups.tolist()]


def _nearness(vectors: Vectors, names: Sequence[str], fields: Sequence[str]) -> Vectors:
    """Return the cosine of each paper with the mean of each field's papers: (papers, fields)."""
    centred = vectors - vectors.mean(axis=0)
    members = np.array([[name == field for name in names] for field in fields], np.float32)
    middles = members @ centred
    nearness: Vectors = _unit(centred) @ _unit(middles).T
    return nearness


def _unit(vectors: Vectors) -> Vectors:
    unit: Vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-6)
    return unit
