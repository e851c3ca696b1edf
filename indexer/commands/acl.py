"""The sources of the acl command: volumes, all volumes, a folder of PDFs, or several of these."""

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

_NAMES_TOLD = 10


@dataclass(frozen=True, slots=True)
class OpenedAcl:
    """The sources of a run, and what there is to say of them when they have been read."""

    sources: Iterable[Source]
    remarks: Callable[[], Sequence[str]]


@contextmanager
def open_acl(
    settings: Settings,
    own: Collection,
    *,
    volumes: Sequence[str],
    everything: bool,
    data: Path | None,
    pdf_folder: Path | None,
    download: bool,
) -> Iterator[OpenedAcl]:
    """Open what of the Anthology is wanted; `own` is the collection of PDFs that are of none of the volumes.

    Raises SourceError when what is wanted is nothing, too much, or cannot be read.
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
            others = papers_of(pdfs, own, data, download_to)
            sources += [others] if len(others) else []
        if not sources:
            raise SourceError(
                f"No PDF in {pdf_folder} is named by the Anthology id of a paper. "
                "Names look like P19-1001.pdf or 2022.acl-long.1.pdf."
            )
        yield OpenedAcl(sources, lambda: _unmatched(pdfs))


def _unmatched(pdfs: PdfFolder | None) -> list[str]:
    """Return remarks on PDFs that lie elsewhere and on those of no paper, the first few by name."""
    if pdfs is None:
        return []
    names, remarks = pdfs.unmatched, [*pdfs.remarks]
    if not names:
        return remarks
    more = f" and {len(names) - _NAMES_TOLD:,} more" if len(names) > _NAMES_TOLD else ""
    named = ", ".join(names[:_NAMES_TOLD])
    return [*remarks, f"Left out, because the Anthology has no paper of that name: {named}{more}."]
