"""Measured figures of a corpus: whole, of its version, or reported as no such file."""

import json
from pathlib import Path

import pytest

from corpus.errors import CorpusError
from corpus.measured import LARGEST, MeasuredCorpus, Share, read_measured, write_measured
from corpus.store.manifest import Manifest

MANIFEST = Manifest("encoder", "53aa", 384, {"papers": 3, "passages": 4})
MEASURED = MeasuredCorpus(
    shares=(Share("papers found first by their titles", 1.0, 16), Share("refused", 0.25, 8, is_good=False)),
    versions={"papers": 3, "passages": 4},
    encoder_sha256="53aa",
    date="2026-11-23",
    product="Paper Trail 0.1.0",
    command="paper-trail eval corpus",
)


def test_what_is_kept_is_read_back_and_of_the_version_that_was_measured(tmp_path: Path) -> None:
    path = tmp_path / "measured.json"
    assert read_measured(path) is None
    write_measured(path, MEASURED)
    assert read_measured(path) == MEASURED
    write_measured(path, MEASURED)
    assert [path.name for path in tmp_path.iterdir()] == ["measured.json"]
    assert MEASURED.is_of(MANIFEST)
    assert not MEASURED.is_of(Manifest("encoder", "53aa", 384, {"papers": 4, "passages": 4}))
    assert not MEASURED.is_of(Manifest("encoder", "other", 384, {"papers": 3, "passages": 4}))
    with pytest.raises(CorpusError, match="cannot be written"):
        write_measured(tmp_path / "gone" / "measured.json", MEASURED)


def changed(**fields: object) -> str:
    share = {"counted": "c", "share": 0.5, "of": 2}
    told = {"shares": [share], "versions": {}, "encoder_sha256": "", "date": "", "product": "", "command": ""}
    return json.dumps({**told, **fields})


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        changed()[:-20],
        changed(shares=[{"counted": "c", "share": 2, "of": 2}]),
        changed(shares=[{"counted": "c", "share": "NaN", "of": 2}]),
        changed(shares=[{"counted": "c", "share": 0.5, "of": 0}]),
        changed(versions=[1]),
        changed(product="x" * LARGEST),
    ],
)
def test_another_file_is_said_to_be_none(tmp_path: Path, text: str) -> None:
    path = tmp_path / "measured.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(CorpusError):
        read_measured(path)
