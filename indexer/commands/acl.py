"""The sources of the `acl` command: volumes, all volumes, or a folder of PDFs."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from corpus.records import Collection
from corpus.settings import Settings
from indexer.errors import SourceError
from indexer.sources.acl_anthology import all_volumes, open_volumes, papers_of
from indexer.sources.pdf_folder import PdfFolder
from indexer.sources.protocol import Source
from indexer.web.downloads import Downloads

_NAMES_LISTED = 10


@dataclass(frozen=True, slots=True)
class OpenedAcl:
    """The sources of a run; `remarks` describes their problems after they have been read."""

    sources: Iterable[Source]
    remarks: Callable[[], Sequence[str]]


@contextmanager
def open_acl(
    settings: Settings,
    pdf_collection: Collection,
    *,
    volumes: Sequence[str],
    everything: bool,
    data: Path | None,
    pdf_folder: Path | None,
    download: bool,
) -> Iterator[OpenedAcl]:
    """Open the requested parts of the Anthology.

    `pdf_collection` is the collection of PDFs of papers in none of the volumes. Raises SourceError for
    contradictory or empty requests, and for data that cannot be read.
    """
    if everything and volumes:
        raise SourceError("Name volumes or give --all, not both.")
    if not (everything or volumes or pdf_folder):
        raise SourceError("Name at least one volume, such as 2022.acl-long, or give --all or --pdfs.")
    pdfs = PdfFolder(pdf_folder) if pdf_folder else None
    download_to = settings.home / "anthology"
    with Downloads(settings.downloads_path / "acl") if download else nullcontext() as downloads:
        if everything:
            whole = all_volumes(data, download_to, pdfs=pdfs, downloads=downloads)
            yield OpenedAcl(whole, lambda: [*whole.problems, *_unmatched(pdfs)])
            return
        sources: list[Source] = []
        if volumes:
            sources += open_volumes(volumes, data, download_to, pdfs=pdfs, downloads=downloads)
        if pdfs:
            unplaced = papers_of(pdfs, pdf_collection, data, download_to)
            sources += [unplaced] if len(unplaced) else []
        if not sources:
            raise SourceError(
                f"No PDF in {pdf_folder} is named by the Anthology id of a paper. "
                "Names look like P19-1001.pdf or 2022.acl-long.1.pdf."
            )
        yield OpenedAcl(sources, lambda: _unmatched(pdfs))


def _unmatched(pdfs: PdfFolder | None) -> list[str]:
    """Return remarks on links out of the folder, and on PDFs that match no paper."""
    if pdfs is None:
        return []
    names, remarks = pdfs.unmatched, [*pdfs.remarks]
    if not names:
        return remarks
    more = f" and {len(names) - _NAMES_LISTED:,} more" if len(names) > _NAMES_LISTED else ""
    listed = ", ".join(names[:_NAMES_LISTED])
    return [*remarks, f"Left out, because the Anthology has no paper of that name: {listed}{more}."]
