"""The About screen: its parts, and what they say of builds, writers and scores."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from corpus.measured import MeasuredCorpus, Share, write_measured
from corpus.records import Build, Failure, ParserCount, Remark
from corpus.settings import Settings
from corpus.store.manifest import read_manifest
from explorer.about.builds import build_rows, failures, format_effort, format_parsers, last_builds, remarks
from explorer.about.models import not_offered, offered, parameter_rows
from explorer.about.scores import Quality, format_quality
from explorer.about.screen import PARTS
from tests.explorer.asking import texts

Screen = Callable[..., AppTest]
ONCE = Build("1", "a", "2026-01-01T00:00:00+00:00", 4.0, "e", "0", 2, 0, 0, 0, 20)
LATER = Build(
    "2", "a", "2026-02-01T00:00:00+00:00", 2.5, "e", "0", 1, 1, 2, 0, 30,
    (Failure("x.pdf", "it is <b>empty</b>\nand more"),), (Remark("y.pdf", "a page was left out"),),
    (ParserCount("pypdfium2", 1), ParserCount("", 3)), 812,
)  # fmt: skip
OTHER = Build("3", "b", "2025-02-01T00:00:00+00:00", 1.0, "e", "0", 1, 0, 0, 0, 5)
TITLES = {"a": "Title A", "b": "Title B"}


@pytest.mark.parametrize("part", PARTS)
def test_every_part_is_drawn_and_its_address_restores_it(screen: Screen, part: str) -> None:
    test = screen("about", part=part)
    assert not test.exception
    assert test.header[0].value == part
    assert "Apache-2.0" in texts(test)


def test_about_says_what_is_here(screen: Screen) -> None:
    test = screen("about", part="no such part")
    assert not test.exception
    assert list(test.dataframe[0].value["Papers"]) == [8, 8]
    test.pills(key="part").set_value("How it was built").run()
    built = test.dataframe[0].value
    assert list(built["New"]) == [8, 8] and list(built["Read by"]) == ["8 by pypdfium2"] * 2
    assert "all\\-MiniLM" in texts(test) and "MiB of memory" in texts(test)
    test.pills(key="part").set_value("Who writes").run()
    assert "Extractive" in texts(test) and "TOGETHER_API_KEY" in texts(test)
    test.pills(key="part").set_value("What was learned").run()
    assert "canard \\(CC BY\\-SA 4\\.0\\)" in texts(test)


def test_an_unfit_part_is_out_of_use(screen: Screen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "followups.json").write_text("{}")
    monkeypatch.setenv("PAPER_TRAIL_LEARNED", str(tmp_path))
    said = texts(screen("about", part="What was learned"))
    assert "Plain rules stand in for it" in said and str(tmp_path) not in said


def test_a_corpus_without_a_record_of_its_builds_says_how_to_have_one(
    screen: Screen, demo_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(demo_home / "corpus", tmp_path / "corpus")
    manifest = tmp_path / "corpus" / "manifest.json"
    stored = json.loads(manifest.read_text())
    # The first version of a table is that of an empty one.
    stored["versions"]["builds"] = 1
    manifest.write_text(json.dumps(stored))
    monkeypatch.setenv("PAPER_TRAIL_HOME", str(tmp_path))
    test = screen("about", part="How it was built")
    assert not test.exception
    assert "no record of its builds" in texts(test)


def test_the_last_build_of_each_collection_is_a_row_and_what_failed_is_listed_with_its_reason() -> None:
    assert last_builds((ONCE, LATER, OTHER), ("b", "a")) == (OTHER, LATER)
    assert last_builds((LATER, ONCE, OTHER), ("a", "gone")) == (LATER,)
    assert last_builds((), ("a",)) == ()
    (row,) = build_rows((LATER,), TITLES)
    assert row == {
        "Collection": "Title A", "Built": "1 February 2026", "New": 1, "Changed": 1, "Same": 2, "Gone": 0,
        "Failed": 1, "Remarks": 1, "Seconds": 2.5, "Read by": "3 from metadata alone, 1 by pypdfium2",
    }  # fmt: skip
    assert failures((LATER, OTHER), TITLES) == [
        {"Paper": "x.pdf", "Why": "it is <b>empty</b> and more", "Collection": "Title A"}
    ]
    assert remarks((LATER,), {})[0] == {"Paper": "y.pdf", "Remark": "a page was left out", "Collection": "a"}
    assert format_effort((LATER, OTHER)) == "35 passages in 3.5 s and at most 812 MiB of memory."
    assert format_effort(()) == format_parsers(()) == ""


def test_the_menu_says_where_questions_go_with_which_parameters_and_never_a_password(tmp_path: Path) -> None:
    assert offered(Settings()) == ()
    assert set(not_offered(Settings())) == {"TOGETHER_API_KEY", "PAPER_TRAIL_MODEL_URL"}
    models = tmp_path / "models.toml"
    models.write_text(
        '[[models]]\nid = "mine"\nlabel = "Mine"\ncontext = 4096\nprice_in = 1\nprice_out = 2.5\n'
    )
    own = Settings(model_url="http://me:secret@llm.example.org:8000/v1", models_file=models)
    first, *others = offered(own)
    assert (first.label, first.place) == ("Mine", "Questions and passages go to the server llm.example.org.")
    assert first.facts[0] == "takes in 4,096 tokens"
    assert first.facts[2] == "$1.00 for a million tokens read, $2.50 written"
    assert "price not known here" in others[0].facts
    assert "secret" not in str(offered(own)) and set(not_offered(own)) == {"TOGETHER_API_KEY"}
    rows = {row["Parameter"]: row for row in parameter_rows(Settings(top_k=40))}
    assert rows["Temperature"]["Here"] == "0.2" and rows["Temperature"]["May be"] == "0 to 2"
    assert rows["Top-k"]["Here"] == "40" and rows["Repetition penalty"]["Here"] == "not sent"


def test_a_hosted_model_is_said_to_be_asked_over_the_internet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOGETHER_API_KEY", "canary")
    models = offered(Settings())
    assert models and all("Together AI, over the internet" in model.place for model in models)
    assert all(any(fact.startswith("licence of its weights: ") for fact in model.facts) for model in models)
    assert "canary" not in str(models)


def test_what_the_weights_say_of_themselves_is_said_in_cases() -> None:
    known, others = ({"with the network": {"X": {"auroc": auroc}, "below": {}}} for auroc in (0.799, 0.7))
    found = {"judged": {"Y": 1200}, "scaled_on": {"X": 90}, "cross_validated": known}
    said = format_quality(Quality.model_validate(found | {"other_sets_only": others}))
    assert "taught by claims that people have judged: 1,200 of Y." in said[0] and "90 of X" in said[0]
    assert "X: 79, and weighed without that set 70" in said[1]


def test_figures_are_of_this_version(screen: Screen, home: Path, request: pytest.FixtureRequest) -> None:
    path = Settings(home=home).measured_path
    request.addfinalizer(lambda: path.unlink(missing_ok=True))
    assert "has not been measured" in texts(screen("about", part="How well it does"))
    manifest = read_manifest(home / "corpus")
    shares = (
        Share("papers found <b>first</b>\nby title", 0.984, 16),
        Share("refused", 0.0, 8, is_good=False),
    )
    made = MeasuredCorpus(
        shares, manifest.versions, manifest.encoder_sha256, "2026-11-23", "P", "command [x](y)"
    )
    write_measured(path, made)
    shown = screen("about", part="How well it does")
    table = shown.dataframe[0].value
    assert list(table["Measured"]) == ["98 %", "0 %"] and list(table["Best"]) == ["100 %", "0 %"]
    assert "\n" not in table["Share of"][0]
    assert "2026\\-11\\-23" in texts(shown) and "[x](y)" not in texts(shown)
    write_measured(path, replace(made, versions={"papers": 1}))
    earlier = screen("about", part="How well it does")
    assert "An earlier version" in texts(earlier) and not earlier.dataframe
    path.write_text("no figures", encoding="utf-8")
    assert "cannot be read" in texts(screen("about", part="How well it does"))
