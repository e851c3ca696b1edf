"""Papers of the ACL Anthology, read through its library; the only file that imports acl_anthology."""

import logging
import os
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

# GitPython, which the library imports, fails to load without a git program; local data needs none.
os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")

from acl_anthology import Anthology
from acl_anthology.collections import Paper as Entry
from acl_anthology.collections import Volume
from acl_anthology.config import config
from acl_anthology.exceptions import AnthologyException, TeXParserWarning
from acl_anthology.text.texmath import TexMath
from acl_anthology.utils.ids import build_id, parse_id
from acl_anthology.utils.latex import latex_encode
from git.exc import GitCommandNotFound, GitError
from lxml import etree

from corpus.language.names import language_code
from corpus.markup.raised import lower_text, raise_text
from corpus.records import Collection, Paper
from corpus.text import storable
from indexer.errors import SourceError
from indexer.sources.formats.names import named
from indexer.sources.pdf_folder import PdfFolder
from indexer.sources.protocol import SourcePaper
from indexer.web.downloads import DownloadError, Downloads

# The library's errors on unexpected data; XML that is not well-formed is a SyntaxError.
UNEXPECTED = (AnthologyException, ValueError, TypeError, LookupError, AttributeError)
# Raised by its TeX parser for invalid formulas.
_NO_TEX = (*UNEXPECTED, EOFError, AssertionError, RecursionError)
_SPACE = re.compile(r"\\[,:;> ]")
_PARAGRAPH, _FRACTION = "\f", "⁄"
# Elements of earlier data that the library no longer knows.
_OBSOLETE = frozenset(("pwccode", "pwcdataset"))


@dataclass(frozen=True, slots=True)
class _Listed:
    """An entry as its file lists it; without `entry`, `problem` says why it could not be read."""

    id: str
    venue: str
    entry: Any = None
    problem: str = ""


@dataclass(slots=True)
class _VolumeRead:
    """A volume and its entries; without `volume`, `problem` says why it could not be read."""

    id: str
    volume: Any = None
    entries: list[_Listed] = field(default_factory=list)
    ids: set[str] = field(default_factory=set)
    problem: str = ""


class AclPapers:
    """Papers of the Anthology as one collection: a volume, or the papers of a folder of PDFs.

    A paper's file is its PDF in `pdfs`, else the one that `downloads` fetches when the paper is read. The
    Anthology's metadata take precedence over the PDF's.
    """

    def __init__(
        self,
        collection: Collection,
        listed: Sequence[_Listed],
        pdfs: PdfFolder | None = None,
        downloads: Downloads | None = None,
    ) -> None:
        self.collection = collection
        self._listed = listed
        self._files = {entry.id: pdfs.join(entry.id) for entry in listed} if pdfs else {}
        self._downloads = downloads

    def __len__(self) -> int:
        return len(self._listed)

    def papers(self) -> Iterator[SourcePaper]:
        for position, listed in enumerate(self._listed):
            yield self._listed_paper(listed, position)

    def _listed_paper(self, listed: _Listed, position: int) -> SourcePaper:
        problem = listed.problem
        if not problem:
            try:
                return self._source_paper(listed, position)
            except UNEXPECTED as error:
                problem = _reason(error)
        return SourcePaper(listed.id, self._unread(listed, position), problem=problem)

    def _source_paper(self, listed: _Listed, position: int) -> SourcePaper:
        entry, notes = listed.entry, []
        paper = self._paper(listed, position)
        if entry.deletion is not None:
            reason = storable(entry.deletion.note or "").strip()
            marked = f"The Anthology marks this paper as {entry.deletion.type.value}"
            notes.append(f"{marked}: {reason}" if reason else f"{marked}.")
        file = self._files.get(listed.id)
        if file is None and self._downloads and entry.pdf is None:
            notes.append("The Anthology has no PDF of this paper.")
        elif file is None and self._downloads:
            try:
                name, checksum = f"{entry.full_id}.pdf", entry.pdf.checksum or ""
                file = self._downloads.fetch(entry.pdf.url, name, crc32=checksum)
            except DownloadError as error:
                notes.append(str(error))
        if not paper.bibtex:
            notes.append("The Anthology's BibTeX of this paper cannot be made.")
        return SourcePaper(listed.id, paper, file, notes=tuple(notes))

    def _paper(self, listed: _Listed, position: int) -> Paper:
        entry = listed.entry
        names = (author.name for author in entry.authors)
        authors = (named(storable(name.first or ""), storable(name.last)) for name in names)
        return replace(
            self._unread(listed, position),
            title=_plain(entry.title),
            authors=tuple(authors),
            year=int(entry.year),
            abstract=_plain(entry.abstract) if entry.abstract is not None else "",
            pages=entry.pages or "",
            url=entry.web_url,
            pdf_url=entry.pdf.url if entry.pdf else "",
            doi=entry.doi or "",
            language=language_code(entry.language or ""),
            bibtex=_bibtex(entry),
        )

    def _unread(self, listed: _Listed, position: int) -> Paper:
        """Return an entry as a paper with only its id, venue and position."""
        return Paper(
            id=listed.id,
            collection_id=self.collection.id,
            title="",
            authors=(),
            year=None,
            venue=listed.venue,
            abstract="",
            source="ACL Anthology",
            position=position,
        )


