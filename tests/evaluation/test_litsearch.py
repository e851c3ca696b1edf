"""LitSearch in the form in which its authors publish it."""

from math import log2
from pathlib import Path
from typing import Any

import pytest

from evaluation.input_files import EvaluationError
from evaluation.retrieval import HowSearched, evaluate, is_litsearch, read_litsearch
from tests.small_litsearch import FILES, PAPERS, QUERIES, save_litsearch


def test_titles_and_abstracts_are_read_with_what_is_relevant(tmp_path: Path) -> None:
    judged = read_litsearch(save_litsearch(tmp_path))
    assert [(one.id, one.title, one.text) for one in judged.documents] == [
        ("11", "Cats", "Kittens sleep longer than cats."),
        ("12", "Bonds", "Government bonds fell as interest rates rose."),
        ("13", "Rain", ""),
        ("14", "Tides", "The moon raises tides."),
        ("15", "Bread", "Dough rises with yeast."),
        ("16", "", "Nobody named this one."),
    ]
    assert judged.queries == {"0": QUERIES[0]["query"], "1": QUERIES[1]["query"]}
    assert judged.gains == {"0": {"11": 1}, "1": {"12": 1, "99": 1}}
    assert judged.first(1).queries == {"0": QUERIES[0]["query"]}
    assert is_litsearch(tmp_path)


def test_it_is_measured_as_any_other_collection(tmp_path: Path) -> None:
    figures = evaluate(save_litsearch(tmp_path), HowSearched("lexical"))
    assert (figures["documents"], figures["queries"], figures["missing_documents"]) == (6, 2, 1)
    assert figures["recall@5"] == figures["recall@20"] == pytest.approx((1 + 1 / 2) / 2)
    assert figures["ndcg@10"] == pytest.approx((1 + 1 / (1 + 1 / log2(3))) / 2)


@pytest.mark.parametrize(
    ("papers", "queries", "complaint"),
    [
        ([{"corpusid": 1, "title": "T"}] * 6, QUERIES, "abstract: Field required"),
        ([{**PAPERS[0], "corpusid": "eleven"}] * 6, QUERIES, "corpusid: Input should be a valid integer"),
        ([{**PAPERS[0], "title": 5}] * 6, QUERIES, "title: Input should be a valid string"),
        (PAPERS, [{"query": None, "corpusids": [1]}], "query: Input should be a valid string"),
        (PAPERS, [{"query": "q", "corpusids": ["1"]}], "corpusids.0: Input should be a valid integer"),
        (PAPERS, [{"query": "q", "corpusids": []}], "no query with relevant documents"),
    ],
)
def test_data_of_another_form_are_named(tmp_path: Path, papers: Any, queries: Any, complaint: str) -> None:
    with pytest.raises(EvaluationError, match=complaint):
        read_litsearch(save_litsearch(tmp_path, papers, queries))


@pytest.mark.parametrize("content", [b"", b"PAR1 and no more", b'{"corpusid": 1}\n'])
def test_a_file_that_is_no_parquet_is_named(tmp_path: Path, content: bytes) -> None:
    save_litsearch(tmp_path)
    (tmp_path / FILES[2]).write_bytes(content)
    with pytest.raises(EvaluationError, match=r"full-00001-of-00006\.parquet cannot be read as Parquet"):
        read_litsearch(tmp_path)


def test_files_that_are_not_there_are_missed(tmp_path: Path) -> None:
    save_litsearch(tmp_path)
    (tmp_path / FILES[0]).unlink()
    with pytest.raises(EvaluationError, match=r"has no file query/\*\.parquet"):
        read_litsearch(tmp_path)
