"""The command that reads one document and prints what was found in it; nothing is indexed.

It is also how the explorer reads what a visitor brings: started as a program of its own, which loads no more
than reading takes, has bounded time and memory, and whose death costs that document.
"""

import signal
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from indexer.commands.printing import JsonOption, fail, out, print_json
from indexer.document import ParseError

if TYPE_CHECKING:
    from indexer.one_document import ReadDocument

# Loading the parsers takes a second, which `--help` and the other commands need not wait for.
# ruff: noqa: PLC0415

MEBIBYTE = 2**20
COLLECTION = "your-documents"
_SHARE_TO_FETCH = 0.6


def read(
    document: Annotated[str, typer.Argument(help="A file (PDF, docx, Markdown, text) or a web address.")],
    name: Annotated[str, typer.Option(help="What the document is called; its file name if not given.")] = "",
    keep: Annotated[
        Path | None, typer.Option(help="A folder that keeps what is fetched from a web address.")
    ] = None,
    most_pages: Annotated[int, typer.Option("--max-pages", min=1, help="Pages of a PDF at most.")] = 200,
    most_bytes: Annotated[int, typer.Option("--max-bytes", min=1, help="Bytes at most.")] = 20 * MEBIBYTE,
    seconds: Annotated[int, typer.Option(min=1, help="Seconds it may take, all in all.")] = 60,
    memory: Annotated[int, typer.Option(min=64, help="Memory in MiB that it may take.")] = 2048,
    web: Annotated[
        bool, typer.Option("--web", help="Take it for a web address, whatever files there are.")
    ] = False,
    allow_private: Annotated[
        bool, typer.Option("--allow-private-hosts", help="Fetch from hosts of one's own network too.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Read one file or web page and print its title, sections and passages; the corpus stays as it is."""
    _bound(seconds, memory)
    try:
        found = _read(document, name, keep, Limits(most_pages, most_bytes, seconds, web, allow_private))
    except ParseError as error:
        fail(error, as_json)
    except MemoryError:
        fail(ParseError(f"reading it would take more than {memory:,} MiB of memory"), as_json)
    if as_json:
        print_json({"document": asdict(found)})
    else:
        _print(found)


@dataclass(frozen=True, slots=True)
class Limits:
    """What was asked for on the command line."""

    most_pages: int
    most_bytes: int
    seconds: int
    is_web: bool
    allow_private: bool


def _read(document: str, name: str, keep: Path | None, limits: Limits) -> "ReadDocument":
    from indexer.one_document import ReadLimits, read_file

    with tempfile.TemporaryDirectory() as temporary:
        path, url = Path(document), ""
        if limits.is_web or document.startswith(("http://", "https://")):
            path, url = _fetched(document, keep or Path(temporary), limits)
        own = ReadLimits(most_bytes=limits.most_bytes, most_pages=limits.most_pages)
        return read_file(path, name or url or path.name, COLLECTION, own, url=url)


def _print(found: "ReadDocument") -> None:
    out.print(escape(found.paper.title), style="bold", highlight=False)
    for remark in found.remarks:
        out.print(escape(remark), highlight=False)
    for passage in found.passages:
        out.print(f"\n[bold]{escape(passage.section_path or passage.kind)}[/bold]", highlight=False)
        out.print(escape(passage.text), highlight=False)


def _fetched(address: str, folder: Path, limits: Limits) -> tuple[Path, str]:
    from indexer.web_page import FetchLimits, fetch_page

    # What is fetched has to be read as well.
    seconds = _SHARE_TO_FETCH * limits.seconds
    page = fetch_page(address, folder, FetchLimits(limits.most_bytes, seconds, limits.allow_private))
    return page.path, page.url


def _bound(seconds: int, memory: int) -> None:
    """Have this process end when its time is over, native code or not, and take no more than its memory."""
    if hasattr(signal, "alarm"):
        signal.alarm(seconds)
    try:
        import resource
    except ImportError:  # not everywhere
        return
    for kind, limit in ((resource.RLIMIT_AS, memory * MEBIBYTE), (resource.RLIMIT_CORE, 0)):
        hard = resource.getrlimit(kind)[1]
        resource.setrlimit(kind, (limit if hard < 0 else min(limit, hard), hard))


if __name__ == "__main__":
    typer.run(read)
