"""Freeing space where the corpus lies."""

from dataclasses import dataclass
from datetime import timedelta

from corpus.encoders.base import Encoder
from corpus.errors import CorpusError
from corpus.places.place import Place
from corpus.settings import Settings
from corpus.store.corpus import Corpus
from corpus.store.element_cache import ElementStore
from corpus.store.writer import CorpusWriter
from indexer.build.staging import Staging


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
    before = settings.place.total_size()
    writer = CorpusWriter(settings.corpus_path, encoder)
    if writer.published() is None:
        raise CorpusError(f"There is no corpus at {settings.corpus_path} to compact.")
    writer.compact(keep_versions)
    published = writer.published()
    assert published
    Staging(settings.staging_path, "").discard()
    ElementStore.open(settings.corpus_path).keep_only(_column(published, "id"))
    held = _column(published, "pdf_sha256")
    files = _remove_others(settings.pdf_path, held) + _remove_others(settings.tei_path, held)
    return Freed(before, settings.place.total_size(), files)


def _column(corpus: Corpus, name: str) -> set[str]:
    return {row for batch in corpus.scan("papers", [name]) for row in batch[name].to_pylist()}


def _remove_others(folder: Place, hashes: set[str]) -> int:
    """Remove the files whose names do not begin with one of the hashes; return how many."""
    others = [file for file in folder.files_below() if file.name[:64] not in hashes]
    try:
        for file in others:
            file.delete()
    except OSError as error:
        raise CorpusError(f"The folder {folder} cannot be tidied: {error.strerror}.") from error
    return len(others)
