"""Volumes of the ACL Anthology, read through its own library; the only file that imports acl_anthology."""

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from acl_anthology import Anthology
from acl_anthology.exceptions import AnthologyException

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
            title=volume.title.as_text(),
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
            title=storable(entry.title.as_text()).strip(),
            authors=tuple(Author(name.first or "", name.last) for name in names),
            year=int(entry.year),
            venue=self._venue,
            abstract=storable(entry.abstract.as_text()).strip() if entry.abstract else "",
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


def _acronym(venue_id: str) -> str:
    """Return a venue's short name from its id; the library's own table takes six seconds to load."""
    return venue_id.upper() if len(venue_id) <= 6 else venue_id.capitalize()


def _volume(anthology: Any, identifier: str) -> AclVolume:
    try:
        volume = anthology.get_volume(identifier)
    except (AnthologyException, ValueError, KeyError) as error:
        raise SourceError(f"The volume {identifier!r} cannot be read: {error}.") from error
    if volume is None:
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
    return Anthology(datadir=datadir, verbose=False)


def _downloaded(path: Path) -> Any:
    from git.exc import GitError  # noqa: PLC0415 - needs a git program, which local data does not

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return Anthology.from_repo(path=path, verbose=False)
    except (GitError, OSError) as error:
        raise SourceError(
            "The Anthology's data could not be downloaded: there is no connection to its repository. "
            "Connect, or give --anthology a local copy of its 'data' directory."
        ) from error
