"""LitSearch in the form in which its authors publish it."""

from math import log2
from pathlib import Path

import pytest

from evaluation.input_files import EvaluationError
from evaluation.retrieval import HowSearched, evaluate, read_litsearch
from tests.small_litsearch import FILES, save_litsearch


def test_it_is_measured_as_any_other_collection(tmp_path: Path) -> None:
    figures = evaluate(save_litsearch(tmp_path), HowSearched("lexical"))
    assert (figures["documents"], figures["queries"], figures["missing_documents"]) == (6, 2, 1)
    assert figures["recall@5"] == figures["recall@20"] == pytest.approx((1 + 1 / 2) / 2)
    assert figures["ndcg@10"] == pytest.approx((1 + 1 / (1 + 1 / log2(3))) / 2)


@pytest.mark.parametrize("content", [b"", b"PAR1 and no more", b'{"corpusid": 1}\n'])
def test_a_file_that_is_no_parquet_is_named(tmp_path: Path, content: bytes) -> None:
    save_litsearch(tmp_path)
    (tmp_path / FILES[2]).write_bytes(content)
    with pytest.raises(EvaluationError, match=r"full-00001-of-00006\.parquet cannot be read as Parquet"):
        read_litsearch(tmp_path)
