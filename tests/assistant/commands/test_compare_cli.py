"""The command that compares papers, on the demonstration collection and over a stand-in server."""

import json
import os
import pty
import re
import select
import signal
import sys
import time
from dataclasses import replace
from typing import get_args

import pytest
from rich.console import Console

from assistant.commands.opening import opened_comparisons
from assistant.commands.watching import progress_tree
from assistant.comparing.progress import ComparisonProgress
from assistant.comparing.records import (
    ELEMENT_NAMES,
    Candidate,
    ComparisonOptions,
    ComparisonRequest,
    Extracted,
    KeyElements,
    Planned,
    Round,
    RoundFinished,
    Sampled,
    Vote,
    Voted,
    Working,
)
from assistant.exports.registry import OptionName
from assistant.records import Usage
from assistant.trail.comparison_file import comparison_from_json
from corpus.store.element_cache import ElementStore
from tests.assistant.checking.test_citations import make_paper
from tests.assistant.comparing.comparing_model import ComparingModel
from tests.standin_chat import StandinChat, refusal

PAPERS = ["field-notes-retrieval/bm25", "field-notes-retrieval/rank-fusion"]
ABOUT = "How lexical and dense retrieval can be combined."
SMALL = ["--samples", "1", "--votes", "1", "--keep", "1"]


@pytest.fixture
def compare(run):
    return lambda *options, **changes: run("compare", *PAPERS, "--about", ABOUT, *options, **changes)


@pytest.fixture
def own_model(own_model, monkeypatch, tmp_path):
    """Put a server behind the model "own", on a corpus whose kept elements are this test's own."""
    kept = ElementStore.open(tmp_path / "kept")
    monkeypatch.setattr("assistant.commands.comparing.ElementStore.open", lambda path: kept)
    return own_model


def document(done):
    """Return the JSON document that is everything on standard output."""
    assert done.stdout.count("\n") == 1
    return json.loads(done.stdout)


def test_the_json_has_every_part_of_a_comparison(compare):
    done = compare("--json")
    assert done.exit_code == 0, done.stderr
    found = document(done)
    assert [(paper["id"], paper["label"]) for paper in found["papers"]] == [(PAPERS[0], 1), (PAPERS[1], 2)]
    assert all(paper["title"] for paper in found["papers"])
    assert "[1]" in found["summary"]
    for sentence in found["sentences"]:
        assert sentence["text"] in found["summary"]
        assert [citation["label"] for citation in sentence["citations"]] == sentence["labels"]
    assert set(found["elements"]) == {"0", "1", "2"}
    for elements in found["elements"].values():
        assert tuple(elements) == ELEMENT_NAMES
        for element in elements.values():
            assert element.keys() == {"text", "evidence", "score"}
            assert bool(element["text"]) == bool(element["evidence"])
            assert all(
                evidence.keys() == {"passage", "sentence", "text", "support"}
                for evidence in element["evidence"]
            )
    assert found["rounds"] == []
    assert found["calls"] == 0
    assert found["seconds"].keys() == {"load", "elements", "compare", "check"}
    assert found["id"]
    assert done.stderr == ""


def test_questions_of_ones_own_are_answered_by_each_paper_with_its_place(compare):
    asked = (
        "--question",
        "What is reciprocal rank fusion?",
        "--question",
        "[bold]Who won?",
        "--question",
        "",
    )
    done = compare(*asked)
    assert done.exit_code == 0, done.stderr
    answer = "- [2] Reciprocal rank fusion (RRF) adds 1 / (k + rank)"
    _, answers = done.stdout.split("What is reciprocal rank fusion?")
    assert "- [1] does not say (no sentence found)" in answers and answer in answers
    assert "abstract, page 1 field-notes-retrieval/rank-fusion#0" in answers
    assert "[bold]Who won?" in answers
    assert "1 of 4 answers to your own questions found" in done.stderr
    first, second = document(compare(*asked, "--json"))["columns"]
    assert (first["question"], second["question"]) == (asked[1], asked[3])
    (quote,) = first["cells"][1]["quotes"]
    assert quote["passage"] == "field-notes-retrieval/rank-fusion#0" and quote["text"] in answers
    assert not first["cells"][0]["quotes"]


def test_in_a_pipe_every_step_is_a_line_and_the_result_stands_alone(compare):
    done = compare()
    assert done.exit_code == 0
    assert "No model is asked: it costs nothing." in done.stderr
    assert "Key elements: 3 of 3 texts read" in done.stderr
    assert "Round" not in done.stderr
    assert "Key elements" not in done.stdout
    assert "In common and apart" in done.stdout
    assert "support" in done.stdout
    assert re.search(r"Kept as comparison \S+\.", done.stderr)


