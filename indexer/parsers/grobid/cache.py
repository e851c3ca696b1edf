"""TEI kept from a GROBID server, so that no PDF is parsed twice by the same version of it."""

import gzip
import hashlib
import io
import logging
import zlib
from collections.abc import Iterator
from pathlib import Path

from corpus.places.address import place_at
from corpus.places.place import Place
from indexer.parsers.tei.document import LARGEST_TEI

logger = logging.getLogger(__name__)


class KeptTei:
    """A folder of compressed TEI by PDF, server version and `request`, whatever the server was asked for."""

    def __init__(self, folder: Path | Place, request: object = ()) -> None:
        self._folder = place_at(folder)
        self._request = hashlib.sha256(repr(request).encode()).hexdigest()[:8]

    def of_version(self, pdf_sha256: str, version: str) -> bytes | None:
        """Return the TEI that this version of GROBID made of a PDF; None also where the file is damaged."""
        return _read(self._file(pdf_sha256, version))

    def newest(self, pdf_sha256: str) -> bytes | None:
        """Return the TEI last kept of a PDF, whatever made it."""
        return next((tei for file in self._newest_first(pdf_sha256) if (tei := _read(file))), None)

    def keep(self, pdf_sha256: str, version: str, tei: bytes) -> None:
        """Write the TEI in one step; a folder that cannot be written costs another parse, not the paper."""
        try:
            self._file(pdf_sha256, version).write(gzip.compress(tei, mtime=0))
        except OSError as error:
            logger.warning("GROBID's TEI could not be kept in %s: %s", self._folder, error.strerror)

    def _file(self, pdf_sha256: str, version: str) -> Place:
        name = f"{pdf_sha256}.{version or 'unknown'}.{self._request}.tei.gz"
        return self._folder / pdf_sha256[:2] / name

    def _newest_first(self, pdf_sha256: str) -> Iterator[Place]:
        try:
            found = (self._folder / pdf_sha256[:2]).files(f"{pdf_sha256}.*.tei.gz")
            yield from sorted(found, key=lambda file: file.changed(), reverse=True)
        except OSError:
            return


class KeptParser:
    """The TEI kept earlier, for a build that has no server to ask."""

    at_once = 1

    def __init__(self, kept: KeptTei) -> None:
        self._kept = kept

    def tei(self, pdf: Path, sha256: str) -> bytes | None:  # noqa: ARG002 - a server needs the file
        """Return the TEI last kept of a PDF with this hash, None for one that no server has parsed."""
        return self._kept.newest(sha256)

    def stop(self) -> None:
        """Do nothing: nobody is waited for."""


def _read(file: Place) -> bytes | None:
    try:
        with gzip.open(io.BytesIO(file.read_bytes())) as stream:
            # Reading to the end checks the file's own sum; one byte more tells what is too large.
            tei = stream.read(LARGEST_TEI + 1)
    except (OSError, EOFError, zlib.error):
        return None
    return tei if len(tei) <= LARGEST_TEI else None
