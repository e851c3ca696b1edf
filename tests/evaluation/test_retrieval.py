"""The retrieval measures against values computed by hand, and the command on a small judged collection."""

import json
from math import log2
from pathlib import Path

import pytest
from typer.testing import CliRunner

from corpus.store.corpus import Corpus
from evaluation.__main__ import app
from evaluation.retrieval import average_precision, ndcg, recall

DOCUMENTS = [
    {"_id": "d/1", "title": "Cats", "text": "Cats sleep most of the day, and kittens sleep longer."},
    {"_id": "d 2", "title": "Bonds", "text": "Government bonds fell as interest rates rose."},
    {"_id": "d'3", "title": "", "text": "Rain is likely in the mountains in May."},
    {"_id": "4", "title": "An empty record", "text": ""},
]
QUERIES = [
    {"_id": "q1", "text": "How long do kittens sleep?"},
    {"_id": "q2", "text": "rain in the mountains"},
    {"_id": "q3", "text": "nothing is relevant to this"},
]
JUDGED = "query-id\tcorpus-id\tscore\nq1\td/1\t2\nq1\td 2\t0\nq2\td'3\t1\nq2\tnot-there\t1\nq3\t4\t0\n"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "judged"
    folder.mkdir()
    for name, lines in (("corpus", DOCUMENTS), ("queries", QUERIES)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (folder / "qrels.tsv").write_text(JUDGED)
    return folder


@pytest.mark.parametrize(
    ("ranking", "gains", "expected"),
    [
        ("a", {"a": 1}, 1.0),
        ("xa", {"a": 1}, 1 / log2(3)),
        ("xyz", {"a": 1}, 0.0),
        ("", {"a": 1}, 0.0),
        # Gains count as they are, not as powers of two.
        ("ba", {"a": 2, "b": 1}, (1 + 2 / log2(3)) / (2 + 1 / log2(3))),
        ("axb", {"a": 1, "b": 1, "c": 1}, (1 + 1 / 2) / (1 + 1 / log2(3) + 1 / 2)),
        # The best possible ranking is cut at the same depth.
        ("abcdefghij", dict.fromkeys("abcdefghijkl", 1), 1.0),
        ("xxxxxxxxxxa", {"a": 1}, 0.0),
    ],
)
def test_ndcg(ranking: str, gains: dict[str, int], expected: float) -> None:
    assert ndcg(list(ranking), gains, 10) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("ranking", "gains", "precision", "recalled"),
    [
        ("a", {"a": 1}, 1.0, 1.0),
        ("xaxb", {"a": 1, "b": 3}, (1 / 2 + 2 / 4) / 2, 1.0),
        ("xa", {"a": 1, "b": 1}, (1 / 2) / 2, 1 / 2),
        ("xy", {"a": 1}, 0.0, 0.0),
    ],
)
def test_average_precision_and_recall(
    ranking: str, gains: dict[str, int], precision: float, recalled: float
) -> None:
    assert average_precision(list(ranking), gains, 10) == pytest.approx(precision)
    assert recall(list(ranking), gains, 100) == pytest.approx(recalled)


@pytest.mark.parametrize("mode", ["dense", "lexical", "hybrid"])
def test_the_command_measures_our_own_search(data: Path, mode: str) -> None:
    done = CliRunner().invoke(app, ["retrieval", "--data", str(data), "--mode", mode, "--runtime", "torch"])
    assert done.exit_code == 0, done.output
    figures = json.loads(done.stdout.splitlines()[-1])
    assert (figures["data"], figures["mode"], figures["runtime"]) == ("judged", mode, "torch")
    assert (figures["documents"], figures["queries"]) == (4, 2)
    # Both queries find theirs first; half of what the second wants is not in the collection.
    assert figures["ndcg@10"] == pytest.approx((1 + 1 / (1 + 1 / log2(3))) / 2)
    assert figures["map@10"] == pytest.approx((1 + 1 / 2) / 2)
    assert figures["recall@100"] == pytest.approx((1 + 1 / 2) / 2)
    assert figures["ms_per_query"] > 0
    assert (figures["missing_documents"], "1 relevant document" in done.stderr) == (1, True)


def run(*options: str) -> dict:
    done = CliRunner().invoke(app, ["retrieval", *options])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout.splitlines()[-1])