def test_a_model_of_ones_own_compares_within_its_budget(compare, own_model):
    with StandinChat(default=ComparingModel()) as server:
        own_model(server)
        done = compare("--generator", "own", "--samples", "2", "--votes", "2", "--keep", "1", "--json")
        assert done.exit_code == 0, done.stderr
        # Three texts, then two rounds of two samples and two votes.
        assert document(done)["calls"] == len(server.requests) == 3 + 2 * (2 + 2)
    assert document(done)["usage"]["price"] > 0


def test_the_budget_is_said_before_anything_is_asked_and_kept_elements_are_not_asked_again(
    compare, own_model
):
    with StandinChat(default=ComparingModel()) as server:
        own_model(server)
        first = compare("--generator", "own", *SMALL)
        asked = len(server.requests)
        second = compare("--generator", "own", *SMALL)
        assert len(server.requests) - asked < asked
    assert re.search(r"At most \d+ model calls .*about [\d,]+ tokens sent", first.stderr, re.DOTALL)
    assert "An earlier comparison has read 2 of 2 papers: they are not read again." in second.stderr
    assert "used again" in second.stderr


def test_a_comparison_that_failed_says_so_and_goes_on_where_it_was(compare, run, own_model):
    model = ComparingModel()
    with StandinChat(
        default=lambda request: model(request) if model.counts["vote"] < 1 else refusal(401)
    ) as server:
        own_model(server)
        done = compare("--generator", "own", *SMALL, "--samples", "2")
        assert done.exit_code == 2
        assert "What is done is kept." in done.stderr
        identifier = re.search(r"compare --resume (\S+)", done.stderr)[1]
        listed = document(run("comparisons", "list", "--json"))["comparisons"]
        assert [(comparison["id"], comparison["state"]) for comparison in listed] == [
            (identifier, "unfinished")
        ]
        before = len(server.requests)
        server.default = model
        resumed = run("compare", "--resume", identifier, "--json")
        assert resumed.exit_code == 0, resumed.stderr
        # Two samples and one vote of the second round are new.
        assert len(server.requests) - before == 3
    assert document(resumed)["id"] == identifier
    assert "[2]" in document(resumed)["summary"]


def test_a_finished_comparison_is_shown_again(compare, run):
    identifier = document(compare("--json"))["id"]
    again = run("compare", "--resume", identifier)
    assert again.exit_code == 0
    assert "finished before" in again.stderr
    assert "[1]" in again.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["field-notes-retrieval/bm25", "--about", ABOUT], "Only one paper was named"),
        ([*PAPERS, "--about", ""], "The description is empty"),
        ([*PAPERS, "no-such", "--about", ABOUT], "The corpus has no paper 'no-such'"),
        ([*PAPERS, "--about", "x" * 20_001], "20,000 can be taken"),
        ([*PAPERS, "--about", ABOUT, "--votes", "5"], "Without a model the summary is made in one pass"),
        ([*PAPERS, "--about", ABOUT, "--samples", "2"], "Leave these settings away, or choose a model"),
        ([*PAPERS, "--about", ABOUT, "--keep", "1"], "no samples, no votes and no parts to leave out"),
        ([*PAPERS, "--about", ABOUT, "--without", "elements"], "Without a model the summary"),
        ([*PAPERS, "--about", ABOUT, "--without", "sense"], "elements, increments and reflection"),
        ([*PAPERS, "--about", ABOUT, "--generator", "no-such"], "no writer 'no-such'"),
        ([*PAPERS, "--about", ABOUT, "--trail", "t.txt"], "let it end in .json or .md or .html"),
        ([*PAPERS, "--about", ABOUT, "--without", "elements", "increments"], "--without increments"),
        ([*PAPERS, "--about", ABOUT, "--trail", "/no/such/t.json"], "in a folder that exists"),
        ([*PAPERS, "--about", ABOUT, "--resume", "x"], "give none of them"),
        (["--question", "Is it quick?", "--resume", "x"], "give none of them"),
        ([*PAPERS, "--about", ABOUT, *(f"--question=Is {at}?" for at in range(6))], "takes 5"),
        ([*PAPERS, "--about", ABOUT, "--question", "x" * 301], "300 can be taken"),
        (["--resume", "no-such"], "There is no comparison 'no-such'"),
        ([], "The description is empty"),
    ],
)
def test_what_cannot_be_compared_is_one_sentence_and_a_status(run, arguments, words):
    done = run("compare", *arguments)
    assert done.exit_code == 2
    assert words in " ".join(done.stderr.split())
    as_json = run("compare", *arguments, "--json")
    assert as_json.exit_code == 2
    assert words in document(as_json)["error"]


