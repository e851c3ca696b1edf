"""What the acl command reads: volumes, all volumes, the papers of a folder of PDFs, or several of these."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from corpus.records import Collection
from corpus.settings import Settings
from indexer.downloads import Downloads
from indexer.sources.acl_anthology import all_volumes, open_volumes, papers_of
from indexer.sources.pdf_folder import PdfFolder
from indexer.sources.protocol import Source, SourceError

_NAMES_TOLD = 10


@dataclass(frozen=True, slots=True)
class AclChoice:
    """What of the Anthology is wanted; `own` is the collection of PDFs that are of none of the volumes."""

    volumes: tuple[str, ...]
    everything: bool
    anthology: Path | None
    pdfs: Path | None
    download: bool
    own: Collection


@dataclass(frozen=True, slots=True)
class OpenedAcl:
    """The sources of a run, and what there is to say of them when they have been read."""

    sources: Iterable[Source]
    remarks: Callable[[], Sequence[str]]


@contextmanager
def open_acl(choice: AclChoice, settings: Settings) -> Iterator[OpenedAcl]:
    """Open what is wanted; raises SourceError when that is nothing, too much, or cannot be read."""
    if choice.everything and choice.volumes:
        raise SourceError("Name volumes or give --all, not both.")
    if not (choice.everything or choice.volumes or choice.pdfs):
        raise SourceError("Name at least one volume, such as 2022.acl-long, or give --all or --pdfs.")
    pdfs = PdfFolder(choice.pdfs) if choice.pdfs else None
    download_to = settings.home / "anthology"
    with Downloads(settings.downloads_path / "acl") if choice.download else nullcontext() as downloads:
        yield _opened(choice, download_to, pdfs, downloads)


def _opened(
    choice: AclChoice, download_to: Path, pdfs: PdfFolder | None, downloads: Downloads | None
) -> OpenedAcl:
    data = choice.anthology
    if choice.everything:
        whole = all_volumes(data, download_to, pdfs=pdfs, downloads=downloads)
        return OpenedAcl(whole, lambda: [*whole.problems, *_unmatched(pdfs)])
    sources: list[Source] = []
    if choice.volumes:
        sources += open_volumes(choice.volumes, data, download_to, pdfs=pdfs, downloads=downloads)
    if pdfs:
        others = papers_of(pdfs, choice.own, data, download_to)
        sources += [others] if len(others) else []
    if not sources:
        raise SourceError(
            f"No PDF in {choice.pdfs} is named by the Anthology id of a paper. "
            "Names look like P19-1001.pdf or 2022.acl-long.1.pdf."
        )
    return OpenedAcl(sources, lambda: _unmatched(pdfs))


def _unmatched(pdfs: PdfFolder | None) -> list[str]:
    """Return what to say of PDFs that belong to no paper, the first few by name."""
    names = pdfs.unmatched if pdfs else []
    if not names:
        return []
    more = f" and {len(names) - _NAMES_TOLD:,} more" if len(names) > _NAMES_TOLD else ""
    named = ", ".join(names[:_NAMES_TOLD])
    return [f"Left out, because the Anthology has no paper of that name: {named}{more}."]
