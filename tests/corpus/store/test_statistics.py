"""Statistics of a corpus, its map and its filters by venue and author, each within any scope."""

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from corpus.encoders.base import Encoder
from corpus.records import Author, Cluster, Paper, Reference, Scope, Topic, TopicKind
from corpus.store import rows
from corpus.store.corpus import Corpus
from corpus.store.statistics import PaperOrder
from corpus.store.writer import CorpusWriter
from tests.small_corpus import HOSTILE_IDS, add, make_paper

ADA, BO, HOSTILE = Author("Ada", "Lin"), Author("", "O'Ruan"), Author("x') OR (1=1", "--")
TASK, OTHER, FIELD = Topic("task", "parsing", 1), Topic("task", "tagging", 1), Topic("field", "Syntax", 1)
ODD = Topic("dataset", "O'Hara's ') OR 1=1 --", 0.5)
DROP = "ACL'; DROP TABLE papers --"
FACTS: dict[str, tuple[int | None, str, tuple[Author, ...], tuple[Topic, ...]]] = {
    "a": (2019, "ACL 2019", (ADA,), (TASK, FIELD)),
    "b": (2020, "ACL 2019", (ADA, BO), (TASK,)),
    "c": (2020, DROP, (BO,), (OTHER, TASK)),
    "d": (None, "", (HOSTILE,), (TASK, ODD)),
    "e": (2021, "WS", (), ()),
}
CITES = {"b": "a", "c": "a", "d": "b"}
PLACES = {"a": (0.0, 0.5, 0), "b": (0.1, 0.4, 0), "c": (-1.0, 0.0, 1), "e": (1.0, 1.0, 1)}
CLUSTERS = (Cluster(0, "Parsing", 2), Cluster(1, "Tagging", 2))


def _papers() -> Iterator[Paper]:
    for position, (key, (year, venue, authors, topics)) in enumerate(FACTS.items()):
        made = make_paper("notes", key, year=year, position=position, title=_title(key))
        yield replace(made, venue=venue, authors=authors, topics=topics)


def _title(key: str) -> str:
    return f"The long title of paper {key}"


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory, encoder: Encoder) -> Corpus:
    path = tmp_path_factory.mktemp("statistics") / "corpus"
    papers = dict(zip(FACTS, _papers(), strict=True))
    writer = CorpusWriter(path, encoder)
    cited = {key: Reference("", title=_title(CITES[key])) for key in CITES}
    # An entry that is there twice is one citation.
    add(
        writer,
        encoder,
        {paper: ["Cats sleep."] for paper in papers.values()},
        {papers[key]: (reference, reference) for key, reference in cited.items()},
    )
    columns = zip(*((f"notes/{key}", *place) for key, place in PLACES.items()), strict=True)
    arrays = [pa.array(column, kind) for column, kind in zip(columns, rows.PLACES.types, strict=True)]
    writer.put_map(pa.Table.from_arrays(arrays, schema=rows.PLACES), CLUSTERS)
    writer.publish()
    return Corpus.open(path, encoder)


def _keys(ids: Iterable[str]) -> str:
    return "".join(identifier.partition("/")[2] for identifier in ids)


@pytest.mark.parametrize(
    ("scope", "expected"),
    [
        (Scope(venues=("ACL 2019",)), "ab"),
        (Scope(venues=("ACL 2019", DROP)), "abc"),
        (Scope(venues=("acl 2019", "ACL")), ""),
        (Scope(authors=(ADA.name,)), "ab"),
        (Scope(authors=(BO.name, HOSTILE.name)), "bcd"),
        (Scope(authors=("Ada",)), ""),
        (Scope(authors=(BO.name,), venues=("ACL 2019",)), "b"),
        (Scope(authors=(BO.name,), years=(2020, 2020), topics=(OTHER.key,)), "c"),
        (Scope(topics=(TASK.key,)), "abcd"),
        (Scope(topics=(TASK.key, OTHER.key)), "abcd"),
        (Scope(topics=(TASK.key, FIELD.key)), "a"),
        (Scope(topics=(ODD.key,)), "d"),
        (Scope(topics=("metric:BLEU",)), ""),
        *((Scope(venues=(hostile,)), "") for hostile in HOSTILE_IDS),
        *((Scope(authors=(hostile, "*")), "") for hostile in HOSTILE_IDS),
    ],
)
def test_a_scope_is_the_same_everywhere(
    corpus: Corpus, encoder: Encoder, scope: Scope, expected: str
) -> None:
    near = corpus.nearest(encoder.encode_query("cats"), scope, 9)
    alike = corpus.matching("cats", scope, 9)
    assert _keys(paper.id for paper in corpus.papers(scope)) == expected
    assert _keys(sorted(match.paper_id for match in near)) == expected
    assert _keys(sorted(match.paper_id for match in alike)) == expected
    assert corpus.count_papers(scope) == len(expected)
    counted = corpus.statistics
    assert _keys(counted.places(scope)["id"].to_pylist()) == "".join(key for key in expected if key in PLACES)
    assert sum(counted.year_counts(scope).values()) == sum(FACTS[key][0] is not None for key in expected)
    assert sum(counted.venue_counts(scope).values()) == sum(FACTS[key][1] != "" for key in expected)