class WholeAnthology:
    """Every volume of the Anthology that has papers besides its front matter, one after the other.

    One file of the Anthology is in memory at a time: release a volume before taking the next. `problems`
    describe the files and volumes that the last iteration could not read.
    """

    def __init__(
        self, anthology: Any, pdfs: PdfFolder | None = None, downloads: Downloads | None = None
    ) -> None:
        self.problems: list[str] = []
        self._anthology = anthology
        self._pdfs = pdfs
        self._downloads = downloads

    def __iter__(self) -> Iterator[AclPapers]:
        self.problems = []
        for collection in self._anthology.collections.values():
            try:
                # The whole file first: in a truncated one the last volume would be incomplete.
                volumes = list(_volumes_in(collection))
            except (SyntaxError, OSError) as error:
                self.problems.append(f"The Anthology's file {collection.path.name} cannot be read: {error}.")
                continue
            self.problems.extend(_cannot_be_read(part) for part in volumes if part.problem)
            while volumes:
                part = volumes.pop(0)
                if part.entries and part.volume is not None:
                    yield _as_papers(part, self._pdfs, self._downloads)
            latex_encode.cache_clear()  # the library caches every title and name it encodes


def open_volumes(
    ids: Sequence[str],
    datadir: Path | None,
    download_to: Path,
    *,
    pdfs: PdfFolder | None = None,
    downloads: Downloads | None = None,
) -> list[AclPapers]:
    """Return the volumes of `ids`, from a local data directory or the library's own download.

    Raises SourceError for a missing directory, a failed download or an unknown volume.
    """
    anthology = _open(datadir, download_to)
    homes = {identifier: _home(anthology, identifier) for identifier in ids}
    volumes: dict[str, _VolumeRead] = {}
    for collection in {home.id: home for home in homes.values()}.values():
        identifier = next(identifier for identifier, home in homes.items() if home is collection)
        volumes |= {part.id: part for part in _read(collection, identifier)}
    for identifier in homes:
        if identifier not in volumes:
            raise _unknown(identifier)
        if volumes[identifier].problem:
            raise SourceError(_cannot_be_read(volumes[identifier]))
    return [_as_papers(volumes[identifier], pdfs, downloads) for identifier in homes]


def all_volumes(
    datadir: Path | None,
    download_to: Path,
    *,
    pdfs: PdfFolder | None = None,
    downloads: Downloads | None = None,
) -> WholeAnthology:
    """Return the volumes of the whole Anthology; raises SourceError like `open_volumes`."""
    return WholeAnthology(_open(datadir, download_to), pdfs, downloads)


