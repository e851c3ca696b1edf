"""The commands for what readers keep of papers, and trails that carry notes."""

import json
from dataclasses import replace

import docx
import pytest
from typer.testing import CliRunner

from assistant.__main__ import app
from assistant.annotations import Annotation
from assistant.storage.conversations import ConversationStore
from assistant.storage.reading import Followed, PaperSet, ReadingStore
from assistant.trail.transcript import to_json
from tests.assistant.exports.test_references import FULL, conversation

NOTE = Annotation("n", "c/1", "The 90% Rule", note="Mine alone.")


@pytest.fixture
def run(monkeypatch, tmp_path):
    monkeypatch.setenv("PAPER_TRAIL_HOME", str(tmp_path / "home"))
    return lambda *arguments: CliRunner().invoke(app, arguments)


@pytest.fixture
def place(tmp_path):
    return tmp_path / "home" / "conversations.sqlite"


@pytest.fixture
def kept(place):
    store = ReadingStore(place)
    store.annotate("terminal", NOTE)
    store.list_paper("terminal", "c/1", "The 90% Rule")
    store.follow("terminal", Followed("“fusion”", "fusion"), PaperSet.of(["c/1"]))
    store.annotate("another", replace(NOTE, note="Nobody else's."))
    yield store
    store.close()


def test_what_a_reader_keeps_is_listed_exported_and_deleted(run, kept):
    listed = json.loads(run("reading", "list", "--json").stdout)["reading"]
    assert sorted(entry["kind"] for entry in listed) == ["annotation", "followed", "listed"]
    exported = json.loads(run("reading", "export").stdout)
    assert exported["notes"][0]["note"] == "Mine alone." and "Nobody else's." not in str(exported)
    assert exported["followed"][0]["query"] == "fusion"
    assert run("reading", "delete", listed[0]["id"]).exit_code == 0
    assert run("reading", "delete", listed[0]["id"]).exit_code == 2
    assert run("reading", "delete").exit_code == 2
    assert json.loads(run("reading", "delete", "--owner", "terminal", "--json").stdout) == {"deleted": 2}
    assert "Nothing is kept" in run("reading", "list").stderr
    assert len(kept.annotations("another")) == 1


def test_a_stored_conversation_is_exported_with_its_owners_notes_and_those_of_a_file_are_kept(
    run, kept, place, tmp_path
):
    store = ConversationStore(place)
    mine = store.put("terminal", conversation(FULL), from_file=False)
    theirs = store.put("another", conversation(FULL), from_file=False)
    store.close()
    assert "Mine alone." in run("export", mine.id, "--format", "md").stdout
    told = run("export", theirs.id, "--format", "md").stdout
    assert "Mine alone." not in told and "Nobody else's" in told
    file = tmp_path / "trail.json"
    file.write_text(to_json(replace(conversation(FULL), notes=(replace(NOTE, note="From a file."),))))
    assert run("conversations", "import", str(file)).exit_code == 0
    assert [annotation.record.note for annotation in kept.annotations("terminal")] == [
        "Mine alone.",
        "From a file.",
    ]
    assert run("conversations", "import", str(file)).exit_code == 0
    assert len(kept.annotations("terminal")) == 2


def test_a_word_document_is_written_to_a_file_and_not_to_the_terminal(run, tmp_path):
    file, written = tmp_path / "trail.json", tmp_path / "answer.docx"
    file.write_text(to_json(conversation(FULL)))
    assert run("export", str(file), "--output", str(written)).exit_code == 0
    assert docx.Document(str(written)).paragraphs
    refused = run("export", str(file), "--format", "docx")
    assert refused.exit_code == 2 and "name one with --output" in refused.stderr