@pytest.mark.parametrize(
    ("name", "begins"),
    [
        ("t.json", '{\n  "format": "paper-trail/comparison"'),
        ("t.md", "# How lexical"),
        ("t.html", "<!doctype html>"),
        ("t.tex", "% Exported from Paper Trail"),
        ("t.bib", "@"),
        ("t.csv", "Label,Paper"),
    ],
)
def test_the_result_is_written_in_the_form_its_name_asks_for(compare, run, tmp_path, name, begins):
    path = tmp_path / name
    assert compare("--trail", str(path)).exit_code == 0
    text = path.read_text(encoding="utf-8")
    assert text.startswith(begins)
    if name == "t.json":
        assert comparison_from_json(text).paper_ids == tuple(PAPERS)
    if name == "t.tex":
        assert r"\bibliography{t}" in text


def test_a_stored_comparison_is_exported_in_every_form(compare, run, tmp_path):
    identifier = document(compare("--json"))["id"]
    for form in get_args(OptionName):
        written = tmp_path / f"written.{form}"
        done = run("export", identifier, "--format", form, "--output", str(written))
        assert done.exit_code == 0, done.stderr
        assert written.read_bytes().strip()
    file = tmp_path / "c.json"
    assert run("export", identifier, "-o", str(file)).exit_code == 0
    assert document(run("export", str(file), "--format", "md", "--json"))["papers"] == 2
    assert "has no turns" in run("export", str(file), "--turn", "1").stderr


def test_an_unfinished_comparison_cannot_be_exported_and_says_how_to_go_on(compare, run, own_model):
    with StandinChat(default=refusal(401)) as server:
        own_model(server)
        identifier = re.search(r"--resume (\S+)", compare("--generator", "own", *SMALL).stderr)[1]
    done = run("export", identifier)
    assert done.exit_code == 2
    assert f"compare --resume {identifier}" in " ".join(done.stderr.split())


def test_comparisons_are_listed_renamed_and_deleted(compare, run):
    assert "No comparisons are kept" in run("comparisons", "list").stderr
    identifier = document(compare("--json"))["id"]
    assert identifier in run("comparisons", "list").stdout
    assert document(run("comparisons", "rename", identifier, "Fusion [b]", "--json")) == {
        "renamed": identifier
    }
    assert "Fusion [b]" in run("comparisons", "list").stdout
    assert document(run("comparisons", "delete", identifier, "--json")) == {"deleted": identifier}
    for command in (["rename", identifier, "x"], ["delete", identifier]):
        done = run("comparisons", *command, "--json")
        assert done.exit_code == 2
        assert "There is no comparison" in document(done)["error"]


def test_the_schema_of_comparisons_can_be_printed(run):
    assert json.loads(run("schema", "--comparison").stdout)["title"] == "Paper Trail comparison"
    assert json.loads(run("schema").stdout)["title"] == "Paper Trail transcript"


def test_somebody_in_a_terminal_is_asked_before_a_model_is(compare, own_model, monkeypatch):
    monkeypatch.setattr("assistant.commands.comparing.somebody_is_there", lambda: True)
    arguments = ["--generator", "own", *SMALL]
    with StandinChat(default=ComparingModel()) as server:
        own_model(server)
        refused = compare(*arguments, answer="n\n")
        assert (refused.exit_code, server.requests) == (1, [])
        assert "Nothing was asked, and nothing is kept." in refused.stderr
        assert refused.stderr.index("At most") < refused.stderr.index("Go on?")
        assert compare(*arguments, answer="y\n").exit_code == 0
        assert compare(*arguments, "--yes", answer="").exit_code == 0


