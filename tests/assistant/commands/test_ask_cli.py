import json
import re
import subprocess
import sys

import pytest

from assistant.trail.transcript import from_json
from tests.assistant.asked_questions import NOT_ANSWERED, QUESTION
from tests.standin_chat import KEY_CANARY, StandinChat, cut_off, refusal, reply


@pytest.fixture
def ask(run):
    return lambda *arguments: run("ask", *arguments)


def only_document(output: str):
    """Return the JSON document that is everything on standard output."""
    assert output.count("\n") == 1
    return json.loads(output)


def check_answer(document):
    assert document.keys() == {
        "question",
        "search_query",
        "kind",
        "second_searches",
        "papers",
        "answer",
        "sentences",
        "relevance",
        "citation_recall",
        "citation_precision",
        "problems",
        "not_carried",
        "stands_in_for",
        "remark",
        "refusal",
        "usage",
        "seconds",
    }
    assert document["question"] == QUESTION
    assert document["search_query"]
    assert document["refusal"] is None
    labels = [paper["label"] for paper in document["papers"]]
    assert labels == list(range(1, len(labels) + 1))
    assert all(
        paper["id"].startswith("field-notes-retrieval/") and paper["title"] for paper in document["papers"]
    )
    assert len(document["sentences"]) >= 2
    for sentence in document["sentences"]:
        assert sentence["text"] in document["answer"]
        assert sentence["labels"] == [citation["label"] for citation in sentence["citations"]] != []
        for citation in sentence["citations"]:
            paper = document["papers"][citation["label"] - 1]
            assert citation["passage"].startswith(paper["id"] + "#")
            assert citation["evidence"]
            assert 0 <= citation["overlap"] <= 1
            assert citation["support"] is None or 0 <= citation["support"] <= 1
    assert document["seconds"].keys() == {"load", "rewrite", "retrieve", "write", "check"}


def test_the_command_prints_one_json_document_and_nothing_else(demo_home):
    arguments = ["ask", QUESTION, "--collection", "field-notes-retrieval", "--json"]
    done = subprocess.run(
        [sys.executable, "-m", "assistant", *arguments],
        env={
            "PAPER_TRAIL_HOME": str(demo_home),
            "PATH": "/usr/bin:/bin",
            "HOME": str(demo_home),
            "OMP_NUM_THREADS": "1",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    check_answer(only_document(done.stdout))
    assert done.stderr == ""


def test_json_and_the_number_of_papers(ask):
    done = ask(QUESTION, "--collection", "field-notes-retrieval", "--papers", "3", "--json")
    assert done.exit_code == 0
    document = only_document(done.stdout)
    check_answer(document)
    assert len(document["papers"]) == 3


def test_a_refusal_as_json_has_its_reason_and_the_nearest_passages(ask):
    done = ask(NOT_ANSWERED, "--json")
    assert done.exit_code == 0
    document = only_document(done.stdout)
    assert (document["answer"], document["sentences"]) == ("", [])
    assert document["refusal"]["reason"] == "not_about"
    assert document["refusal"]["message"]
    assert [nearest.keys() for nearest in document["refusal"]["nearest"]] == [
        {"passage", "paper", "title", "text"}
    ] * 3


def test_for_people_the_answer_comes_with_its_references(ask):
    done = ask(QUESTION, "--papers", "2")
    assert done.exit_code == 0
    assert "[1]" in done.stdout
    assert re.search(r"overlap \d\.\d\d \w+, support \d\.\d\d \w+", done.stdout)
    assert "Searched for:" in done.stderr
    assert "Searched for:" not in done.stdout


def test_for_people_a_refusal_comes_with_what_is_near(ask):
    done = ask(NOT_ANSWERED)
    assert done.exit_code == 0
    assert "No passage found in these 16 papers has the words" in done.stdout
    assert done.stdout.count("near:") == 3


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([""], "The question is empty"),
        (["why? " * 2000], "2,000 can be taken"),
        ([QUESTION, "--papers", "16"], "from 1 to 15, not 16"),
        ([QUESTION, "--collection", "no-such"], "no collection 'no-such'"),
        ([QUESTION, "--generator", "no-such"], "no writer 'no-such'. Available: extractive"),
        ([QUESTION, "--trail", "/no/such/folder/trail.json"], "in a folder that exists"),
        ([QUESTION, "--trail", "/nowhere/trail.json"], "Nothing can be written to"),
        ([QUESTION, "--trail", "trail.txt"], "as .json, .md or .html, not as '.txt'"),
        ([QUESTION, "--paper", "no-such"], "no paper 'no-such'"),
        ([QUESTION, "--query", "x" * 3000], "search query is longer than 2,000"),
        ([QUESTION, "--drafts", "99"], "number of drafts"),
        ([QUESTION, "--conversation", "no-such"], "no conversation 'no-such'"),
        ([QUESTION, "--conversation", ""], "--conversation was given no id"),
        ([QUESTION, "--temperature", "nan"], "temperature must be from 0 to 2, not nan"),
    ],
)
def test_what_goes_wrong_is_one_sentence_and_a_status(ask, arguments, words):
    done = ask(*arguments)
    assert done.exit_code == 2
    assert words in done.stderr
    assert done.stdout == ""
    as_json = ask(*arguments, "--json")
    assert as_json.exit_code == 2
    assert words in only_document(as_json.stdout)["error"]