def test_papers_are_counted_and_placed_with_what_a_map_shows(corpus: Corpus) -> None:
    topics = {TASK.key: 4, ODD.key: 1, FIELD.key: 1, OTHER.key: 1}
    assert list(corpus.statistics.topic_counts().items()) == list(topics.items())
    assert corpus.statistics.topic_counts(Scope(topics=(FIELD.key,))) == {TASK.key: 1, FIELD.key: 1}
    assert list(corpus.statistics.year_counts().items()) == [(2019, 1), (2020, 2), (2021, 1)]
    assert list(corpus.statistics.venue_counts(Scope()).items()) == [("ACL 2019", 2), (DROP, 1), ("WS", 1)]
    assert list(corpus.statistics.year_counts(Scope(authors=(BO.name,))).items()) == [(2020, 2)]
    table = corpus.statistics.places()
    assert table.column_names == ["id", "title", "year", "x", "y", "cluster"]
    assert table.slice(1, 1).to_pylist() == [
        {
            "id": "notes/b",
            "title": _title("b"),
            "year": 2020,
            "x": pytest.approx(0.1),
            "y": pytest.approx(0.4),
            "cluster": 0,
        }
    ]
    assert corpus.statistics.clusters() == CLUSTERS
    counted = corpus.statistics
    counted.topic_counts()["task:invented"] = 9
    counted.topic_year_counts(None, "task", 5)[TASK.key][1900] = 9
    counted.year_counts().clear()
    counted.venue_counts().clear()
    assert "task:invented" not in counted.topic_counts()
    assert 1900 not in counted.topic_year_counts(None, "task", 5)[TASK.key]
    assert counted.year_counts()
    assert counted.venue_counts()


@pytest.mark.parametrize(
    ("scope", "kind", "limit", "expected"),
    [
        (None, "task", 5, {TASK.key: {2019: 1, 2020: 2}, OTHER.key: {2020: 1}}),
        (None, "task", 1, {TASK.key: {2019: 1, 2020: 2}}),
        (None, "task", 0, {}),
        (None, "metric", 5, {}),
        (Scope(years=(2019, 2019)), "field", 5, {FIELD.key: {2019: 1}}),
        (Scope(authors=(HOSTILE.name,)), "task", 5, {TASK.key: {}}),
    ],
)
def test_topics_are_counted_by_year(
    corpus: Corpus, scope: Scope | None, kind: TopicKind, limit: int, expected: dict[str, dict[int, int]]
) -> None:
    found = corpus.statistics.topic_year_counts(scope, kind, limit)
    assert (found, list(found)) == (expected, list(expected))


@pytest.mark.parametrize(
    ("scope", "limit", "expected"),
    [
        (None, 5, (("notes/a", 2), ("notes/b", 1))),
        (None, 1, (("notes/a", 2),)),
        (None, 0, ()),
        (Scope(), 5, (("notes/a", 2), ("notes/b", 1))),
        (Scope(years=(2020, 2021)), 5, (("notes/b", 1),)),
        (Scope(venues=("WS",)), 5, ()),
    ],
)
def test_the_most_cited_are_named_with_how_many_cite_them(
    corpus: Corpus, scope: Scope | None, limit: int, expected: tuple[tuple[str, int], ...]
) -> None:
    assert corpus.statistics.most_cited(scope, limit) == expected


@pytest.mark.parametrize(("order", "expected"), [("cited", "abcde"), ("newest", "ebcad")])
def test_most_cited_papers_come_first(corpus: Corpus, order: PaperOrder, expected: str) -> None:
    assert _keys(paper.id for paper in corpus.papers(order=order)) == expected
    assert _keys(paper.id for paper in corpus.papers(order=order, offset=1, limit=2)) == expected[1:3]
    assert corpus.papers(order=order, offset=9) == ()


def test_a_corpus_without_papers_has_empty_statistics(tmp_path: Path, encoder: Encoder) -> None:
    CorpusWriter(tmp_path, encoder).publish()
    empty = Corpus.open(tmp_path, encoder)
    counted = empty.statistics
    assert (counted.year_counts(), counted.venue_counts(), counted.topic_counts()) == ({}, {}, {})
    assert (counted.topic_year_counts(None, "task", 3), counted.most_cited(None, 3)) == ({}, ())
    assert (counted.places().num_rows, counted.clusters(), empty.papers(order="cited")) == (0, (), ())


def test_many_readers_at_once_get_the_same_statistics(corpus: Corpus, encoder: Encoder) -> None:
    fresh = Corpus.open(corpus.path, encoder)

    def read(number: int) -> tuple[object, ...]:
        scope = Scope(years=(2019, 2019 + number % 3))
        return (
            number % 3,
            fresh.statistics.year_counts(scope),
            fresh.statistics.places(scope),
            fresh.papers(scope, "cited"),
        )

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(read, range(24)))
    assert found == found[:3] * 8
