"""A small judged collection, and Pythons that are not what a peer needs."""

import json
from pathlib import Path
from shutil import copytree

import pytest

from evaluation.peers.comparison import Workplace, read_material
from tests.evaluation.peers.pythons import Pythons

DOCUMENTS = {
    "cats": ("Cats", "Cats sleep most of the day, and kittens sleep longer."),
    "bonds": ("Bonds", "Government bonds fell as interest rates rose."),
    "rain": ("", "Rain is likely in the mountains in May."),
    "soup": ("Soup", "Onions, carrots and a little salt make a good soup."),
}
QUERIES = {"q1": "How long do kittens sleep?", "q2": "rain in the mountains", "q3": "not judged"}
JUDGED = "query-id\tcorpus-id\tscore\nq1\tcats\t2\nq1\tbonds\t1\nq2\train\t1\nq2\tnot-there\t1\n"


def write_data(folder: Path) -> Path:
    folder.mkdir()
    documents = [{"_id": key, "title": title, "text": text} for key, (title, text) in DOCUMENTS.items()]
    queries = [{"_id": key, "text": text} for key, text in QUERIES.items()]
    for name, records in (("corpus", documents), ("queries", queries)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    (folder / "qrels.tsv").write_text(JUDGED)
    return folder


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_data(tmp_path / "small")


@pytest.fixture(scope="session")
def ours_measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of runs that has ours alone: to index even four documents takes seconds."""
    home = tmp_path_factory.mktemp("ours")
    material = read_material(write_data(home / "small"))
    workplace = Workplace(home / "python", home / "runs")
    workplace.out.mkdir()
    ((_, _, kept),) = workplace.runs((), material)
    assert not kept
    return workplace.out


@pytest.fixture
def out(tmp_path: Path, ours_measured: Path) -> Path:
    return Path(copytree(ours_measured, tmp_path / "runs"))


@pytest.fixture
def pythons(tmp_path: Path) -> Pythons:
    return Pythons(tmp_path)
