"""Files of every kind that is read, with bytes changed, cut out, doubled and put in at random.

Each is read or refused in words. What is read is no longer than a file of its size can say, and has no figure
that the file lacks.
"""

import random
import re
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import docx

from assistant.records import AssistantError, Conversation, Turn
from assistant.trail import transcript
from indexer.errors import ParseError, SourceError
from indexer.parsers.registry import read_document
from indexer.parsers.sandbox import IsolatedProcesses
from indexer.sources.references import read_references
from indexer.sources.zotero import DATABASE, read_zotero
from tests.demo_home import PROJECT
from tests.indexer.build.small_papers import write_paper_pdf, write_tei
from tests.indexer.sources.small_zotero import SmallZotero
from tests.torture.counts import Counts

SECONDS_PER_FILE = 20
MOST_CHANGES = 12
NAMED = (ParseError, SourceError, AssistantError)
# Of files in which figures stand as they are shown.
PLAIN = (".md", ".txt", ".bib", ".ris")
LONGEST = 4  # times the characters of such a file
_FIGURE = re.compile(r"[0-9]{3,}")
_KINDS = (".bib", ".docx", ".html", ".json", ".md", ".pdf", ".ris", ".txt")

BIB = "@article{bats, title={On Bats}, author={Lee, Ann and Kim, Bo}, year={2019}, doi={10.1000/bats}}\n"
RIS = "TY  - JOUR\nTI  - On Bats\nAU  - Lee, Ann\nPY  - 2019\nDO  - 10.1000/bats\nER  - \n"
CSL = '[{"id": "bats", "type": "article", "title": "On Bats", "issued": {"date-parts": [[2019, 5]]}}]\n'


def mutated_files(seed: int, files: int, turns: Sequence[Turn] = ()) -> Counts:
    """Read mutated files; each has to be read, or refused with a message of ours."""
    counts, drawn = Counts("mutated files"), random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        originals = _originals(Path(folder, "whole"), turns)
        readers = IsolatedProcesses(_read, 1, SECONDS_PER_FILE)
        for number in range(files):
            original = originals[number % len(originals)]
            mutant = Path(folder, f"{number}-{original.name}")
            source, target = original, mutant
            if original.is_dir():
                mutant.mkdir()
                source, target = original / DATABASE, mutant / DATABASE
            target.write_bytes(mutate(source.read_bytes(), drawn))
            _try(partial(readers.run, readable=[mutant]), mutant, counts)
            target.unlink()
        readers.close()
    return counts


def mutate(content: bytes, drawn: random.Random) -> bytes:
    """Return bytes with up to a dozen changes, of which the last may cut them off."""
    changed = bytearray(content)
    for _ in range(drawn.randint(1, MOST_CHANGES)):
        at, length = drawn.randrange(len(changed) + 1), drawn.choice((1, 1, 4, 64, 1024))
        match drawn.randrange(6):
            case 0:
                changed[at : at + length] = drawn.randbytes(length)
            case 1:
                del changed[at : at + length]
            case 2:
                changed[at:at] = changed[at : at + length]
            case 3:
                changed[at:at] = drawn.randbytes(length)
            case 4:
                changed[at : at + length] = bytes(len(changed[at : at + length]))
            case _ if drawn.random() < 0.2:
                del changed[at:]
    return bytes(changed)


def _originals(folder: Path, turns: Sequence[Turn]) -> list[Path]:
    folder.mkdir()
    pdfs = sorted((PROJECT / "corpus" / "demo" / "pdf").glob("*.pdf"))[:3]
    for pdf in pdfs:
        shutil.copy(pdf, folder)
    write_paper_pdf(folder / "small.pdf")
    write_tei(folder / "small.tei.xml")
    texts = {"notes.md": "# On cats\n\nWe watch *cats*.\n\n## Food\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"}
    texts |= {"notes.txt": "On cats\n\nWe watch cats.\n", "a.bib": BIB, "a.ris": RIS, "a.json": CSL}
    texts["trail.transcript"] = transcript.to_json(Conversation("torture", "On cats", tuple(turns)))
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    paper = docx.Document()
    paper.add_heading("On cats", 0)
    paper.add_paragraph("We watch cats all day long.")
    paper.save(str(folder / "paper.docx"))
    library = SmallZotero(folder / "Zotero")
    library.item("BATS0001", authors="Ann Lee; Bo Kim", title="On Bats", date="2019")
    library.database.commit()
    library.database.close()
    cases = PROJECT.parent / "shared" / "data" / "cases"
    for number, case in enumerate(sorted(path for path in cases.rglob("*") if path.suffix in _KINDS)):
        shutil.copy(case, folder / f"case-{number}{case.suffix}")
    return sorted(folder.iterdir())


def _try(read: Callable[[Path], str], mutant: Path, counts: Counts) -> None:
    counts.tried += 1
    try:
        said = read(mutant)
        if mutant.suffix in PLAIN:
            for fault in faults_of(said, mutant.read_bytes()):
                counts.note("corrupted", f"{mutant.name}: {fault}")
    except NAMED as error:
        counts.told += 1
        if not str(error).strip():
            counts.note("unexplained", f"{mutant.name}: refused without a word")
    except (Exception, sqlite3.Error) as error:  # noqa: BLE001 - this is what is looked for
        counts.note("unexplained", f"{mutant.name}: {type(error).__name__}: {str(error)[:200]}")


def faults_of(said: str, content: bytes) -> Iterator[str]:
    """Yield the faults of a text that was read from the bytes of a plain file."""
    if len(said) > LONGEST * len(content) + 1000:
        yield f"{len(said):,} characters of {len(content):,} bytes"
    # In two bytes a character, as in UTF-16, figures stand apart.
    digits = content.replace(b"\0", b"").decode("latin-1")
    yield from (f"has the figure {figure}" for figure in set(_FIGURE.findall(said)) if figure not in digits)


def _read(path: Path) -> str:
    """Read a file of whatever kind, as the product does; in a process of its own."""
    try:
        return _read_of_its_kind(path)
    except (SourceError, AssistantError) as error:
        # The only kind of error that comes out of that process as itself.
        raise ParseError(str(error)) from error


def _read_of_its_kind(path: Path) -> str:
    if path.is_dir():
        return repr(len(read_zotero(path).items))
    if path.suffix == ".transcript":
        return transcript.from_json(path.read_text(encoding="utf-8", errors="replace")).title
    if path.suffix in (".bib", ".ris", ".json"):
        return "\n".join(f"{item.title} {item.abstract} {item.date}" for item in read_references(path))
    document = read_document(path)
    sections = (document.abstract, *(section.paragraphs for section in document.sections))
    texts = (paragraph.text for paragraphs in sections for paragraph in paragraphs)
    return "\n".join((document.title, *texts))
