"""Hostile files imported as the app does, one after the other; what is taken in is drawn and exported."""

import json
import os
import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from streamlit.testing.v1 import AppTest

from assistant.comparing.records import Comparison
from assistant.exports.registry import COMPARISON_FORMATS, CONVERSATION_FORMATS
from assistant.records import AssistantError, Conversation, LabelledPaper
from corpus.pdf.file import PdfError
from corpus.pdf.images import page_image
from corpus.records import Box
from explorer.app.resources import Library, open_library
from explorer.app.session import Current
from explorer.app.visitor.comparison import ComparisonSession
from explorer.app.visitor.session import VisitorSession
from explorer.ask.conversations import import_transcript
from explorer.compare.kept import import_comparison
from tests.demo_home import PROJECT, build_demo_home
from tests.hostile_imports import KINDS, LIBRARY, HostileFile, hostile_import, whole
from tests.torture.counts import Counts

# Of the server's own process, for each step of an import; a page with all that may be marked takes a tenth.
MOST_SECONDS, MOST_MIB = 5.0, 250.0


def hostile_imports(seed: int, files: int, home: Path | None = None, *, screens: bool = True) -> Counts:
    """Import hostile files; each is accepted, drawn and exported, or refused with a message of ours."""
    counts = Counts("hostile imports")
    with tempfile.TemporaryDirectory() as folder:
        database = f"sqlite:///{Path(folder, 'conversations.sqlite')}"
        settings = {"PAPER_TRAIL_CONVERSATIONS": database, "PAPER_TRAIL_DOCUMENTS_PER_TEN_MINUTES": "0"}
        os.environ.update(settings, PAPER_TRAIL_HOME=str(home or build_demo_home(Path(folder))))
        library = open_library()
        # Unchanged files are accepted; modules loaded for the first file do not count against it.
        for kind in KINDS:
            first = _Trial(Counts("unchanged files"), library, screens=screens)
            first.take_in(HostileFile(kind, "unchanged", json.dumps(whole(kind)).encode()))
            for what in ("lost", "foreign", "unexplained"):
                counts.wrong[what] += first.counts.wrong[what]
            if first.counts.told:
                counts.note("lost", f"an unchanged {kind} was refused")
        trial = _Trial(counts, library, screens=screens)
        for number in range(files):
            trial.take_in(hostile_import(seed, number))
    return counts


class _Trial:
    def __init__(self, counts: Counts, library: Library, *, screens: bool) -> None:
        self.counts, self.library, self.screens = counts, library, screens
        self.visitor = Current(VisitorSession())

    def take_in(self, file: HostileFile) -> None:
        self.counts.tried += 1
        kept: list[Conversation | Comparison] = []
        self.step(file, "import", lambda: kept.extend(self.imported(file)))
        for trail in kept:
            self.look_for_libraries(file, trail)
            self.step(file, "pages", lambda trail=trail: self.draw_pages(trail))  # type: ignore[misc]
            self.step(file, "exports", lambda trail=trail: _export(trail))  # type: ignore[misc]
            if self.screens:
                self.step(file, "screen", lambda trail=trail: self.draw_screen(trail))  # type: ignore[misc]

    def imported(self, file: HostileFile) -> Iterator[Conversation | Comparison]:
        if file.kind == "conversation":
            import_transcript(self.library, self.visitor, file.data)
            problem, shown = self.visitor.now.import_problem, self.visitor.now.conversation_id
            found: Conversation | Comparison | None = self.library.conversations().get(shown)
        else:
            session = Current(ComparisonSession())
            import_comparison(self.library, self.visitor, session, file.data)
            problem, found = session.now.import_problem, session.now.comparison
        if problem:
            self.counts.told += 1
        elif found is None:
            self.counts.note("lost", f"{file.family}: neither taken in nor refused")
        else:
            yield found

    def look_for_libraries(self, file: HostileFile, trail: Conversation | Comparison) -> None:
        if any(paper.paper.id.startswith(LIBRARY) for paper in _evidence(trail)):
            self.counts.note("foreign", f"{file.family}: a paper of another's library was taken in")

    def draw_pages(self, trail: Conversation | Comparison) -> None:
        for labelled in _evidence(trail):
            path = self.library.pdf_path(labelled.paper.pdf_sha256)
            boxes = [
                box
                for passage in labelled.passages
                for sentence in passage.sentences
                for box in sentence.boxes
            ]
            for page in sorted({box.page for box in boxes})[:2] if path else ():
                _draw(path, page, boxes)

    def draw_screen(self, trail: Conversation | Comparison) -> None:
        page, name = ("ask", "conversation") if isinstance(trail, Conversation) else ("compare", "comparison")
        test = AppTest.from_file(str(PROJECT / "streamlit_app.py"), default_timeout=180)
        test.switch_page(f"explorer/pages/{page}.py")
        test.query_params[name] = trail.id
        test.run()
        if test.exception:
            raise RuntimeError(test.exception[0].message)

    def step(self, file: HostileFile, name: str, do: Callable[[], object]) -> None:
        """Do one thing with a file; count what it raises, and what it takes of this process."""
        clock, memory = time.process_time(), _peak_mib()
        try:
            do()
        except AssistantError as error:
            self.counts.told += bool(str(error))
        except Exception as error:  # noqa: BLE001 - this is what is looked for
            self.counts.note(
                "unexplained", f"{file.family}, {name}: {type(error).__name__}: {str(error)[:200]}"
            )
        seconds, more = time.process_time() - clock, _peak_mib() - memory
        if seconds > MOST_SECONDS or more > MOST_MIB:
            self.counts.note("frozen", f"{file.family}, {name}: {seconds:.1f} s, {more:,.0f} MiB")


def _evidence(trail: Conversation | Comparison) -> Iterator[LabelledPaper]:
    for turn in trail.turns if isinstance(trail, Conversation) else (trail,):
        yield from turn.evidence.papers


def _draw(path: Path | None, page: int, boxes: list[Box]) -> None:
    try:
        page_image(path or "", page, boxes, 2.2)
    except PdfError:
        return


def _export(trail: Conversation | Comparison) -> None:
    formats = CONVERSATION_FORMATS if isinstance(trail, Conversation) else COMPARISON_FORMATS
    for export in formats:
        export.write(trail)  # type: ignore[arg-type]


def _peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