def papers_of(pdfs: PdfFolder, collection: Collection, datadir: Path | None, download_to: Path) -> AclPapers:
    """Return the papers whose PDFs are in a folder, of any volume, as one collection.

    PDFs that already belong to an opened volume are left out. Raises SourceError like `open_volumes`.
    """
    anthology = _open(datadir, download_to)
    identifiers = dict.fromkeys(pdfs.paper_ids)
    entries: dict[str, _Listed] = {}
    for name in dict.fromkeys(parse_id(identifier)[0] for identifier in identifiers):
        if (home := anthology.collections.get(name)) is not None:
            parts = _read(home, name)
            entries |= {
                entry.id: entry for part in parts for entry in part.entries if entry.id in identifiers
            }
    return AclPapers(
        collection, [entries[identifier] for identifier in identifiers if identifier in entries], pdfs
    )


def _as_papers(part: _VolumeRead, pdfs: PdfFolder | None, downloads: Downloads | None) -> AclPapers:
    volume = part.volume
    full = ", and the full text of papers whose PDF is at hand" if pdfs or downloads else ""
    collection = Collection(
        id=part.id,
        title=_plain(volume.title),
        description=f"From the ACL Anthology: titles and abstracts{full}.",
        source="ACL Anthology",
        year=int(volume.year),
        licence="ACL Anthology material, CC BY 4.0 (from 2016 on)",
    )
    return AclPapers(collection, part.entries, pdfs, downloads)


def _read(collection: Any, identifier: str) -> list[_VolumeRead]:
    try:
        return list(_volumes_in(collection))
    except (SyntaxError, OSError) as error:
        raise SourceError(f"The volume {identifier!r} cannot be read: {error}.") from error


def _volumes_in(collection: Any) -> Iterator[_VolumeRead]:
    """Yield the volumes of one Anthology file; an unreadable entry or volume does not affect the others.

    The library's own `Collection.load` fails on one bad entry, and keeps everything in memory.
    """
    part = _VolumeRead("")
    for _, element in etree.iterparse(str(collection.path), tag=("meta", "paper", "volume", "event")):
        parent = element.getparent()
        if element.tag == "meta" and parent is not None and parent.tag == "volume":
            part = _begin(collection, parent.get("id") or "", element)
        elif element.tag == "paper" and part.volume is not None:
            _add_entry(part, element)
        elif element.tag == "volume":
            yield part
        element.clear()


def _begin(collection: Any, number: str, meta: Any) -> _VolumeRead:
    part = _VolumeRead(f"{collection.id}-{number}")
    _upgrade_volume(meta)
    try:
        part.id = build_id(collection.id, number)
        part.volume = Volume.from_xml(collection, meta)
        _plain(part.volume.title)
    except UNEXPECTED as error:
        part.volume, part.problem = None, _reason(error)
    return part


def _add_entry(part: _VolumeRead, element: Any) -> None:
    venue = part.entries[0].venue if part.entries else _venue(part.volume)
    number = str(element.get("id"))
    listed = _Listed(f"{part.id}.{number}", venue)
    try:
        listed = _Listed(build_id(part.volume.parent.id, part.volume.id, number), venue)
        _upgrade(element)
        entry = Entry.from_xml(part.volume, element)
        if entry.is_frontmatter:
            return
        twice = listed.id in part.ids
        part.ids.add(listed.id)
        problem = "The Anthology lists another paper under the same id." if twice else ""
        part.entries.append(_Listed(listed.id, venue, None if twice else entry, problem))
    except UNEXPECTED as error:
        part.entries.append(_Listed(listed.id, venue, problem=_reason(error)))


def _upgrade_volume(meta: Any) -> None:
    """Convert a volume's metadata from the older format to the one that the library reads."""
    volume = meta.getparent()
    if not volume.get("type"):
        is_journal = any(str(child.tag).startswith("journal-") for child in meta)
        volume.set("type", "journal" if is_journal else "proceedings")
    _upgrade(meta)


def _upgrade(element: Any) -> None:
    """Convert an entry from the older format to the one that the library reads.

    There, the PDF was a <url> without a host, code and data sets had their own elements, and awards no names.
    """
    has_pdf = element.find("pdf") is not None
    for child in list(element):
        if child.tag in _OBSOLETE or (child.tag == "url" and has_pdf and _is_local(child)):
            element.remove(child)
        elif child.tag == "url" and _is_local(child):
            child.tag, child.text, has_pdf = "pdf", None, True
        elif child.tag == "award" and not child.get("name"):
            child.set("name", child.text or "")
            child.text = None


