"""Freeing disk space in the folder that holds everything."""

from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from corpus.encoders import Encoder
from corpus.errors import CorpusError
from corpus.settings import Settings
from corpus.store import Corpus, CorpusWriter, ElementStore
from indexer.build import Staging


@dataclass(frozen=True, slots=True)
class Freed:
    """Bytes in the folder before and after, and how many kept files were removed."""

    before: int
    after: int
    files: int


def compact_home(settings: Settings, encoder: Encoder, keep_versions: timedelta) -> Freed:
    """Drop old versions of the tables, what unfinished builds left, and what is kept of papers that are gone.

    Raises CorpusError; the corpus that readers see stays whole at every moment.
    """
    before = _size(settings.home)
    writer = CorpusWriter(settings.corpus_path, encoder)
    if (settings.corpus_path / "manifest.json").exists():
        writer.compact(keep_versions)
    published = writer.published()
    if published is None:
        raise CorpusError(f"There is no corpus at {settings.corpus_path} to compact.")
    Staging(settings.staging_path, "").discard()
    ElementStore.open(settings.corpus_path).keep_only(_column(published, "id"))
    held = _column(published, "pdf_sha256")
    files = _remove_others(settings.pdf_path, held) + _remove_others(settings.tei_path, held)
    return Freed(before, _size(settings.home), files)


def _column(corpus: Corpus, name: str) -> set[str]:
    return {row for batch in corpus.scan("papers", [name]) for row in batch[name].to_pylist()}


def _remove_others(folder: Path, hashes: set[str]) -> int:
    """Remove the files whose names do not begin with one of the hashes; return how many."""
    others = [file for file in folder.rglob("*") if file.is_file() and file.name[:64] not in hashes]
    try:
        for file in others:
            file.unlink()
    except OSError as error:
        raise CorpusError(f"The folder {folder} cannot be tidied: {error.strerror}.") from error
    return len(others)


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
