"""The map of a corpus, redrawn by every build that changes papers: places, clusters and labels."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from corpus.encoders.base import Vectors
from corpus.records import Cluster
from corpus.store import rows
from corpus.store.writer import CorpusWriter
from indexer.paper_map.cluster_labels import Text, label_clusters
from indexer.paper_map.projection import Numbers, project

# Papers per cluster that are read for its label.
_READ_OF_EACH = 400


def draw_map(writer: CorpusWriter) -> str:
    """Give every paper a place on the map; return "", or the reason why it could not be drawn.

    A failure does not end the build: a corpus works without a map.
    """
    try:
        _draw(writer)
    except (ArithmeticError, ImportError, MemoryError, RuntimeError, ValueError) as error:
        writer.put_map(rows.PLACES.empty_table(), ())
        return (
            f"The map of the papers could not be drawn ({type(error).__name__}: {error}). The corpus has "
            "none until the next build that adds, changes or removes a paper."
        )
    return ""


def _draw(writer: CorpusWriter) -> None:
    ids, vectors = paper_vectors(writer)
    if not ids:
        writer.put_map(rows.PLACES.empty_table(), ())
        return
    projection = project(ids, vectors)
    labels = label_clusters(cluster_texts(writer, ids, projection.clusters))
    sizes = np.bincount(projection.clusters).tolist()
    clusters = [Cluster(number, label, sizes[number]) for number, label in enumerate(labels)]
    columns = [
        pa.array(ids, pa.string()),
        pa.array(projection.places[:, 0], pa.float32()),
        pa.array(projection.places[:, 1], pa.float32()),
        pa.array(projection.clusters, pa.int32()),
    ]
    writer.put_map(pa.Table.from_arrays(columns, schema=rows.PLACES), clusters)


def paper_vectors(writer: CorpusWriter) -> tuple[list[str], Vectors]:
    """Return the ids of all papers and the vectors of their first passages."""
    ids: list[str] = []
    vectors: list[Vectors] = []
    for batch in writer.first_vectors():
        ids += batch["paper_id"].to_pylist()
        vectors.append(batch["vector"].flatten().to_numpy().reshape(batch.num_rows, -1))
    return ids, np.vstack(vectors) if vectors else np.empty((0, 0), np.float32)


def cluster_texts(writer: CorpusWriter, ids: Sequence[str], clusters: Numbers) -> list[list[Text]]:
    """Return titles and abstracts of at most _READ_OF_EACH papers of each cluster."""
    ordered = sorted(zip(ids, clusters.tolist(), strict=True))
    members: list[list[str]] = [[] for _ in range(int(clusters.max()) + 1)]
    for identifier, number in ordered:
        members[number].append(identifier)
    return [_read(writer, _spread(papers)) for papers in members]


def _spread(ids: Sequence[str]) -> list[str]:
    """Return evenly spaced ids."""
    return [ids[place] for place in np.linspace(0, len(ids) - 1, min(len(ids), _READ_OF_EACH)).astype(int)]


def _read(writer: CorpusWriter, ids: Sequence[str]) -> list[Text]:
    tables = writer.papers_as(["id", "title", "abstract"], ids)
    papers = sorted((row for table in tables for row in table.to_pylist()), key=lambda row: str(row["id"]))
    return [(row["title"], row["abstract"]) for row in papers]
