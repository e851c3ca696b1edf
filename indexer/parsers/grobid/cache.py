"""A cache of a GROBID server's TEI: no PDF is parsed twice by the same version."""

import gzip
import hashlib
import io
import logging
import zlib
from pathlib import Path

from corpus.places.address import place_at
from corpus.places.place import Place
from indexer.parsers.tei.document import LARGEST_TEI

logger = logging.getLogger(__name__)


class KeptTei:
    """A folder of compressed TEI by PDF, server version and parameters of the `request`."""

    def __init__(self, folder: Path | Place, request: object = ()) -> None:
        self._folder = place_at(folder)
        self._request = hashlib.sha256(repr(request).encode()).hexdigest()[:8]

    def of_version(self, pdf_sha256: str, version: str) -> bytes | None:
        """Return the TEI of a PDF by this version of GROBID, None if missing or damaged."""
        return _read(self._file(pdf_sha256, version))

    def newest(self, pdf_sha256: str) -> bytes | None:
        """Return the newest TEI of a PDF, by any version."""
        try:
            files = (self._folder / pdf_sha256[:2]).files(f"{pdf_sha256}.*.tei.gz")
            newest_first = sorted(files, key=lambda file: file.changed(), reverse=True)
        except OSError:
            return None
        return next(filter(None, map(_read, newest_first)), None)

    def keep(self, pdf_sha256: str, version: str, tei: bytes) -> None:
        """Write the TEI; a failure is logged only, as the PDF can be parsed again."""
        try:
            self._file(pdf_sha256, version).write(gzip.compress(tei, mtime=0))
        except OSError as error:
            logger.warning("GROBID's TEI could not be kept in %s: %s", self._folder, error.strerror)

    def _file(self, pdf_sha256: str, version: str) -> Place:
        name = f"{pdf_sha256}.{version or 'unknown'}.{self._request}.tei.gz"
        return self._folder / pdf_sha256[:2] / name


class KeptParser:
    """A parser that returns cached TEI only, for builds without a server."""

    at_once = 1

    def __init__(self, kept: KeptTei) -> None:
        self._kept = kept

    def tei(self, pdf: Path, sha256: str) -> bytes | None:  # noqa: ARG002 - a server needs the file
        """Return the newest cached TEI of a PDF, None without any."""
        return self._kept.newest(sha256)

    def stop(self) -> None:
        """Do nothing: no request is ever under way."""


def _read(file: Place) -> bytes | None:
    try:
        with gzip.open(io.BytesIO(file.read_bytes())) as stream:
            # Reading to the end verifies gzip's checksum; one more byte detects too large files.
            tei = stream.read(LARGEST_TEI + 1)
    except (OSError, EOFError, zlib.error):
        return None
    return tei if len(tei) <= LARGEST_TEI else None
