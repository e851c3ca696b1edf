"""Ids, and records to rows and back."""

import hashlib
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.records import (
    Aspect,
    Author,
    Box,
    Build,
    Collection,
    Failure,
    Paper,
    ParserCount,
    Passage,
    Reference,
    Remark,
    Section,
    Sentence,
    Topic,
    paper_id,
    parse_passage_id,
    parse_topic_key,
    passage_id,
)
from corpus.store import rows
from corpus.store.manifest import SCHEMA_VERSION

PAPER = Paper(
    id="notes/a",
    collection_id="notes",
    title="On “quotes”, ünïcode & 日本語",
    authors=(Author("Ada", "Lovelace", ("Analytical Society", "London")), Author("", "The Group")),
    year=None,
    venue="Notes",
    abstract="One.\n\nTwo.",
    pages="1–9",
    url="https://example.org/a",
    pdf_url="https://example.org/a.pdf",
    doi="10.1/a",
    arxiv_id="2104.08663v2",
    bibtex="@misc{a}",
    keywords=("x", "y"),
    source="a.pdf",
    parser="pypdfium2",
    parser_version="5",
    pdf_sha256="00",
    page_count=3,
    full_text=True,
    position=7,
    fingerprint="ff",
    aspects=(Aspect("challenge", "It is hard.", 0, 1), Aspect("outcome", "It works.", 4, 2, "a-model", 0.5)),
    topics=(Topic("task", "question answering", 1.0), Topic("field", "Retrieval: the works", 0.25)),
)
REFERENCES = (
    Reference("Doe. A paper. 2019.", "A paper", ("Doe", "Roe"), 2019, "10.1/b", "1901.00001"),
    Reference("Unreadable"),
)
TEXT = "One sentence. Another one."
PASSAGE = Passage(
    id="notes/a#2",
    paper_id="notes/a",
    collection_id="notes",
    number=2,
    kind="body",
    section=(Section("3", "Method"), Section("", "Details")),
    text=TEXT,
    sentences=(
        Sentence(0, 14, (Box(1, 72.5, 80.25, 200.0, 11.0), Box(2, 72.5, 90.0, 10.75, 11.0))),
        Sentence(14, len(TEXT), (), (0, 3)),
    ),
    page=1,
)


@pytest.mark.parametrize("paper", ["2022.acl-long.1", "notes/a#b", "notes/日本語", "x'y"])
@pytest.mark.parametrize("number", [0, 12, 10_000])
def test_a_passage_id_gives_back_what_it_was_made_of(paper: str, number: int) -> None:
    assert parse_passage_id(passage_id(paper, number)) == (paper, number)


@given(st.text(min_size=1), st.integers(min_value=0))
def test_any_passage_id_round_trips(paper: str, number: int) -> None:
    assert parse_passage_id(passage_id(paper, number)) == (paper, number)


@pytest.mark.parametrize(
    "nonsense", ["", "#", "#3", "paper", "paper#", "paper#x", "paper#-1", "paper#1.5", "paper# 1", "paper#²"]
)
def test_what_is_no_passage_id_is_refused(nonsense: str) -> None:
    with pytest.raises(ValueError, match="not a passage id"):
        parse_passage_id(nonsense)


def test_records_come_back_from_their_rows() -> None:
    row = rows.paper_rows([rows.PaperEntry(PAPER, REFERENCES, "{}")]).to_pylist()[0]
    assert rows.to_paper(row) == PAPER
    assert (row["topic_keys"], row["listed"]) == ([topic.key for topic in PAPER.topics], "{}")
    assert tuple(rows.to_reference(entry) for entry in row["references"]) == REFERENCES
    vectors = np.array([[0.6, 0.8]], dtype=np.float32)
    row = rows.passage_rows([PASSAGE], {"notes/a": replace(PAPER, year=2021)}, ["indexed"], vectors)
    row = row.to_pylist()[0]
    assert rows.to_passage(row) == PASSAGE
    assert (row["year"], row["indexed"], row["vector"]) == (2021, "indexed", pytest.approx([0.6, 0.8]))
    assert row["topic_keys"] == ["task:question answering", "field:Retrieval: the works"]
    bare = replace(PASSAGE, page=None, section=(), sentences=())
    row = rows.passage_rows([bare], {"notes/a": PAPER}, [""], np.zeros((1, 2), np.float32)).to_pylist()[0]
    assert rows.to_passage(row) == bare
    assert row["year"] is None
    collection = Collection("notes", "Notes", "Some", "Folder", 2020, "CC0")
    assert rows.to_collection(rows.to_rows([collection], rows.COLLECTIONS).to_pylist()[0]) == collection
    build = Build("b", "notes", "2026-01-01", 1.5, "e", "ff", 1, 2, 3, 4, 5, (Failure("x.pdf", "broken"),))
    build = replace(build, remarks=(Remark("y", "odd"),), parsers=(ParserCount("", 3),), peak_memory_mib=9)
    assert rows.to_build(rows.to_rows([build], rows.BUILDS).to_pylist()[0]) == build
    assert [PASSAGE.sentence_text(index) for index in (0, 1)] == ["One sentence.", "Another one."]
    assert PASSAGE.section_path == "3 Method > Details"
    assert [author.name for author in PAPER.authors] == ["Ada Lovelace", "The Group"]
    assert paper_id("a", "b") != paper_id("b", "a")


def _required(name: str) -> pa.Schema:
    added = rows.ADDED.get(name, {})
    return pa.schema([field for field in rows.SCHEMAS[name] if field.name not in added])


def test_whoever_changes_a_record_changes_the_schema_of_the_corpus() -> None:
    schemas = [rows.passages_schema(2), *(_required(name) for name in sorted(rows.SCHEMAS))]
    columns = "\n".join(schema.to_string() for schema in schemas)
    made = {5: "506794adbdb5eb14"}
    assert hashlib.sha256(columns.encode()).hexdigest()[:16] == made[SCHEMA_VERSION]


@pytest.mark.parametrize("topic", PAPER.topics)
def test_the_key_of_a_topic_gives_back_what_it_was_made_of(topic: Topic) -> None:
    assert parse_topic_key(topic.key) == (topic.kind, topic.name)


@pytest.mark.parametrize("nonsense", ["", ":", "task:", "task", "colour:red", ":x"])
def test_what_is_no_key_of_a_topic_is_refused(nonsense: str) -> None:
    with pytest.raises(ValueError, match="not a topic's key"):
        parse_topic_key(nonsense)
