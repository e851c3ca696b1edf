"""GenGO Ultra's Table 1: which rows are measured, in which columns, and what is said of the others."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from evaluation.tables.sources import DataSet, data_sets
from tests.evaluation.commands import measured_table, write_lines
from tests.tiny_encoder import save_tiny_encoder

DOCUMENTS = {"1": ("Cats", "Kittens sleep."), "2": ("Bonds", "Bonds fell."), "3": ("Rain", "It rains.")}
QUERIES = {"q1": "how long do kittens sleep", "q2": "what did bonds do"}


def save_beir(
    folder: Path, judged: str = "q1\t1\t1\nq2\t2\t1\n", queries: Mapping[str, str] = QUERIES
) -> Path:
    (folder / "qrels").mkdir(parents=True)
    documents = [
        {"_id": document_id, "title": title, "text": text} for document_id, (title, text) in DOCUMENTS.items()
    ]
    asked = [{"_id": query_id, "text": text} for query_id, text in queries.items()]
    for name, rows in (("corpus", documents), ("queries", asked)):
        write_lines(folder / f"{name}.jsonl", *rows)
    (folder / "qrels" / "test.tsv").write_text(f"query-id\tcorpus-id\tscore\n{judged}")
    return folder


@pytest.fixture
def sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the known sizes be those of the small sets of these tests."""
    known = {
        name: _with_counts(data_set, {"documents": 3, "queries": 2}) for name, data_set in data_sets().items()
    }
    monkeypatch.setattr("evaluation.tables.sources.data_sets", lambda: known)


def _with_counts(data_set: DataSet, counts: dict[str, int]) -> DataSet:
    forms = tuple(form.model_copy(update={"counts": counts}) for form in data_set.forms)
    return data_set.model_copy(update={"forms": forms})


def test_any_encoder_is_measured_by_the_same_code(
    tmp_path: Path, sizes: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PAPER_TRAIL_ENCODER_RUNTIME", "torch")
    save_beir(tmp_path / "data" / "scifact")
    folder = save_tiny_encoder(tmp_path / "e5-small-v2")
    result = measured_table(tmp_path, "gengo-encoders", "--encoder", str(folder), "--limit", "1")
    dense, hybrid = result["measured"]
    assert (dense["system"], hybrid["system"]) == ("e5-small-v2", "e5-small-v2, our hybrid search")
    assert dense["note"] == "the first 1 queries of each set"
    assert {gap["what"] for gap in result["missing"]} == {"SciDocs (BEIR)", "LitSearch"}


def test_a_paper_of_scidocs_does_not_find_itself(tmp_path: Path, sizes: None) -> None:
    """The query is document 1, word for word, and wants document 2."""
    asked = {"1": "Cats Kittens sleep.", "q2": QUERIES["q2"]}
    for name in ("scidocs", "scifact"):
        save_beir(tmp_path / "data" / name, "1\t2\t1\nq2\t2\t1\n", asked)
    dense, _ = measured_table(tmp_path, "gengo-encoders", "--encoder", "all-MiniLM-L6-v2")["measured"]
    scidocs, scifact = (dense["figures"][f"{name} MAP@10"] for name in ("SciDocs", "SciFact"))
    # Of the other two either may come first, and with itself among three it cannot.
    assert scidocs > scifact
    assert scifact < 1


def test_rows_are_kept_until_an_input_changes(tmp_path: Path, sizes: None) -> None:
    folder = save_beir(tmp_path / "data" / "scifact")
    first = measured_table(tmp_path, "gengo-encoders", "--encoder", "all-MiniLM-L6-v2")["measured"]
    assert measured_table(tmp_path, "gengo-encoders", "--encoder", "all-MiniLM-L6-v2")["measured"] == first
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\t2\t1\nq2\t1\t1\n")
    changed = measured_table(tmp_path, "gengo-encoders", "--encoder", "all-MiniLM-L6-v2")["measured"]
    assert changed[0]["figures"] != first[0]["figures"]