def test_an_interrupt_says_what_is_kept_and_how_to_go_on_without_waiting_for_the_model(
    demo_home, tmp_path, root
):
    models = tmp_path / "models.toml"
    models.write_text('[[models]]\nid = "own"\n', encoding="utf-8")
    line = [sys.executable, "-m", "assistant", "compare", *PAPERS, "--about", ABOUT, "--generator", "own"]
    with StandinChat(default=ComparingModel(seconds=300.0)) as server:
        environment = {
            "PATH": os.defpath,
            "HOME": str(tmp_path),
            "TERM": "xterm",
            "PAPER_TRAIL_HOME": str(demo_home),
            "PAPER_TRAIL_CONVERSATIONS": f"sqlite:///{tmp_path / 'conversations.sqlite'}",
            "PAPER_TRAIL_MODELS_FILE": str(models),
            "PAPER_TRAIL_MODEL_URL": server.url,
            "OMP_NUM_THREADS": "1",
        }
        child, terminal = pty.fork()
        if child == 0:
            # As a terminal's shell does; a suite that was begun in the background ignores interrupts.
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.chdir(root)
            os.execve(line[0], [*line, *SMALL], environment)
        try:
            shown = read_until(terminal, b"Go on?")
            os.write(terminal, b"y\n")
            shown += read_until(terminal, b"Comparing 2 papers")
            wait_for(lambda: server.requests)
            os.write(terminal, b"\x03")
            shown += read_until(terminal, None)
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        except BaseException:
            os.kill(child, signal.SIGKILL)
            raise
    assert status == 130, shown
    said = " ".join(re.sub(r"\x1b\[[0-9;?]*\w", "", shown.decode()).split())
    assert "Stopped. What is done is kept. Go on with: paper-trail compare --resume" in said
    assert "Traceback" not in said


def read_until(terminal, words):
    """Return the terminal's output up to these words, or up to its end."""
    shown = b""
    while words is None or words not in shown:
        assert select.select([terminal], [], [], 180.0)[0], shown
        try:
            piece = os.read(terminal, 4096)
        except OSError:  # Linux says so when the process has ended
            piece = b""
        if not piece:
            assert words is None, shown
            break
        shown += piece
    return shown


def wait_for(condition, seconds=60.0):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_fault_other_faults_of_the_input_were_hidden_behind_the_empty_description(run):
    said = " ".join(run("compare", PAPERS[0]).stderr.split())
    assert "The description is empty." in said
    assert "Only one paper was named" in said
    assert said.count("The description is empty.") == 1


def test_fault_of_several_trails_only_the_last_was_written_without_notice(compare, tmp_path):
    paths = [tmp_path / "a.tex", tmp_path / "a.bib"]
    done = compare(*(part for path in paths for part in ("--trail", str(path))))
    assert done.exit_code == 0, done.stderr
    assert all(path.is_file() for path in paths)
    assert all(f"Written to {path}." in done.stderr for path in paths)


def test_fault_where_no_file_can_be_written_the_comparison_is_kept_and_its_id_printed(compare, run, tmp_path):
    full, whole = tmp_path / "a.json", tmp_path / "a.md"
    full.symlink_to("/dev/full")
    done = compare("--trail", str(full), "--trail", str(whole))
    assert done.exit_code == 2
    assert "[1]" in done.stdout
    assert whole.read_text(encoding="utf-8").startswith("# ")
    said = " ".join(done.stderr.split())
    identifier = re.search(r"The comparison is kept as (\S+);", said)[1]
    assert "No space left on device" in said
    assert f"paper-trail export {identifier} -o FILE" in said
    assert run("export", identifier).exit_code == 0


def test_fault_a_folder_that_may_not_be_changed_was_said_not_to_exist(compare, tmp_path, monkeypatch):
    # Whoever runs the tests as the superuser may write anywhere.
    monkeypatch.setattr("os.access", lambda path, mode: mode != os.W_OK)
    done = compare("--trail", str(tmp_path / "a.md"))
    assert done.exit_code == 2
    assert "you may not change" in " ".join(done.stderr.split())
    assert "Kept as comparison" not in done.stderr


def test_fault_a_comparison_could_be_renamed_to_nothing(compare, run):
    identifier = document(compare("--json"))["id"]
    done = run("comparisons", "rename", identifier, " \t")
    assert done.exit_code == 2
    assert "The new title is empty" in done.stderr
    assert document(run("comparisons", "list", "--json"))["comparisons"][0]["title"] == ABOUT


def test_fault_a_comparison_could_be_neither_shown_nor_imported(compare, run, tmp_path):
    path = tmp_path / "c.json"
    identifier = document(compare("--json", "--trail", str(path)))["id"]
    assert run("comparisons", "show", identifier).stdout.startswith("# How lexical")
    assert document(run("comparisons", "show", identifier, "--json"))["id"] == identifier
    kept = document(run("comparisons", "import", str(path), "--json"))
    assert (kept["title"], kept["papers"]) == (ABOUT, 2)
    assert kept["id"] != identifier
    assert run("comparisons", "show", kept["id"]).exit_code == 0
    assert "no comparison 'x'" in run("comparisons", "show", "x").stderr
    path.write_text("{}", encoding="utf-8")
    assert run("comparisons", "import", str(path)).exit_code == 2
    listed = run("comparisons", "list").stdout
    assert len(re.findall(r" 2 .* \d{4}-\d\d-\d\d \d\d:\d\d", listed)) == 2