def test_a_folder_as_beir_has_it_is_read_by_split(data: Path) -> None:
    (data / "qrels.tsv").rename(data / "all.tsv")
    (data / "qrels").mkdir()
    header = JUDGED.splitlines()[0]
    (data / "qrels" / "test.tsv").write_text(f"{header}\r\nq1\td/1\t2\r\n")
    (data / "qrels" / "dev.tsv").write_text(JUDGED)
    options = ("--data", str(data), "--mode", "lexical")
    assert run(*options)["queries"] == run(*options, "--split", "test")["queries"] == 1
    assert run(*options, "--split", "dev")["queries"] == 2
    (data / "all.tsv").rename(data / "qrels.tsv")
    assert run(*options)["queries"] == 2
    done = CliRunner().invoke(app, ["retrieval", *options, "--split", "train"])
    assert (done.exit_code, "qrels/train.tsv cannot be read" in done.stderr) == (2, True)


@pytest.fixture
def asked_of_demo(tmp_path: Path) -> Path:
    """Return queries and judgements without documents: the papers are the demonstration's."""
    queries = {"q1": "late interaction retrieval", "q2": "not judged"}
    (tmp_path / "queries.jsonl").write_text(
        "".join(json.dumps({"_id": key, "text": text}) + "\n" for key, text in queries.items())
    )
    return tmp_path


def judge(folder: Path, *papers: str) -> None:
    lines = "".join(f"q1\t{paper}\t1\n" for paper in papers)
    (folder / "qrels.tsv").write_text(f"query-id\tcorpus-id\tscore\n{lines}")


@pytest.mark.parametrize("place", ["", "corpus"])
def test_a_corpus_that_exists_is_searched(
    asked_of_demo: Path, demo_home: Path, demo_corpus: Corpus, place: str
) -> None:
    (first, *_) = demo_corpus.papers()
    (asked_of_demo / "queries.jsonl").write_text(json.dumps({"_id": "q1", "text": first.title}) + "\n")
    judge(asked_of_demo, first.id, "not/there")
    figures = run("--corpus", str(demo_home / place), "--data", str(asked_of_demo))
    assert (figures["documents"], figures["missing_documents"]) == (demo_corpus.count_papers(), 1)
    assert figures["recall@100"] == 0.5
    assert figures["map@10"] == 0.5
    assert "build_seconds" not in figures


def test_a_corpus_that_holds_nothing_relevant_or_is_not_there_is_said(
    asked_of_demo: Path, demo_home: Path
) -> None:
    judge(asked_of_demo, "not/there")
    command = ["retrieval", "--data", str(asked_of_demo), "--corpus"]
    other = CliRunner().invoke(app, [*command, str(demo_home)])
    assert (other.exit_code, "has none of the documents" in other.stderr) == (2, True)
    nothing = CliRunner().invoke(app, [*command, str(asked_of_demo / "none")])
    assert (nothing.exit_code, "no corpus" in nothing.stderr.lower()) == (2, True)


@pytest.mark.parametrize(
    ("file", "content", "complaint"),
    [
        ("corpus.jsonl", '{"title": "without an id"}\n', "corpus.jsonl, line 1: _id"),
        ("queries.jsonl", "not json\n", "queries.jsonl, line 1: the line"),
        ("qrels.tsv", "q1\td1\t1\n", "qrels.tsv, line 1: the header must be query-id"),
        ("qrels.tsv", "", "qrels.tsv, line 1"),
        ("qrels.tsv", "query-id\tcorpus-id\tscore\n\nq1\td/1\tmuch\n", "qrels.tsv, line 3: it must be"),
        ("qrels.tsv", "query-id\tcorpus-id\tscore\nq1\td/1\n", "qrels.tsv, line 2: it must be"),
        ("qrels.tsv", "query-id\tcorpus-id\tscore\nq1\td/1\t0\n", "no query with relevant documents"),
        ("qrels.tsv", None, "qrels.tsv cannot be read"),
    ],
)
def test_data_that_cannot_be_used_are_named(
    data: Path, file: str, content: str | None, complaint: str
) -> None:
    (data / file).unlink()
    if content is not None:
        (data / file).write_text(content)
    done = CliRunner().invoke(app, ["retrieval", "--data", str(data)])
    assert done.exit_code == 2
    assert complaint in done.output
