"""The command that reads a document or a file of references and prints the result; nothing is indexed.

The explorer starts it as a separate program for visitors' documents: bounded in time and memory, so that a
crash costs one document.
"""

import os
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn, cast, get_args

import typer

from corpus.records import FEWEST_WORDS, MOST_WORDS, PassageSize
from corpus.sandbox.confinement import ConfinementError, confine, forbid_network, has_other_threads
from corpus.sandbox.limits import bound
from corpus.settings import OcrChoice, read_settings
from indexer.errors import ParseError, SourceError
from indexer.parsers.ocr.engines import OcrOptions, engine_name, program_folders
from indexer.parsers.sandbox import needed_environment
from indexer.printing import JsonOption, fail, out, print_json

if TYPE_CHECKING:
    from indexer.uploads.document import ReadDocument

# Loading the parsers takes a second, which `--help` and other commands should not wait for.
# ruff: noqa: PLC0415

_SHARE_TO_FETCH = 0.6
_SETTINGS = ("PAPER_TRAIL_SANDBOX", "PAPER_TRAIL_PRIVATE_HOSTS")
_REFERENCES = (".bib", ".ris", ".json")


def read(
    document: Annotated[
        str,
        typer.Argument(
            help="A file (PDF, docx, Markdown, text; references in BibTeX, RIS, CSL-JSON) or a web address."
        ),
    ],
    name: Annotated[str, typer.Option(help="What the document is called; its file name if not given.")] = "",
    keep: Annotated[
        Path | None, typer.Option(help="A folder that keeps what is fetched from a web address.")
    ] = None,
    most_pages: Annotated[int, typer.Option("--max-pages", min=1, help="Pages of a PDF at most.")] = 200,
    most_bytes: Annotated[int, typer.Option("--max-bytes", min=1, help="Bytes at most.")] = 20 * 2**20,
    seconds: Annotated[int, typer.Option(min=1, help="Seconds it may take, all in all.")] = 60,
    memory: Annotated[int, typer.Option(min=64, help="Memory in MiB that it may take.")] = 2048,
    web: Annotated[
        bool, typer.Option("--web", help="Take it for a web address, whatever files there are.")
    ] = False,
    allow_private: Annotated[
        bool,
        typer.Option(
            "--allow-private-hosts",
            help="Fetch from hosts of one's own network too, as with PAPER_TRAIL_PRIVATE_HOSTS=true.",
        ),
    ] = False,
    ocr: Annotated[str, typer.Option(help="Who reads scans: auto, rapidocr, tesseract or off.")] = "auto",
    ocr_pages: Annotated[int, typer.Option(min=1, help="Scanned pages that are read at most.")] = 20,
    passage_words: Annotated[
        int, typer.Option(min=FEWEST_WORDS, max=MOST_WORDS, help="Words of a passage, about.")
    ] = PassageSize().words,
    passage_overlap: Annotated[
        int, typer.Option(min=0, help="Words of it that repeat the passage before, half of them at most.")
    ] = 0,
    as_json: JsonOption = False,
) -> None:
    """Read one file or web page and print its title, sections and passages; the corpus stays as it is.

    Of a file of references the entries are printed, and those that cannot be read.
    """
    if has_other_threads():
        _start_alone()
    bound(seconds, memory)
    try:
        from corpus.records import UPLOADS
        from indexer.uploads.paper import ReadLimits, read_file

        settings = read_settings()
        options = OcrOptions(_engine(ocr), ocr_pages)
        is_web = web or document.startswith(("http://", "https://"))
        path, url = Path(document), ""
        lists_references = not is_web and path.suffix.lower() in _REFERENCES
        scratch = Path(tempfile.gettempdir())
        confine(
            # References name files of the same folder.
            [] if is_web else [path.absolute().parent if lists_references else path.absolute()],
            [scratch, keep.absolute()] if is_web and keep else [scratch],
            programs=program_folders(options),
            network=is_web,
            required=settings.sandbox == "required",
        )
        if lists_references:
            _print_references(path, as_json)
            return
        with tempfile.TemporaryDirectory() as temporary:
            if is_web:
                from indexer.web.pages import FetchLimits, fetch_page

                # The rest of the time is for reading the page.
                allow_private = allow_private or settings.private_hosts
                fetching = FetchLimits(most_bytes, _SHARE_TO_FETCH * seconds, allow_private)
                page = fetch_page(document, keep or Path(temporary), fetching)
                path, url = page.path, page.url
                forbid_network()
            try:
                size = PassageSize(passage_words, passage_overlap)
            except ValueError as error:
                raise ParseError(str(error)) from error
            limits = ReadLimits(most_bytes, most_pages, ocr=options, size=size)
            content = read_file(path, name or url or path.name, UPLOADS, limits, url=url)
    except (ParseError, SourceError, ConfinementError) as error:
        fail(error, as_json)
    except MemoryError:
        fail(ParseError(f"reading it would take more than {memory:,} MiB of memory"), as_json)
    if as_json:
        print_json({"document": asdict(content)})
    else:
        _print(content)


