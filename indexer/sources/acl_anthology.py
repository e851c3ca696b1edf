"""Volumes of the ACL Anthology, read through its own library; the only file that imports acl_anthology."""

import logging
import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# GitPython, which the library imports, refuses to load where there is no git program; local data needs none.
os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")

from acl_anthology import Anthology
from acl_anthology.exceptions import AnthologyException, TeXParserWarning
from git.exc import GitCommandNotFound, GitError

from corpus.records import Author, Collection, Paper
from corpus.text import storable
from indexer.sources.protocol import SourceError, SourcePaper


class AclVolume:
    """One volume, such as "2022.acl-long" or "P19-1"; its front matter is left out."""

    def __init__(self, volume: Any) -> None:
        self._volume = volume
        self._papers = [paper for paper in volume.papers() if not paper.is_frontmatter]
        self._venue = " ".join([*(_acronym(venue) for venue in volume.venue_ids), str(volume.year)])
        self.collection = Collection(
            id=volume.full_id,
            title=_plain(volume.title),
            description="From the ACL Anthology: titles and abstracts.",
            source="ACL Anthology",
            year=int(volume.year),
            licence="ACL Anthology material, CC BY 4.0 (from 2016 on)",
        )

    def __len__(self) -> int:
        return len(self._papers)

    def papers(self) -> Iterator[SourcePaper]:
        for position, entry in enumerate(self._papers):
            yield SourcePaper(entry.full_id, self._paper(entry, position))

    def _paper(self, entry: Any, position: int) -> Paper:
        names = (author.name for author in entry.authors)
        return Paper(
            id=entry.full_id,
            collection_id=self.collection.id,
            title=_plain(entry.title),
            authors=tuple(Author(name.first or "", name.last) for name in names),
            year=int(entry.year),
            venue=self._venue,
            abstract=_plain(entry.abstract) if entry.abstract is not None else "",
            pages=entry.pages or "",
            url=entry.web_url,
            pdf_url=entry.pdf.url if entry.pdf else "",
            doi=entry.doi or "",
            bibtex=entry.to_bibtex(),
            source="ACL Anthology",
            position=position,
        )


def open_volumes(ids: list[str], datadir: Path | None, download_to: Path) -> list[AclVolume]:
    """Return the volumes of `ids`, from a local data directory or the library's own download.

    Raises SourceError for a missing directory, a failed download or an unknown volume.
    """
    logging.getLogger("acl_anthology").setLevel(logging.WARNING)
    anthology = _local(datadir) if datadir else _downloaded(download_to)
    return [_volume(anthology, identifier) for identifier in ids]


def _plain(markup: Any) -> str:
    """Return marked-up text as plain text; TeX that the library does not know stays as it was written."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TeXParserWarning)
        return storable(markup.as_text()).strip()


def _acronym(venue_id: str) -> str:
    """Return a venue's short name from its id; the library's own table takes six seconds to load."""
    return venue_id.upper() if len(venue_id) <= 6 else venue_id.capitalize()


def _volume(anthology: Any, identifier: str) -> AclVolume:
    try:
        volume = anthology.get_volume(identifier)
    except (AnthologyException, ValueError, LookupError, SyntaxError) as error:  # lxml's are SyntaxErrors
        raise SourceError(f"The volume {identifier!r} cannot be read: {error}.") from error
    if volume is None or volume.full_id != identifier:
        raise SourceError(
            f"The Anthology has no volume {identifier!r}. Volume ids look like 2022.acl-long or P19-1."
        )
    return AclVolume(volume)


def _local(datadir: Path) -> Any:
    if not (datadir / "xml").is_dir():
        raise SourceError(
            f"There is no Anthology data in {datadir}: the directory must hold the folder 'xml'. "
            "Give --anthology the 'data' directory of a copy of the acl-org/acl-anthology repository."
        )
    try:
        return Anthology(datadir=datadir, verbose=False)
    except OSError as error:
        raise SourceError(
            f"The Anthology data in {datadir} is not complete: {error.filename} cannot be read. "
            "Take the whole 'data' directory of the acl-org/acl-anthology repository."
        ) from error


def _downloaded(path: Path) -> Any:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return Anthology.from_repo(path=path, verbose=False)
    except GitCommandNotFound as error:
        raise SourceError(
            "The Anthology's data cannot be downloaded without the program git. "
            "Install it, or give --anthology a local copy of its 'data' directory."
        ) from error
    except (GitError, OSError) as error:
        raise SourceError(
            "The Anthology's data could not be downloaded: there is no connection to its repository. "
            "Connect, or give --anthology a local copy of its 'data' directory."
        ) from error
