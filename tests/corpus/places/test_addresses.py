"""PAPER_TRAIL_HOME is a folder or an address; what is local by nature is neither in a bucket nor cached."""

import sys
from pathlib import Path

import pytest

from corpus.errors import CorpusError
from corpus.places.folder import Folder
from corpus.places.place import ConflictError
from corpus.settings import Settings, read_settings


def test_a_home_is_a_folder_or_an_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAPER_TRAIL_HOME", "s3://bucket/some/papers/")
    monkeypatch.setenv("PAPER_TRAIL_LOCAL", str(tmp_path / "local"))
    settings = read_settings()
    assert str(settings.corpus_path) == "s3://bucket/some/papers/corpus"
    assert settings.corpus_path.connection().uri == "s3://bucket/some/papers/corpus"
    assert settings.home == tmp_path / "local"
    assert settings.conversations_path == tmp_path / "local" / "conversations.sqlite"
    assert not settings.conversations_path.is_relative_to(settings.cache)
    monkeypatch.setenv("PAPER_TRAIL_HOME", str(tmp_path))
    monkeypatch.setenv("PAPER_TRAIL_ADDRESS", "s3://elsewhere/papers")
    settings = read_settings()
    assert settings.corpus_path == Folder(tmp_path / "corpus")
    assert settings.address == ""


@pytest.mark.parametrize("address", ["ftp://host/papers", "s3://", "s3:///papers"])
def test_an_address_that_is_none_is_named(address: str) -> None:
    with pytest.raises(CorpusError, match="is not the address of a corpus"):
        _ = Settings(home=address).place


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "corpus.places.bucket", raising=False)
    monkeypatch.setitem(sys.modules, "obstore.exceptions", None)
    with pytest.raises(CorpusError, match=r"\[s3\]"):
        _ = Settings(home="s3://bucket/papers").place


def test_a_file_of_a_folder_is_written_if_it_is_what_was_read(tmp_path: Path) -> None:
    file = Folder(tmp_path) / "deep" / "file"
    mark = file.write_if(b"one", "")
    with pytest.raises(ConflictError):
        file.write_if(b"two", "")
    assert file.read_marked() == (b"one", mark)
    later = file.write_if(b"two", mark)
    with pytest.raises(ConflictError):
        file.write_if(b"three", mark)
    assert file.read_marked() == (b"two", later)
