"""Papers of the ACL Anthology, read through its own library; the only file that imports acl_anthology."""

import logging
import os
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

# GitPython, which the library imports, refuses to load where there is no git program; local data needs none.
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
# Raised by its parser of TeX for what is no formula.
_NO_TEX = (*UNEXPECTED, EOFError, AssertionError, RecursionError)
_SPACE = re.compile(r"\\[,:;> ]")
_PARAGRAPH, _FRACTION = "\f", "⁄"
# Elements of earlier versions of the data, for which there is no place any more.
_GONE = frozenset(("pwccode", "pwcdataset"))


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

    A paper's file is its PDF of `pdfs`, else its PDF of `downloads`, which is fetched when the paper's turn
    comes; what the Anthology says of a paper wins over what its PDF says.
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
        paper, notes = self._paper(listed, position), _deletion(listed.entry)
        file = self._files.get(listed.id)
        if file is None and self._downloads:
            file, note = self._downloaded(listed.entry, self._downloads)
            notes += (note,) if note else ()
        if not paper.bibtex:
            notes += ("The Anthology's BibTeX of this paper cannot be made.",)
        return SourcePaper(listed.id, paper, file, notes=notes)

    def _downloaded(self, entry: Any, downloads: Downloads) -> tuple[Path | None, str]:
        if entry.pdf is None:
            return None, "The Anthology has no PDF of this paper."
        try:
            return downloads.fetch(entry.pdf.url, f"{entry.full_id}.pdf", crc32=entry.pdf.checksum or ""), ""
        except DownloadError as error:
            return None, str(error)

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
        """Return an unread entry as a paper with its id and position only."""
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

    One file of the Anthology is held at a time: let go of a volume before asking for the next. `problems`
    are sentences about files and volumes that could not be read, as of the last iteration.
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
                # Read to its end first: of a file that breaks off, the last volume is only a part.
                read = list(_volumes_in(collection))
            except (SyntaxError, OSError) as error:
                self.problems.append(f"The Anthology's file {collection.path.name} cannot be read: {error}.")
                continue
            self.problems.extend(_cannot_be_read(part) for part in read if part.problem)
            while read:
                part = read.pop(0)
                if part.entries and part.volume is not None:
                    yield _as_papers(part, self._pdfs, self._downloads)
            latex_encode.cache_clear()  # the library keeps every title and name it has ever encoded


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
    found: dict[str, _VolumeRead] = {}
    for collection in {home.id: home for home in homes.values()}.values():
        wanted = [identifier for identifier, home in homes.items() if home is collection]
        found |= {part.id: part for part in _read(collection, wanted[0])}
    for identifier in homes:
        if identifier not in found:
            raise _unknown(identifier)
        if found[identifier].problem:
            raise SourceError(_cannot_be_read(found[identifier]))
    return [_as_papers(found[identifier], pdfs, downloads) for identifier in homes]


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
    """Return the papers that a folder holds the PDFs of, whatever volumes they are from, as one collection.

    PDFs that a volume has taken already are left to it. Raises SourceError like `open_volumes`.
    """
    anthology = _open(datadir, download_to)
    wanted = dict.fromkeys(pdfs.paper_ids)
    found: dict[str, _Listed] = {}
    for name in dict.fromkeys(parse_id(identifier)[0] for identifier in wanted):
        if (home := anthology.collections.get(name)) is not None:
            parts = _read(home, name)
            found |= {entry.id: entry for part in parts for entry in part.entries if entry.id in wanted}
    return AclPapers(collection, [found[identifier] for identifier in wanted if identifier in found], pdfs)


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
    """Read a file of the Anthology; an entry or a volume that cannot be read costs nothing else.

    The library's own `Collection.load` gives up a whole file for one bad entry, and keeps what it read.
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
    """Bring what is said of a volume from the form of earlier years into the one that the library reads."""
    volume = meta.getparent()
    if not volume.get("type"):
        is_journal = any(str(child.tag).startswith("journal-") for child in meta)
        volume.set("type", "journal" if is_journal else "proceedings")
    _upgrade(meta)


def _upgrade(element: Any) -> None:
    """Bring an entry from the form of earlier years into the one that the library reads.

    Its PDF was a <url> without an address, code and data sets had elements of their own, and awards no names.
    """
    has_pdf = element.find("pdf") is not None
    for child in list(element):
        if child.tag in _GONE or (child.tag == "url" and has_pdf and _is_local(child)):
            element.remove(child)
        elif child.tag == "url" and _is_local(child):
            child.tag, child.text, has_pdf = "pdf", None, True
        elif child.tag == "award" and not child.get("name"):
            child.set("name", child.text or "")
            child.text = None


def _is_local(url: Any) -> bool:
    return "://" not in (url.text or "")


def _reason(error: BaseException) -> str:
    """Return the library's error message; the arguments of its validators' errors are whole classes."""
    words = str(error.args[0] if error.args else type(error).__name__)
    named = getattr(error, "tag", None) or getattr(error, "value", None)  # what the library objects to
    words += f": {named}" if named else ""
    return f"The Anthology's entry cannot be read: {' '.join(storable(words).split())[:300]}"


def _cannot_be_read(part: _VolumeRead) -> str:
    return f"The volume {part.id!r} cannot be read. {part.problem}."


def _plain(markup: Any) -> str:
    """Return marked-up text as plain text; TeX that the library does not know stays as it was written."""
    if not markup.contains_markup:
        return storable(markup.as_text()).strip()
    paragraphs = _flat(markup.to_xml()).split(_PARAGRAPH)
    return storable("\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)).strip()


def _flat(element: Any) -> str:
    """Return the text of an element, in which raised and lowered figures keep their value."""
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
    """Return the Anthology's own BibTeX, "" where it cannot be made, as of unbalanced braces in a title."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TeXParserWarning)
        try:
            return storable(entry.to_bibtex())
        except (*_NO_TEX, OSError):
            return ""


def _deletion(entry: Any) -> tuple[str, ...]:
    if entry.deletion is None:
        return ()
    note = storable(entry.deletion.note or "").strip()
    return (f"The Anthology marks this paper as {entry.deletion.type.value}{f': {note}' if note else '.'}",)


def _venue(volume: Any) -> str:
    """Return a volume's venues and year; "ws" only says that it is a workshop, which mostly has a name."""
    try:
        acronyms = {venue.id: venue.acronym for venue in volume.venues()}
    except (*UNEXPECTED, OSError):  # the table of venues is not part of the data at hand
        acronyms = {
            venue: venue.upper() if len(venue) <= 6 else venue.capitalize() for venue in volume.venue_ids
        }
    named = [acronym for venue, acronym in acronyms.items() if venue != "ws" or len(acronyms) == 1]
    return " ".join([*named, str(volume.year)])


def _home(anthology: Any, identifier: str) -> Any:
    """Return the file, as the library's collection, in which a volume would be."""
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
        # The library parses its templates of addresses anew for every address, which takes a millisecond.
        config[name] = config[name]
    anthology = _local(datadir) if datadir else _downloaded(download_to)
    # Names of venues are asked for, their volumes are not: these would load the whole Anthology.
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