def _start_alone() -> NoReturn:
    """Replace this process by one with a single thread: other threads could not be confined."""
    settings = {name: os.environ[name] for name in _SETTINGS if name in os.environ}
    environment = needed_environment(PYTHONPATH=os.pathsep.join(sys.path), **settings)
    arguments = sys.argv[sys.argv.index("read") + 1 :]
    program = [sys.executable, "-m", "indexer.uploads.reading", *arguments]
    os.execve(sys.executable, program, environment)  # noqa: S606 - a program of ours


def _engine(choice: str) -> str:
    if choice not in get_args(OcrChoice):
        raise ParseError(f"{choice!r} reads no scans: one of {', '.join(get_args(OcrChoice))} does")
    return engine_name(cast(OcrChoice, choice))


def _print(document: "ReadDocument") -> None:
    out.print(document.paper.title, style="bold", highlight=False, markup=False)
    for remark in document.remarks:
        out.print(remark, highlight=False, markup=False)
    for passage in document.passages:
        # No markup: rich would take the marks of a formula, "\[x\]", for an escape.
        out.print(f"\n{passage.section_path or passage.kind}", style="bold", highlight=False, markup=False)
        out.print(passage.text, highlight=False, markup=False)


def _print_references(path: Path, as_json: bool) -> None:
    """Print the papers that a file of references lists; raises SourceError."""
    from corpus.records import Collection
    from indexer.prepare.preparer import describe_paper
    from indexer.sources.library import LibraryPapers
    from indexer.sources.references import read_references, unreadable_entries

    problems = unreadable_entries(path)
    try:
        source = LibraryPapers(Collection(path.stem, path.name, source=path.name), read_references(path))
    except SourceError as error:
        fail(error, as_json, {"papers": [], "problems": problems})
    problems = (*problems, *source.nameless_entries())
    folder, listed = path.absolute().parent.resolve(), []
    for entry in source.papers():
        paper, cut = describe_paper(entry.paper)
        listed.append(
            (paper, str(entry.file.relative_to(folder)) if entry.file else "", [*entry.notes, *cut])
        )
    if as_json:
        papers = [asdict(paper) | {"file": file, "remarks": remarks} for paper, file, remarks in listed]
        print_json({"papers": papers, "problems": problems})
        return
    for paper, file, remarks in listed:
        names = ", ".join(author.name for author in paper.authors)
        described = (names, str(paper.year or ""), paper.venue, paper.doi or paper.arxiv_id, file)
        out.print(paper.title, style="bold", highlight=False, markup=False)
        for line in (" · ".join(filter(None, described)), *remarks):
            out.print(line, highlight=False, markup=False)
    for problem in problems:
        out.print(problem, style="yellow", highlight=False, markup=False)


if __name__ == "__main__":
    typer.run(read)