def test_a_missing_corpus_is_named_with_what_to_do(ask, monkeypatch, tmp_path):
    monkeypatch.setenv("PAPER_TRAIL_HOME", str(tmp_path / "none"))
    done = ask(QUESTION)
    assert done.exit_code == 2
    assert "There is no corpus at" in done.stderr
    assert "paper-trail index demo" in done.stderr
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(
    ("name", "begins"),
    [("t.json", "{"), ("t.md", "# When is"), ("t.MD", "# When is"), ("t.html", "<!doctype html>")],
)
def test_the_trail_is_written_in_the_form_its_name_asks_for(ask, tmp_path, name, begins):
    done = ask(QUESTION, "--papers", "1", "--trail", str(tmp_path / name))
    assert done.exit_code == 0
    text = (tmp_path / name).read_text(encoding="utf-8")
    assert text.startswith(begins)
    if name == "t.json":
        assert from_json(text).turns[0].question == QUESTION


def test_a_model_of_ones_own_answers_from_the_terminal(ask, own_model, tmp_path):
    with StandinChat(reply("It needs no training data [1].")) as server:
        own_model(server)
        done = ask(QUESTION, "--generator", "own", "--json", "--trail", str(tmp_path / "t.json"))
    assert done.exit_code == 0
    document = only_document(done.stdout)
    assert (document["answer"], document["search_query"]) == ("It needs no training data [1].", QUESTION)
    assert KEY_CANARY not in done.stdout + done.stderr + (tmp_path / "t.json").read_text(encoding="utf-8")


def test_a_refused_key_is_one_sentence_and_no_trail(ask, own_model, tmp_path):
    with StandinChat(refusal(401, KEY_CANARY)) as server:
        own_model(server)
        done = ask(QUESTION, "--generator", "own", "--trail", str(tmp_path / "t.json"))
    assert done.exit_code == 2
    assert "PAPER_TRAIL_MODEL_API_KEY" in done.stderr
    assert KEY_CANARY not in done.stderr
    assert not (tmp_path / "t.json").exists()


def test_the_readers_own_query_scope_and_kind(ask):
    paper = "field-notes-retrieval/rank-fusion"
    done = ask(QUESTION, "--query", "reciprocal ranks", "--paper", paper, "--kind", "fact", "--json")
    document = only_document(done.stdout)
    assert (document["search_query"], document["kind"]) == ("reciprocal ranks", "fact")
    assert [paper["id"] for paper in document["papers"]] == [paper]


def test_parameters_reach_the_model_and_its_tokens_are_told(ask, own_model, tmp_path):
    with StandinChat(reply("It needs no training data [1].")) as server:
        own_model(server)
        done = ask(
            QUESTION, "--generator", "own", "--temperature", "0.9", "--max-tokens", "99", "--top-k", "7"
        )
        sent = server.requests[-1].body
    assert (sent["temperature"], sent["max_tokens"], sent["top_k"]) == (0.9, 99, 7)
    assert "11 tokens sent, 7 received" in done.stderr


def test_a_reply_with_a_fault_is_reported(ask, own_model, tmp_path):
    with StandinChat(cut_off("It needs no training data [1]. And it")) as server:
        own_model(server)
        done = ask(QUESTION, "--generator", "own")
    assert done.exit_code == 0
    assert "It needs no training data [1]." in done.stdout


def test_what_is_wrong_with_a_reply_that_is_not_used_is_said_and_what_it_took(ask, own_model):
    cut = reply("Walnuts float on a green sea of 17 violins [1].", finish_reason="length")
    with StandinChat(cut) as server:
        own_model(server)
        done = ask(QUESTION, "--generator", "own")
    assert "could not be used" in done.stderr and "so it is not shown" in done.stderr
    assert "The reply reached the longest length allowed" in done.stderr
    assert "tokens sent" in done.stderr


def test_a_conversation_is_begun_and_gone_on_with(ask):
    begun = only_document(ask(QUESTION, "--conversation", "new", "--json").stdout)
    identifier = begun["conversation"]
    done = ask("What are its limitations?", "--conversation", identifier, "--json")
    document = only_document(done.stdout)
    assert document["conversation"] == identifier
    assert "rank fusion" in document["search_query"].lower()


def test_an_answer_that_cannot_be_kept_is_printed_all_the_same(ask, monkeypatch, tmp_path):
    identifier = only_document(ask(QUESTION, "--conversation", "new", "--json").stdout)["conversation"]
    monkeypatch.setenv(
        "PAPER_TRAIL_CONVERSATIONS", f"sqlite:///file:{tmp_path / 'conversations.sqlite'}?mode=ro&uri=true"
    )
    done = ask(QUESTION, "--conversation", identifier, "--json")
    assert done.exit_code == 2
    document = only_document(done.stdout)
    assert document["answer"]
    assert "it is read-only" in document["error"]
