"""`enrich` over a stand-in server: what a model is asked, for how much, and what it may not do."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from corpus.encoders.base import Encoder
from corpus.store.corpus import Corpus
from tests.indexer.build.small_papers import write_tei
from tests.indexer.command_line import run, run_json
from tests.standin_chat import Behaviour, Received, StandinChat, reply

ANIMALS = ("bats", "cats", "dogs", "owls")
IDS = [f"notes/{animal}" for animal in ANIMALS]
Models = Callable[..., None]


@pytest.fixture
def models(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Models:
    """Index four papers, and return a function that writes the models file: "small", with these fields."""
    for animal in ANIMALS:
        abstract = f"Little is known. We watch {animal} at night. They sleep most of the day."
        write_tei(tmp_path / "papers" / f"{animal}.tei.xml", f"On {animal}", abstract)
    run("folder", tmp_path / "papers", "--collection", "notes", "--title", "Notes")
    monkeypatch.setenv("PAPER_TRAIL_MODELS_FILE", str(tmp_path / "models.toml"))

    def write(**fields: Any) -> None:
        entry = {"id": "small", "provider": "openai-compatible"} | fields
        lines = (f"{name} = {json.dumps(value)}" for name, value in entry.items())
        (tmp_path / "models.toml").write_text("\n".join(["[[models]]", *lines]))

    write()
    return write


@pytest.fixture
def server(models: Models, monkeypatch: pytest.MonkeyPatch) -> Any:
    with StandinChat(default=_of_its_paper) as standin:
        monkeypatch.setenv("PAPER_TRAIL_MODEL_URL", standin.url)
        yield standin


def _animal(request: Received) -> str:
    return next(animal for animal in ANIMALS if f"On {animal}" in request.body["messages"][1]["content"])


def _text(request: Received) -> str:
    approach = f"They watch {_animal(request)} at night."
    return json.dumps({"challenge": "not stated", "approach": approach, "outcome": "not stated"})


def _of_its_paper(request: Received) -> Behaviour:
    return reply(_text(request))


def _approaches(home: Path, encoder: Encoder) -> dict[str, str]:
    """Return the approaches that the model wrote, by paper."""
    papers = Corpus.open(home / "corpus", encoder).papers()
    written = ((paper.id, aspect) for paper in papers for aspect in paper.aspects if aspect.writer)
    return {paper: aspect.text for paper, aspect in written if aspect.name == "approach"}


def test_a_model_that_thinks_gets_the_tokens_that_its_entry_says(models: Models, server: StandinChat) -> None:
    """Every reply was cut at 400 tokens: a model that thinks first came to its end without a word."""
    run("enrich", "--model", "small", "--papers", IDS[0])
    models(max_tokens=4000)
    run("enrich", "--model", "small", "--papers", IDS[1])
    models(max_tokens=4000, context=4096)
    run("enrich", "--model", "small", "--papers", IDS[2])
    assert [request.body["max_tokens"] for request in server.requests] == [400, 4000, 2048]
    assert {request.body["temperature"] for request in server.requests} == {0.0}


def test_a_small_model_writes_only_where_it_is_told_to(models: Models, server: StandinChat) -> None:
    models(parameters=1.5)
    refused = run("enrich", "--model", "small", "--papers", IDS[0], code=2)
    assert "no better than those chosen" in " ".join(refused.output.split()) and not server.requests
    run("enrich", "--model", "small", "--papers", IDS[0], "--anyway")
    assert len(server.requests) == 1


def test_a_server_that_runs_another_model_is_named(models: Models, server: StandinChat) -> None:
    server.default = lambda request: replace(_of_its_paper(request), served="other")
    said = " ".join(run("enrich", "--model", "small", "--papers", IDS[0]).output.split())
    assert "The server says that other wrote, not small." in said
    assert run_json("enrich", "--model", "small", "--papers", IDS[1], "--json")["served"] == ["other"]


@pytest.mark.parametrize("named", ["", " , "])
def test_an_empty_list_of_papers_is_refused(models: Models, server: StandinChat, named: str) -> None:
    """An unset variable had every paper of the corpus written, and paid for."""
    done = run("enrich", "--model", "small", "--papers", named, code=2)
    assert "--papers names no paper" in " ".join(done.output.split())
    assert not server.requests


def test_a_long_paper_is_cut_to_a_small_context(
    tmp_path: Path, models: Models, server: StandinChat, home: Path, encoder: Encoder
) -> None:
    """Each paper with a long abstract was refused by the server (HTTP 400)."""
    sleep = (
        f"In house {n} they sleep for 12 hours of every day of the year in all weathers." for n in range(60)
    )
    abstract = f"We watch cats at night. {' '.join(sleep)}"
    write_tei(tmp_path / "papers" / "cats.tei.xml", "On cats", abstract)
    run("folder", tmp_path / "papers", "--collection", "notes", "--title", "Notes")
    models(context=2048)
    assert run_json("enrich", "--model", "small")["written"] == 4
    lengths = [
        sum(len(message["content"]) for message in request.body["messages"]) for request in server.requests
    ]
    assert max(lengths) <= (2048 - 400) * 3
    assert _approaches(home, encoder)["notes/cats"] == "They watch cats at night."


def test_a_paper_that_does_not_fit_fails(tmp_path: Path, models: Models, server: StandinChat) -> None:
    write_tei(tmp_path / "papers" / "cats.tei.xml", "On cats", "We watch " + "very " * 400 + "big cats.")
    run("folder", tmp_path / "papers", "--collection", "notes", "--title", "Notes")
    models(context=2048, max_tokens=1000)
    done = run_json("enrich", "--model", "small", code=0)
    (failure,) = done["failures"]
    assert failure["item"] == "notes/cats"
    assert "not a sentence of it fits into what small takes in (2,048 tokens" in failure["reason"]
    assert (done["written"], done["plan"]["asked"], len(server.requests)) == (3, 3, 3)
    assert done["plan"]["failures"] == done["failures"]


def test_calls_at_once_are_limited(server: StandinChat, monkeypatch: pytest.MonkeyPatch) -> None:
    server.default = lambda request: reply(_text(request), wait_before=0.1)
    monkeypatch.setenv("PAPER_TRAIL_MODEL_CALLS", "2")
    assert run_json("enrich", "--model", "small")["written"] == 4
    assert server.most_at_once == 2


def test_schemas_are_sent_where_supported(models: Models, server: StandinChat) -> None:
    run("enrich", "--model", "small", "--papers", IDS[0])
    models(structured=True)
    run("enrich", "--model", "small", "--papers", IDS[1])
    told, held = (request.body for request in server.requests)
    assert "response_format" not in told
    assert "JSON schema" in told["messages"][0]["content"]
    schema = held["response_format"]["json_schema"]["schema"]
    assert set(schema["required"]) == {"challenge", "approach", "outcome"}
    assert "JSON schema" not in held["messages"][0]["content"]


@pytest.mark.parametrize("around", [("<think>Pigs?</think>", ""), ("Pigs, I think.\n</think>\n", "")])
def test_thoughts_round_the_reply_are_none_of_it(
    around: tuple[str, str], server: StandinChat, home: Path, encoder: Encoder
) -> None:
    server.default = lambda request: reply(_text(request).join(around))
    done = run_json("enrich", "--model", "small")
    assert (done["written"], done["calls"]) == (4, 4), "no reply had to be asked for again"
    assert _approaches(home, encoder) == {
        f"notes/{animal}": f"They watch {animal} at night." for animal in ANIMALS
    }


def test_thoughts_that_use_all_tokens_are_a_failure_that_says_so(server: StandinChat) -> None:
    server.default = reply("<think>Pigs? Or", finish_reason="length")
    done = run_json("enrich", "--model", "small", "--papers", IDS[0], code=2)
    (failure,) = done["failures"]
    assert "it ran out of tokens" in failure["reason"]
    assert "question" not in failure["reason"], "nobody asked one"
    assert (done["calls"], done["usage"]["completion_tokens"]) == (2, 14)


def test_papers_are_chosen_by_their_ids(server: StandinChat, home: Path, encoder: Encoder) -> None:
    done = run_json("enrich", "--model", "small", "--papers", f"{IDS[0]}, {IDS[1]}", "--papers", IDS[3])
    assert (done["asked"], len(server.requests)) == (3, 3)
    assert _approaches(home, encoder).keys() == {IDS[0], IDS[1], IDS[3]}
    done = run_json("enrich", "notes", "--model", "small", "--papers", IDS[2], "--papers", IDS[3])
    assert (done["asked"], done["plan"]["written"]) == (1, 1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--papers", "notes/cats,notes/pigs,cows"), "The corpus has no paper 'notes/pigs' or 'cows'."),
        (("nots",), "The corpus has no collection 'nots'. It holds: notes, prints."),
        (("prints", "--papers", "notes/cats"), "Collection prints has no paper 'notes/cats'."),
    ],
)
def test_what_the_corpus_does_not_hold_is_named_and_nothing_is_asked(
    tmp_path: Path, server: StandinChat, arguments: tuple[str, ...], message: str
) -> None:
    write_tei(tmp_path / "prints" / "cows.tei.xml", "On cows", "We watch cows.")
    run("folder", tmp_path / "prints", "--collection", "prints", "--title", "Prints")
    for more in ((), ("--dry-run",)):
        assert message in run_json("enrich", "--model", "small", *arguments, *more, code=2)["error"]
    assert not server.requests


def test_a_dry_run_says_what_it_takes_and_asks_nothing(models: Models, server: StandinChat) -> None:
    models(price_in=3.0, price_out=9.0)
    plan = run_json("enrich", "--model", "small", "--dry-run")["plan"]
    assert (plan["papers"], plan["asked"], plan["completion_tokens"]) == (4, 4, 4 * 170)
    assert plan["price"] == pytest.approx((plan["prompt_tokens"] * 3 + 4 * 170 * 9) / 1e6)
    said = " ".join(run("enrich", "--model", "small", "--dry-run").stdout.split())
    assert "small is asked about 4 papers: about" in said
    assert f"about {plan['prompt_tokens']:,} tokens sent and 680 received, about $0.0" in said
    models(max_tokens=4000)
    plan = run_json("enrich", "--model", "small", "--dry-run")["plan"]
    assert (plan["completion_tokens"], plan["price"]) == (16_000, None)
    assert "price not known" in run("enrich", "--model", "small", "--dry-run").stdout
    assert not server.requests
    models(provider="local")
    assert "free on this machine" in run("enrich", "--model", "small", "--dry-run").stdout
    assert run_json("enrich", "--model", "small", "--dry-run")["plan"]["price"] == 0.0


def test_what_was_sent_is_no_more_than_what_was_said_before(server: StandinChat) -> None:
    plan = run_json("enrich", "--model", "small", "--dry-run")["plan"]
    done = run_json("enrich", "--model", "small")
    assert done["plan"] == plan
    sent = [message["content"] for request in server.requests for message in request.body["messages"]]
    assert sum(map(len, sent)) / 4 < plan["prompt_tokens"] < sum(map(len, sent))


def test_a_run_says_what_it_took_and_left_out(models: Models, server: StandinChat) -> None:
    models(price_in=3.0, price_out=9.0)
    server.behaviours.append(reply("Sure!"))
    done = run("enrich", "--model", "small", "--papers", IDS[0])
    wrote = (
        "small wrote for 1 of 1 paper (1 sentence of it kept, 0 of the papers in place of others), in 2 calls"
    )
    assert f"{wrote}: 22 tokens sent and 14 received, $0.0002." in done.stdout
    rest = run("enrich", "--model", "small")
    assert "small is asked about 3 papers (not about 1 of which it has written before)" in rest.stderr
    again = run("enrich", "--model", "small")
    assert "small is asked about 0 papers" in again.stderr
    assert "small wrote for 0 of 0 papers, without a call." in again.stdout
    assert len(server.requests) == 5