def test_fault_what_is_kept_was_said_twice_and_of_a_question(compare, own_model):
    with StandinChat(default=lambda request: refusal(401)) as server:
        own_model(server)
        said = " ".join(compare("--generator", "own", *SMALL).stderr.split())
    assert said.count("kept") == 2 and "Kept as comparison" in said
    assert "(HTTP 401). Check PAPER_TRAIL_MODEL_API_KEY. What is done is kept." in said


def test_fault_what_was_begun_when_criteria_voted_can_be_gone_on_with(run, compare, tmp_path):
    comparison = comparison_of(compare, tmp_path)
    with opened_comparisons() as store:
        request = ComparisonRequest(tuple(PAPERS), ABOUT, ComparisonOptions(votes=9, without=("elements",)))
        versions = comparison.provenance.corpus
        identifier = store.start("terminal", request, "extractive", None, versions).id
    done = run("compare", "--resume", identifier)
    assert done.exit_code == 0, done.stderr


@pytest.mark.parametrize("later", [0, 100])
def test_fault_a_resumed_comparison_did_not_say_that_its_corpus_is_gone(run, tmp_path, compare, later):
    comparison = comparison_of(compare, tmp_path)
    versions = tuple(replace(table, version=table.version + later) for table in comparison.provenance.corpus)
    with opened_comparisons() as store:
        request = ComparisonRequest(tuple(PAPERS), ABOUT)
        identifier = store.start("terminal", request, "extractive", None, versions).id
    done = run("compare", "--resume", identifier)
    assert done.exit_code == 0, done.stderr
    assert ("is no longer kept as it was" in " ".join(done.stderr.split())) == bool(later)


def comparison_of(compare, folder):
    path = folder / "of.json"
    assert compare("--trail", str(path)).exit_code == 0
    return comparison_from_json(path.read_text(encoding="utf-8"))


def drawn(progress):
    console = Console(width=100, color_system=None, force_terminal=False)
    with console.capture() as capture:
        console.print(progress_tree(progress))
    return capture.get()


def test_the_tree_shows_what_is_read_written_voted_lost_and_kept():
    papers = tuple(make_paper(label, "A text.") for label in (1, 2))
    progress = ComparisonProgress(Planned(papers, budget=None, remarks=(), rounds=2))
    assert drawn(progress).startswith("Comparing 2 papers")
    whole, losing = Candidate(1, None, "x [1]."), Candidate(2, None, "x.", lost=(1,))
    for event in (
        Extracted(KeyElements(0, "description")),
        Extracted(KeyElements(1, "abstract", problem="No JSON.")),
        Sampled(1, losing),
        Sampled(1, whole),
        Voted(1, Vote(1, 1)),
        Voted(1, Vote(2, None, problem="Malformed.")),
        Working(5, 2, Usage(1200, 300, 0.05)),
    ):
        progress = progress.after(event)
    shown = drawn(progress)
    assert "Key elements: 2 of 3 texts read, 1 could not be" in shown
    assert "Round 1 of 2 · [1] Title 1" in shown
    assert shown.index("candidate 1 ●") < shown.index("candidate 2. It lost [1].")
    assert "1 vote discarded" in shown
    assert "5 model calls, 2 of them before, 1,200 tokens sent, 300 received, $0.05" in shown
    finished = Round(1, (1,), (whole, losing), (Vote(1, 1), Vote(2, None)), (1, 2))
    shown = drawn(progress.after(RoundFinished(finished)))
    assert "Round 1 of 2: kept 1, 2 of 2 candidates, 2 votes, 1 discarded, 1 lost a reference" in shown
    assert "candidate 1, kept" in shown


def test_of_many_rounds_the_tree_shows_the_last_and_no_escape_of_a_title_reaches_the_terminal():
    papers = tuple(make_paper(label, "A text.") for label in range(1, 31))
    nasty = papers[29].paper
    nasty = papers[29].__class__(30, nasty.__class__(**{**_facts(nasty), "title": "a\x1b[2Jb"}), ())
    progress = ComparisonProgress(Planned((*papers[:29], nasty), budget=None, remarks=(), rounds=30))
    for number in range(1, 31):
        progress = progress.after(RoundFinished(Round(number, (number,), (), (), ())))
    shown = drawn(progress)
    assert shown.count("\n") < 15
    assert "22 rounds before" in shown
    assert "\x1b" not in shown


def _facts(paper):
    return {name: getattr(paper, name) for name in paper.__slots__}
