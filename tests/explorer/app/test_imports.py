"""Imports as a visitor makes them: read apart, kept whole or not at all, and about nobody else's library."""

import json
import threading
import tracemalloc
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from assistant.annotations import Annotation
from assistant.trail.transcript import from_json, to_json
from explorer.app.resources import Library
from explorer.app.session import Current
from explorer.app.visitor.session import VisitorSession
from explorer.ask.conversations import import_transcript
from indexer.uploads.sandbox import BusyError, import_sandboxed
from tests.assistant.trail.test_foreign_files import moved
from tests.hostile_imports import whole

PAPER = "field-notes-retrieval/rank-fusion"
NOTE = Annotation("", PAPER, "On fusion", note="Read this again.")


def imported(library: Library, data: bytes) -> VisitorSession:
    visitor = Current(VisitorSession())
    import_transcript(library, visitor, data)
    return visitor.now


def trail(*notes: Annotation) -> bytes:
    return to_json(replace(from_json(json.dumps(whole("conversation"))), notes=notes)).encode()


def test_fault_a_file_of_empty_lists_took_half_a_gigabyte_of_the_server(library: Library) -> None:
    data = b"[" + b"[]," * 2_000_000 + b"[]]"
    tracemalloc.start()
    try:
        refused = imported(library, data)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert "more than 1,000,000 values" in refused.import_problem
    assert most < 3 * len(data)


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="processes are counted in /proc")
def test_fault_imports_were_read_beside_each_other() -> None:
    data = trail(NOTE)
    readers = [threading.Thread(target=read, args=(data, f"visitor {number}")) for number in range(3)]
    for reader in readers:
        reader.start()
    most = 0
    while any(reader.is_alive() for reader in readers):
        most = max(most, _processes_importing())
    assert most == 1


def read(data: bytes, owner: str) -> bytes:
    return import_sandboxed("assistant.trail.read_import", "conversation", data, owner=owner)


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="processes are counted in /proc")
def test_fault_files_of_one_visitor_kept_those_of_others_waiting() -> None:
    data = trail(NOTE)
    first = threading.Thread(target=read, args=(data, "one"))
    first.start()
    while first.is_alive() and not _processes_importing():
        pass
    with pytest.raises(BusyError, match="Another file of yours"):
        read(data, "one")
    assert read(data, "another")
    first.join()
    assert read(data, "one")


def _processes_importing() -> int:
    """Count the child processes that are reading imports now."""
    found = 0
    for child in Path("/proc/self/task").glob("*/children"):
        with suppress(OSError):
            for process in child.read_text().split():
                found += b"indexer.uploads.bounded" in Path(f"/proc/{process}/cmdline").read_bytes()
    return found


def test_fault_a_conversation_about_anothers_library_was_taken_in(library: Library) -> None:
    refused = imported(library, json.dumps(moved("conversation")).encode())
    assert "only its owner can read" in refused.import_problem and not refused.turns
    mixed = imported(library, json.dumps(moved("conversation", PAPER)).encode())
    assert "mixes papers of different libraries" in mixed.import_problem and not mixed.turns


def test_fault_notes_of_an_import_were_kept_or_lost_without_it(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = [replace(NOTE, note=f"Note {number}") for number in range(201)]
    visitor = Current(VisitorSession())
    import_transcript(library, visitor, trail(*many))
    assert "at most 200 notes" in visitor.now.import_problem and not visitor.now.turns
    assert library.reading().annotations(visitor.now.stranger) == ()
    assert library.conversations().list(visitor.now.stranger) == ()
    import_transcript(library, visitor, trail(NOTE))
    assert visitor.now.turns and not (visitor.now.import_problem or visitor.now.notes)
    assert len(library.reading().annotations(visitor.now.stranger)) == 1
    monkeypatch.setenv("PAPER_TRAIL_STORED_ROWS_PER_VISITOR", "2")
    few = Library(type(library.settings)(), library.encoder, library.corpus)
    visitor = Current(VisitorSession())
    import_transcript(few, visitor, trail(NOTE))
    assert "2 entries" in visitor.now.import_problem
    assert few.reading().annotations(visitor.now.stranger) == ()
