"""Replies of the document reader are foreign text: accepted when sound, refused otherwise."""

import json
from dataclasses import asdict, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.records import Box, Paper, Passage, Reference, Sentence
from indexer.uploads.document import DocumentError, ReadDocument, as_upload, read_failure, read_reply

PAPER = Paper("x/a", "x", "On pages", (), None, "", "We read.", pdf_sha256="ab12", page_count=2)
SENTENCES = (Sentence(0, 9, (Box(1, 1.0, 2.0, 30.0, 4.0),)), Sentence(9, 14, (), (0,)))
PASSAGE = Passage("x/a#0", "x/a", "x", 0, "body", (), "We read. Yes.\u00e9", SENTENCES, 1)
FOUND = ReadDocument(PAPER, (PASSAGE,), (Reference("A. Turing. 1950."),), ("a remark",), "page.pdf")


def reply(found: ReadDocument = FOUND, **changes: Any) -> bytes:
    return json.dumps({"document": asdict(found) | changes}).encode()


def with_passage(**changes: Any) -> ReadDocument:
    return replace(FOUND, passages=(replace(PASSAGE, **changes),))


def with_box(**changes: Any) -> ReadDocument:
    box = replace(SENTENCES[0].boxes[0], **changes)
    return with_passage(sentences=(replace(SENTENCES[0], boxes=(box,)), SENTENCES[1]))


def _as_json(value: object) -> bytes:
    return json.dumps(value).encode()


def test_a_document_is_read_back_and_gets_the_ids_of_the_visit() -> None:
    assert read_reply(reply()) == FOUND
    own = as_upload(FOUND, "notes", 3)
    assert (own.paper.id, own.paper.collection_id, own.paper.position) == (
        "your-documents/notes",
        "your-documents",
        3,
    )
    assert [passage.id for passage in own.passages] == ["your-documents/notes#0"]
    assert {passage.collection_id for passage in own.passages} == {"your-documents"}


@pytest.mark.parametrize(
    "broken",
    [
        b"",
        b"{}",
        b"[]",
        b'{"document": null}',
        b"\xff\xfe",
        reply(passages=[]),
        reply(paper=asdict(replace(PAPER, title=" "))),
        reply(file="../../etc/passwd"),
        reply(file=""),
        reply(paper=asdict(replace(PAPER, pdf_sha256="../x"))),
        reply(replace(FOUND, passages=(PASSAGE,) * 2_001)),
        reply(with_passage(text="")),
        reply(with_passage(text="We read.\x00 Yes.")),
        reply(with_passage(text="x" * 60_000)),
        reply(with_passage(sentences=())),
        reply(with_passage(sentences=(Sentence(0, 9),))),
        reply(with_passage(sentences=(Sentence(0, 9), Sentence(8, 14)))),
        reply(with_passage(sentences=(Sentence(0, 0), Sentence(0, 14)))),
        reply(with_passage(sentences=(Sentence(-3, 9), Sentence(9, 14)))),
        reply(with_passage(sentences=(Sentence(0, 14, (), (1,)),))),
        reply(with_passage(kind="anything")),
        reply(with_box(page=0)),
        reply(with_box(x=float("inf"))),
        reply(with_box(height=float("nan"))),
        reply(with_box(width=1e300)),
    ],
)
def test_what_makes_no_sense_is_refused(broken: bytes) -> None:
    with pytest.raises(DocumentError, match="makes no sense"):
        read_reply(broken)


@given(
    st.binary(max_size=200)
    | st.recursive(st.none() | st.text(), st.lists).map(lambda value: json.dumps(value).encode())
)
def test_whatever_comes_is_read_or_refused(anything: bytes) -> None:
    with pytest.raises(DocumentError):
        read_reply(anything)
    read_failure(anything)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (b'{"error": "the file is empty"}', "The file is empty."),
        (b'{"error": "a\\nb\\u0000c."}', "A bc."),
        (b'{"error": ""}', ""),
        (b'{"error": 5}', ""),
        (b"Traceback", ""),
    ],
)
def test_why_it_could_not_be_read_is_told_as_a_sentence(said: bytes, told: str) -> None:
    assert read_failure(said) == told
