"""The commands that keep and export conversations."""

import json
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest
from typer.testing import CliRunner

from assistant.__main__ import app
from assistant.exports.registry import ConversationFormatName
from assistant.records import Conversation
from assistant.storage.conversations import ConversationStore
from assistant.trail.transcript import from_json, to_json
from tests.assistant.exports.test_references import FULL, conversation
from tests.assistant.storage.test_conversations import change, make_turn
from tests.assistant.trail.test_foreign_files import moved
from tests.exported_text import exported_text

CITING = conversation(FULL)


@pytest.fixture
def run(monkeypatch, tmp_path):
    monkeypatch.setenv("PAPER_TRAIL_HOME", str(tmp_path / "home"))
    return lambda *arguments: CliRunner().invoke(app, arguments)


@pytest.fixture
def store(tmp_path):
    store = ConversationStore(tmp_path / "home" / "conversations.sqlite")
    yield store
    store.close()


@pytest.fixture
def file(tmp_path) -> Path:
    path = tmp_path / "transcript.json"
    path.write_text(to_json(CITING), encoding="utf-8")
    return path


@pytest.mark.parametrize("papers", [(), ("field-notes-retrieval/rank-fusion",)], ids=["foreign", "mixed"])
def test_fault_an_import_of_another_library_or_of_several_was_kept(run, tmp_path, store, papers):
    path = tmp_path / "moved.json"
    path.write_text(json.dumps(moved("conversation", *papers)), encoding="utf-8")
    done = run("conversations", "import", str(path))
    assert done.exit_code == 2
    assert "mixes papers" in done.stderr if papers else "The library has been deleted" in done.stderr
    assert store.list("terminal") == ()


def test_the_list_names_what_is_kept(run, store):
    assert "No conversations are kept" in run("conversations", "list").stderr
    kept = store.start("terminal", "Fusion [bold]x[/bold]")
    store.add_turn(kept.id, make_turn())
    store.start("somebody else", "Theirs")
    done = run("conversations", "list")
    assert kept.id in done.stdout
    assert "Fusion [bold]x[/bold]" in done.stdout
    assert "Theirs" not in done.stdout
    (entry,) = json.loads(run("conversations", "list", "--json").stdout)["conversations"]
    assert (entry["id"], entry["turns"]) == (kept.id, 1)
    assert json.loads(run("conversations", "list", "--offset", "1", "--json").stdout)["conversations"] == []


def test_showing_deleting_and_what_is_not_there(run, store):
    kept = store.start("terminal", "Fusion")
    store.add_turn(kept.id, make_turn("Why is it?"))
    assert run("conversations", "show", kept.id).stdout.startswith("# Fusion\n\n## 1. Why is it?")
    shown = json.loads(run("conversations", "show", kept.id, "--json").stdout)
    assert shown["turns"] == [{"question": "Why is it?", "answer": "Because."}]
    assert json.loads(run("conversations", "delete", kept.id, "--json").stdout) == {"deleted": kept.id}
    for command in ("show", "delete"):
        done = run("conversations", command, kept.id, "--json")
        assert done.exit_code == 2
        assert "There is no conversation" in json.loads(done.stdout)["error"]


def test_a_turn_that_cannot_be_read_is_said_where_a_conversation_is_shown(run, store, tmp_path):
    kept = store.start("terminal", "Fusion")
    store.add_turn(kept.id, make_turn())
    change(tmp_path / "home" / "conversations.sqlite", "UPDATE turns SET document = '{'")
    done = run("conversations", "show", kept.id)
    assert done.exit_code == 0
    assert "Turn 1 cannot be read and is left out." in done.stderr
    assert "Turn 1 cannot be read" in run("export", kept.id).stderr


def test_an_import_keeps_the_id_where_it_is_free(run, file):
    whole = Conversation("A" * 22, "Fusion", (make_turn(),))
    file.write_text(to_json(whole), encoding="utf-8")
    first = run("conversations", "import", str(file))
    assert first.stdout.strip() == whole.id
    assert "Kept with 1 turn." in first.stderr
    second = json.loads(run("conversations", "import", str(file), "--json").stdout)
    assert second["id"] != whole.id
    assert len(json.loads(run("conversations", "list", "--json").stdout)["conversations"]) == 2


