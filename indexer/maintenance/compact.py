"""Free disk space in the home."""

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
    """Bytes in the folder before and after, and the number of PDF and TEI files removed."""

    before: int
    after: int
    files: int


def compact_home(settings: Settings, encoder: Encoder, keep_versions: timedelta) -> Freed:
    """Drop old table versions, the staged files of unfinished builds, and files of papers that are gone.

    Raises CorpusError; the published corpus stays readable throughout.
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
    hashes = _column(published, "pdf_sha256")
    files = _remove_others(settings.pdf_path, hashes) + _remove_others(settings.tei_path, hashes)
    return Freed(before, settings.place.total_size(), files)


def _column(corpus: Corpus, name: str) -> set[str]:
    return {row for batch in corpus.scan("papers", [name]) for row in batch[name].to_pylist()}


def _remove_others(folder: Place, hashes: set[str]) -> int:
    """Remove files whose names do not begin with one of the hashes; return their number."""
    others = [file for file in folder.files_below() if file.name[:64] not in hashes]
    try:
        for file in others:
            file.delete()
    except OSError as error:
        raise CorpusError(f"The folder {folder} cannot be tidied: {error.strerror}.") from error
    return len(others)
