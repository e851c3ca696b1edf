"""The commands that came with full texts: sources, reports, checks, tidying and a model's aspects."""

import json
from pathlib import Path
from typing import Any

import pytest

from corpus.encoders.base import Encoder
from corpus.store.corpus import Corpus
from tests.indexer.build.small_papers import write_paper_pdf, write_tei
from tests.indexer.command_line import run, run_json
from tests.standin_arxiv import Preprint, StandinArxiv
from tests.standin_chat import Received, StandinChat, refusal, reply

NOTES = ("--collection", "notes", "--title", "Notes")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with one paper of every format, and one that is none."""
    papers = tmp_path / "papers"
    write_tei(papers / "cats.tei.xml", "On cats", "We watch cats.")
    write_paper_pdf(papers / "dogs.pdf", "On Dogs")
    (papers / "owls.md").write_text(
        "# On owls\n\n## Abstract\n\nWe watch owls.\n\n## 1 Introduction\n\nThey hoot.\n"
    )
    (papers / "bats.txt").write_text(
        "On bats\n\nAbstract\n\nWe watch bats.\n\n1 Introduction\n\nThey fly at night.\n"
    )
    (papers / "empty.pdf").write_bytes(b"")
    return papers


def _corpus(home: Path, encoder: Encoder) -> Corpus:
    return Corpus.open(home / "corpus", encoder)


def test_a_folder_of_mixed_files_becomes_one_collection(home: Path, folder: Path, encoder: Encoder) -> None:
    report = run_json("folder", folder, *NOTES)
    (build,) = report["builds"]
    assert (build["added"], [failed["item"] for failed in build["failures"]]) == (4, ["empty.pdf"])
    assert report["run"]["parsers"].keys() == {"grobid", "pypdfium2", "markdown-it", "plain text"}
    assert {paper.title for paper in _corpus(home, encoder).papers()} == {
        "On cats",
        "On Dogs",
        "On owls",
        "On bats",
    }
    assert run_json("verify") == {"papers": 4, "passages": report["run"]["passages"], "problems": []}


def test_the_last_build_can_be_looked_at_again(home: Path, folder: Path) -> None:
    made = run_json("folder", folder, *NOTES)
    told = run_json("report")
    assert told["builds"][0]["failures"] == made["builds"][0]["failures"]
    assert told["run"]["passages"] == made["run"]["passages"] > 0
    assert told["run"]["peak_memory_mib"] > 0
    shown = run("report").stdout
    assert "empty.pdf" in shown
    assert "a second" in shown
    assert all(len(line) <= 80 for line in shown.splitlines())


def test_verify_ends_with_code_1_when_a_pdf_is_gone(home: Path, folder: Path) -> None:
    run("folder", folder, *NOTES)
    (pdf,) = (home / "pdf").glob("*.pdf")
    pdf.unlink()
    (problem,) = run_json("verify", code=1)["problems"]
    assert problem["item"] == "notes/dogs"
    assert "is no longer kept" in problem["text"]
    assert run_json("folder", folder, *NOTES)["builds"][0]["unchanged"] == 4
    assert run_json("verify")["problems"] == [], "an unchanged build brings it back"


def test_compact_frees_what_no_paper_needs_and_keeps_the_rest(home: Path, folder: Path) -> None:
    run("folder", folder, *NOTES)
    write_paper_pdf(folder / "dogs.pdf", "On Other Dogs")
    run("folder", folder, *NOTES)
    assert len(list((home / "pdf").glob("*.pdf"))) == 2
    (home / "staging").mkdir(exist_ok=True)
    (home / "staging" / "000001-old.papers.arrow").write_bytes(b"left over")
    before = run_json("status")
    freed = run_json("compact", "--keep-days", 1)
    assert freed["files_removed"] == 1
    assert freed["bytes_before"] > 0
    assert not list((home / "staging").glob("*"))
    assert run_json("status") == before
    assert run_json("verify")["problems"] == []
    assert run("compact").stdout.startswith("Freed 0.0 MiB")


def test_compact_without_a_corpus_says_so(home: Path) -> None:
    assert "There is no corpus" in run_json("compact", code=2)["error"]


def test_arxiv_papers_are_indexed(home: Path, encoder: Encoder, monkeypatch: pytest.MonkeyPatch) -> None:
    with StandinArxiv(
        {}, papers=(Preprint("2104.08663v4", "BEIR"), Preprint("2101.00001v1", "Other"))
    ) as server:
        monkeypatch.setenv("PAPER_TRAIL_ARXIV_URL", server.url)
        report = run_json("arxiv", "2104.08663", "9999.99999", *NOTES)
    (build,) = report["builds"]
    assert (build["added"], [failed["item"] for failed in build["failures"]]) == (1, ["9999.99999"])
    (paper,) = _corpus(home, encoder).papers()
    assert (paper.title, paper.arxiv_id) == ("BEIR", "2104.08663v4")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("acl",), "Name at least one volume"),
        (("acl", "P19-1", "--all"), "not both"),
        (("acl", "--pdfs", "nowhere"), "There is no folder nowhere"),
        (("arxiv", *NOTES), "query"),
        (("reparse", "--parser", "auto"), "Say which parser"),
        (("reparse",), "There is no corpus"),
        (("enrich", "--model", "any"), "There is no model 'any'. Available: none"),
    ],
)
def test_missing_arguments_are_named(home: Path, arguments: tuple[str, ...], message: str) -> None:
    assert message in run_json(*arguments, code=2)["error"]


def test_doctor_fails_for_a_missing_server(home: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run("folder", folder, *NOTES)
    found = run_json("doctor")
    assert found["encoder"]["state"] == "ok"
    assert found["grobid"]["state"] == "off"
    assert "encoder" in run("doctor").stdout
    monkeypatch.setenv("PAPER_TRAIL_GROBID_URL", "http://127.0.0.1:9")
    assert run_json("doctor", code=1)["grobid"]["state"] == "problem"


def _aspects(request: Received) -> Any:
    """Answer with sentences of the paper asked about, one of them invented."""
    animal = "cats" if "On cats" in request.body["messages"][1]["content"] else "owls"
    texts = {"challenge": "not stated", "approach": f"They watch {animal}.", "outcome": "Pigs fly 300 km."}
    return reply(json.dumps(texts))


def test_a_model_writes_aspects_and_only_what_the_paper_carries_is_kept(
    home: Path, tmp_path: Path, encoder: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    for animal in ("cats", "owls"):
        abstract = f"Little is known. We watch {animal}. They sleep most of the day."
        write_tei(tmp_path / "papers" / f"{animal}.tei.xml", f"On {animal}", abstract)
    run("folder", tmp_path / "papers", *NOTES)
    (tmp_path / "models.toml").write_text('[[models]]\nid = "small"\nprovider = "openai-compatible"\n')
    monkeypatch.setenv("PAPER_TRAIL_MODELS_FILE", str(tmp_path / "models.toml"))
    with StandinChat(default=_aspects) as server:
        monkeypatch.setenv("PAPER_TRAIL_MODEL_URL", server.url)
        done = run_json("enrich", "--model", "small")
        assert (done["written"], done["asked"], len(server.requests)) == (2, 2, 2)
        assert run_json("enrich", "--model", "small")["asked"] == 0
        assert len(server.requests) == 2
    papers = _corpus(home, encoder).papers()
    for paper in papers:
        approach = next(aspect for aspect in paper.aspects if aspect.name == "approach")
        assert approach.text == f"They watch {paper.title.removeprefix('On ')}."
        assert (approach.writer, approach.passage, approach.sentence) == ("small", 0, 1)
        assert not any("Pigs" in aspect.text for aspect in paper.aspects)
    assert run_json("verify")["problems"] == []


def test_a_model_that_fails_costs_nothing_that_was_there(
    home: Path, folder: Path, tmp_path: Path, encoder: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("folder", folder, *NOTES)
    before = _corpus(home, encoder).papers()
    (tmp_path / "models.toml").write_text('[[models]]\nid = "small"\nprovider = "openai-compatible"\n')
    monkeypatch.setenv("PAPER_TRAIL_MODELS_FILE", str(tmp_path / "models.toml"))
    with StandinChat(default=refusal(400, "no")) as server:
        monkeypatch.setenv("PAPER_TRAIL_MODEL_URL", server.url)
        failures = run_json("enrich", "--model", "small", code=2)["failures"]
    assert len(failures) == 4
    assert _corpus(home, encoder).papers() == before
