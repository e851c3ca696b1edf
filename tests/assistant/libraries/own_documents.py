"""Documents of a visit to be kept in tests, and a process that keeps them until it is killed."""

import sys
import time
from pathlib import Path

from assistant.libraries.keeping import Brought, Libraries, LibraryLimits
from assistant.storage.conversations import ConversationStore
from assistant.storage.libraries import LibraryStore
from corpus.encoders.base import Encoder
from corpus.records import USUAL_SIZE, PassageSize
from indexer.uploads.session import UploadSession, UploadWorkers
from tests.indexer.build.killable_build import HashEncoder
from tests.small_pdf import write_pdf

# In the text of one document alone: what is deleted is looked for by it.
MARKER = "xylophonicmarker"
PAGE = "BT /F 12 Tf 60 700 Td (Rank fusion) Tj 0 -40 Td (Ranks of several lists are added and sorted.) Tj ET"


def notes(word: str = MARKER) -> bytes:
    text = f"# On {word} pages\n\nPages that are {word} sing when turned. 42 readers heard {word} pages."
    return text.encode()


def opened(home: Path, limits: LibraryLimits | None = None) -> Libraries:
    store = LibraryStore(home / "conversations.sqlite")
    return Libraries(home / "libraries", store, limits or LibraryLimits())


def visit(
    home: Path, encoder: Encoder, *files: tuple[str, bytes], size: PassageSize = USUAL_SIZE
) -> UploadSession:
    """Return a visit that has brought some files, all of them read."""
    uploads = UploadSession(home, encoder, UploadWorkers())
    uploads.size = size
    for name, content in files:
        uploads.add_file(name, content)
    deadline = time.monotonic() + 120
    while uploads.is_reading():
        assert time.monotonic() < deadline, uploads.documents()
        time.sleep(0.02)
    assert len(uploads.ready()) == len(files), uploads.documents()
    return uploads


def brought(uploads: UploadSession) -> Brought:
    assert uploads.corpus is not None
    return Brought(uploads.corpus, uploads.pdf_folder, uploads.to_keep())


def pdf(folder: Path) -> bytes:
    return write_pdf(folder / "rank-fusion.pdf", [PAGE]).read_bytes()


def files_with(home: Path, word: str = MARKER) -> list[str]:
    """Return every file below a folder with a word in it, SQLite's log included."""
    found = (path for path in home.rglob("*") if path.is_file() and word.encode() in path.read_bytes())
    return sorted(str(path.relative_to(home)) for path in found)


def main(home: Path, doing: str, library_id: str) -> None:
    encoder = HashEncoder(home.parent / f"log-{time.monotonic_ns()}")
    libraries = opened(home)
    ConversationStore(home / "conversations.sqlite")
    uploads = visit(home, encoder, *((f"{number}.md", notes(f"{doing}{number}")) for number in range(3)))
    print("begins", flush=True)
    while True:
        if doing == "keep":
            libraries.keep("me", "killed", brought(uploads), encoder)
        else:
            libraries.grow(library_id, ["me"], brought(uploads), encoder)
            held = libraries.opened(library_id, encoder).papers()
            libraries.take_out(
                library_id, ["me"], [library.id for library in held if doing in library.title], encoder
            )


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3])
