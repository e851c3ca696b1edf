"""The findings of verify: none in a whole corpus, and each kind of damage by name."""

import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from corpus.encoders.base import Encoder, Vectors
from corpus.records import Aspect, Box, Collection, Paper, Passage, Sentence
from corpus.store import rows
from corpus.store.corpus import Corpus
from corpus.store.writer import CorpusWriter
from indexer.maintenance.verify import verify
from tests.small_corpus import make_paper, make_passages


def _problems(
    path: Path,
    encoder: Encoder,
    paper: Paper,
    passages: list[Passage],
    *,
    scale: float = 1,
    damage: Callable[[list[Vectors]], list[Vectors]] = lambda alone: alone,
) -> list[str]:
    """Return the problems verify finds in a corpus of one paper; `damage` changes its sentence vectors."""
    writer = CorpusWriter(path / "corpus", encoder)
    writer.put_collections([Collection("notes", "Notes")])
    texts = [passage.text for passage in passages]
    vectors = encoder.encode_passages(texts) * np.float32(scale)
    papers = rows.paper_rows([rows.PaperEntry(paper, ())])
    alone = [encoder.encode_passages([paper.title] * (1 + len(passage.sentences))) for passage in passages]
    by_id = {passage.paper_id: paper for passage in passages}
    found = rows.passage_rows(passages, by_id, texts, vectors, damage(alone))
    writer.add_papers(papers.to_batches(), found.to_batches())
    writer.publish()
    corpus = Corpus.open(path / "corpus", encoder)
    return [f"{problem.item}: {problem.text}" for problem in verify(corpus, path / "pdf")]


def _changed(**changes: object) -> Callable[[Paper, list[Passage]], tuple[Paper, list[Passage]]]:
    """Return a function that changes the first passage of a paper."""

    def change(paper: Paper, passages: list[Passage]) -> tuple[Paper, list[Passage]]:
        return paper, [replace(passages[0], **changes), *passages[1:]]  # type: ignore[arg-type]

    return change


def _boxed(page: int, width: float = 10.0) -> Callable[[Paper, list[Passage]], tuple[Paper, list[Passage]]]:
    text = "Cats sleep."
    return _changed(sentences=(Sentence(0, len(text), (Box(page, 5, 5, width, 10),)),))


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        (lambda paper, passages: (paper, passages), ""),
        (_changed(sentences=(Sentence(0, 4),)), "notes/cat#0: its sentences do not give its text back"),
        (_changed(sentences=(Sentence(2, 11),)), "notes/cat#0: its sentences do not give its text back"),
        (_changed(sentences=(Sentence(0, 11, (), (0,)),)), "an entry that the bibliography does not have"),
        (_boxed(2), ""),
        (_boxed(3), "notes/cat#0: a box of it is on page 3 of 2"),
        (_boxed(1, width=0), "notes/cat#0: a box of it is empty"),
        (_changed(id="notes/cat#7"), "notes/cat#7: its id is not that of its paper and number"),
        (_changed(collection_id="letters"), "notes/cat#0: it is in another collection than its paper"),
        (_changed(paper_id="notes/dog"), "notes/cat#0: its paper is not there"),
        (lambda paper, passages: (paper, passages[1:]), "notes/cat: its passages are not numbered"),
        (lambda paper, passages: (replace(paper, pdf_sha256="0" * 64), passages), "is no longer kept"),
        (
            lambda paper, passages: (replace(paper, aspects=(Aspect("outcome", "x", 1, 5),)), passages),
            "notes/cat: an aspect rests on sentence 5 of passage 1",
        ),
        (
            lambda paper, passages: (replace(paper, collection_id="gone"), passages),
            "notes/cat: its collection 'gone' is not there",
        ),
    ],
)
def test_damage_is_found_and_nothing_else(
    tmp_path: Path,
    encoder: Encoder,
    damage: Callable[[Paper, list[Passage]], tuple[Paper, list[Passage]]],
    problem: str,
) -> None:
    paper = replace(make_paper("notes", "cat"), page_count=2)
    found = _problems(tmp_path, encoder, *damage(paper, make_passages(paper, ["Cats sleep.", "Cats purr."])))
    if problem:
        assert any(problem in line for line in found), found
    else:
        assert found == []


def test_the_demonstration_is_whole_and_a_vector_of_another_length_is_found(
    demo_corpus: Corpus, demo_home: Path, tmp_path: Path, encoder: Encoder
) -> None:
    assert list(verify(demo_corpus, demo_home / "pdf")) == []
    paper = make_paper("notes", "cat")
    found = _problems(tmp_path, encoder, paper, make_passages(paper, ["Cats sleep."]), scale=0.5)
    assert found == ["notes/cat#0: its vector is not of length 1"]


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        (lambda alone: [alone[0][1:]], "notes/cat#0: its title and sentences have not a vector each"),
        (lambda alone: [alone[0][:, :-1]], "notes/cat#0: its title and sentences have not a vector each"),
        (lambda alone: None, "notes/cat#0: its title and sentences have not a vector each"),
        (
            lambda alone: [alone[0] * 0.9],
            "notes/cat#0: a vector of its title or sentences is not of length 1",
        ),
        (lambda alone: [alone[0] * np.nan], "a vector of its title or sentences is not of length 1"),
    ],
)
def test_a_wrong_vector_of_a_sentence_is_named(
    tmp_path: Path,
    encoder: Encoder,
    damage: Callable[[list[Vectors]], list[Vectors]],
    problem: str,
) -> None:
    paper = make_paper("notes", "cat")
    (found,) = _problems(tmp_path, encoder, paper, make_passages(paper, ["Cats sleep."]), damage=damage)
    assert problem in found


@pytest.mark.parametrize(
    "damage", [lambda _: None, lambda _: b"", lambda _: zlib.compress(b"{}"), lambda packed: packed[:-1]]
)
def test_what_is_read_of_a_paper_is_what_its_columns_hold(
    tmp_path: Path,
    encoder: Encoder,
    monkeypatch: pytest.MonkeyPatch,
    damage: Callable[[bytes], bytes | None],
) -> None:
    """Each row has its columns once more in one; where that is damaged verify tells."""
    with_records = rows.with_records

    def damaged(batch: pa.RecordBatch, columns: list[str]) -> pa.RecordBatch:
        whole = with_records(batch, columns)
        packed = [damage(record) for record in whole["record"].to_pylist()]
        return batch.append_column(rows.RECORD, pa.array(packed, rows.RECORD.type))

    monkeypatch.setattr(rows, "with_records", damaged)
    paper = make_paper("notes", "cat")
    found = _problems(tmp_path, encoder, paper, make_passages(paper, ["Cats sleep."]))
    told = "what is read of it is not what its columns hold"
    assert found == [f"notes/cat: {told}", f"notes/cat#0: {told}"]