@pytest.mark.parametrize(
    ("name", "begins"),
    [
        ("t.json", "{"),
        ("t.md", "# t"),
        ("t.html", "<!doctype html>"),
        ("t.bib", "@inproceedings{dyk-2022-rule,"),
        ("t.ris", "TY  - CPAPER\r\n"),
        ("t.csl", "[\n"),
    ],
)
def test_the_format_is_that_of_the_name_or_that_asked_for(run, file, tmp_path, name, begins):
    out = tmp_path / name
    done = run("export", str(file), "-o", str(out))
    assert (done.exit_code, done.stdout) == (0, "")
    written = out.read_bytes().decode("utf-8")
    assert written.startswith(begins)
    named = run("export", str(file), "--format", out.suffix[1:], "--turn", "1", "--json")
    document = json.loads(named.stdout)
    assert document["turns"] == 1
    if name != "t.json":  # which says when it was exported
        assert document["text"] == written
    assert json.loads(run("export", str(file), "-o", str(out), "--json").stdout)["written"] == str(out)


@pytest.mark.parametrize("arguments", [(), ("-o", "-")])
def test_without_a_file_the_transcript_is_printed(run, file, arguments):
    assert from_json(run("export", str(file), *arguments).stdout) == CITING


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--turn", "2"), "There is no turn 2: the conversation has 1."),
        (("-o", "t.odt"), "does not say what to write"),
        (("-o", "/no/such/folder/t.md"), "in a folder that exists"),
        (("-o", "/"), "does not say what to write"),
    ],
)
def test_an_export_that_cannot_be_made_is_one_sentence_and_a_status(run, file, arguments, words):
    done = run("export", str(file), *arguments, "--json")
    assert done.exit_code == 2
    assert words in json.loads(done.stdout)["error"]
    assert words in run("export", str(file), *arguments).stderr


@pytest.mark.parametrize("form", ["bib", "ris", "csl"])
def test_references_of_an_answer_that_cites_nothing_are_said_to_be_none(run, file, form):
    assert "No paper is cited" not in run("export", str(file), "--format", form).stderr
    file.write_text(to_json(Conversation("c", "t", (make_turn(),))), encoding="utf-8")
    done = run("export", str(file), "--format", form)
    assert done.exit_code == 0
    assert "No paper is cited" in done.stderr


@pytest.mark.parametrize("form", get_args(ConversationFormatName))
def test_no_export_acts_on_a_terminal_or_breaks_a_file(run, tmp_path, form):
    nasty = "half \ud83d a pair \x1b[31mred\x07"
    paper = replace(FULL.paper, title=nasty, bibtex=nasty)
    hostile = conversation(replace(FULL, paper=paper))
    turn = replace(hostile.turns[0], question=nasty)
    (tmp_path / "t.json").write_text(to_json(replace(hostile, title=nasty, turns=(turn,))), encoding="utf-8")
    out = tmp_path / f"out.{form}"
    assert run("export", str(tmp_path / "t.json"), "-o", str(out)).exit_code == 0
    assert "\x1b" not in exported_text(out.read_bytes())


@pytest.mark.parametrize("source", ["no-such", "x" * 5000, "a\x00b", "/", ""])
def test_an_unknown_source_is_reported(run, source):
    done = run("export", source, "--json")
    assert done.exit_code == 2
    assert "no stored conversation" in json.loads(done.stdout)["error"]


def test_a_home_that_cannot_be_written_is_reported(run, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("PAPER_TRAIL_HOME", str(tmp_path / "file" / "home"))
    done = run("conversations", "list", "--json")
    assert done.exit_code == 2
    assert "cannot be kept at" in json.loads(done.stdout)["error"]


def test_the_published_schema_is_that_of_the_records(run, root):
    """Write it anew with: paper-trail schema > docs/transcript.schema.json."""
    published = (root / "docs" / "transcript.schema.json").read_text(encoding="utf-8")
    assert published == run("schema").stdout