def _is_local(url: Any) -> bool:
    return "://" not in (url.text or "")


def _reason(error: BaseException) -> str:
    """Return the library's error message without the classes that its validators add."""
    words = str(error.args[0] if error.args else type(error).__name__)
    rejected = getattr(error, "tag", None) or getattr(error, "value", None)
    words += f": {rejected}" if rejected else ""
    return f"The Anthology's entry cannot be read: {' '.join(storable(words).split())[:300]}"


def _cannot_be_read(part: _VolumeRead) -> str:
    return f"The volume {part.id!r} cannot be read. {part.problem}."


def _plain(markup: Any) -> str:
    """Return marked-up text as plain text; TeX that the library cannot convert stays as it is."""
    if not markup.contains_markup:
        return storable(markup.as_text()).strip()
    paragraphs = _flat(markup.to_xml()).split(_PARAGRAPH)
    return storable("\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)).strip()


def _flat(element: Any) -> str:
    """Return the text of an element, with superscripts and subscripts as Unicode or in brackets."""
    parts = [element.text or ""]
    for child in element:
        if child.tag == "tex-math":
            part = _formula(child)
        elif child.tag == "par":
            part = _PARAGRAPH
        else:
            part = _flat(child) if isinstance(child.tag, str) else ""
        if child.tag in ("sup", "sub"):
            # A fraction is a raised and a lowered number with a slash between them.
            is_fraction = (child.tail or "").startswith(_FRACTION) or parts[-1].endswith(_FRACTION)
            if is_fraction:
                part = part if len(part) == 1 or part.isdigit() else f"({part})"
            else:
                part = raise_text(part) if child.tag == "sup" else lower_text(part)
        parts += part, child.tail or ""
    return "".join(parts)


def _formula(element: Any) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TeXParserWarning)
        try:
            return _SPACE.sub(" ", _flat(TexMath.to_html(element)).replace(r"\!", ""))
        except _NO_TEX:
            return str(element.text or "")


def _bibtex(entry: Any) -> str:
    """Return the Anthology's BibTeX, "" where the library fails, as for unbalanced braces in a title."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TeXParserWarning)
        try:
            return storable(entry.to_bibtex())
        except (*_NO_TEX, OSError):
            return ""


def _venue(volume: Any) -> str:
    """Return a volume's venues and year, without "ws" (any workshop) where there is another."""
    try:
        acronyms = {venue.id: venue.acronym for venue in volume.venues()}
    except (*UNEXPECTED, OSError):  # the data lack the table of venues
        acronyms = {
            venue: venue.upper() if len(venue) <= 6 else venue.capitalize() for venue in volume.venue_ids
        }
    venues = [acronym for venue, acronym in acronyms.items() if venue != "ws" or len(acronyms) == 1]
    return " ".join([*venues, str(volume.year)])


def _home(anthology: Any, identifier: str) -> Any:
    """Return the library's collection (one file) that would contain a volume."""
    try:
        name, volume, paper = parse_id(identifier)
        home = anthology.collections.get(name)
        if home is None or volume is None or paper is not None or build_id(name, volume) != identifier:
            raise _unknown(identifier)
    except UNEXPECTED as error:
        raise _unknown(identifier) from error
    return home


def _unknown(identifier: str) -> SourceError:
    return SourceError(
        f"The Anthology has no volume {identifier!r}. Volume ids look like 2022.acl-long or P19-1."
    )


def _open(datadir: Path | None, download_to: Path) -> Any:
    logging.getLogger("acl_anthology").setLevel(logging.WARNING)
    for name in list(config):
        # Resolve the URL templates once: the library would parse them for every URL.
        config[name] = config[name]
    anthology = _local(datadir) if datadir else _downloaded(download_to)
    # Only names of venues are needed; their volumes would load the whole Anthology.
    anthology.venues.no_item_ids = True
    return anthology


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
