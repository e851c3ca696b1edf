"""The command on summaries: from files of comparisons to figures, with gold text, ablations and a judge."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from assistant.comparing.choice import open_comparative_generator
from assistant.comparing.compare import Comparer
from assistant.comparing.records import Comparison, ComparisonOptions
from assistant.trail.comparison_file import comparison_to_json
from corpus.encoders.base import SentenceEncoder
from corpus.settings import read_settings
from evaluation.__main__ import app
from evaluation.input_files import EvaluationError
from evaluation.summaries.tags import TAGS
from evaluation.summaries.summary import DIMENSIONS
from evaluation.summaries.summary import read_gold, rouge, sentences_of
from tests.assistant.comparing.compared_papers import open_compared_corpus, request_for
from tests.assistant.comparing.comparing_model import ComparingModel
from tests.evaluation.summaries.compared_summaries import SUMMARY, comparison_of
from tests.evaluation.summaries.test_judge import judging
from tests.standin_chat import StandinChat, refusal

GOLD = "Dense retrieval finds most answers (Lee et al., 2019), and fusion joins it with ranking by words [7]."


def write(file: Path, comparison: Comparison) -> str:
    file.write_text(comparison_to_json(comparison), encoding="utf-8")
    return str(file)


def run(*arguments: str) -> dict:
    result = CliRunner().invoke(app, ["summary", *arguments])
    assert result.exit_code == 0, result.output
    return json.loads(result.output.splitlines()[-1])


def failing(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["summary", *arguments])
    assert result.exit_code == 2, result.output
    return result.output


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> str:
    return write(tmp_path_factory.mktemp("comparisons") / "ours.json", comparison_of())


def test_the_figures_of_a_summary(ours: str):
    figures = run("--comparison", ours)
    (found,) = figures["systems"].values()
    assert (found["papers_covered"], found["papers"], found["sentences"]) == (3, 3, 3)
    assert (found["citation_recall"], found["citation_precision"]) == (0.75, 0.5)
    assert found["comparative_by_count"] == pytest.approx(1 / 3)
    assert found["words"] == 28
    assert found["comparative"] >= max(found["comparative_by_tag"], found["comparative_by_count"])
    assert sum(found["tags"].values()) == pytest.approx(1.0)
    assert found["tags"].keys() == set(TAGS)


def test_without_gold_rouge_is_left_out_and_not_zero(ours: str, tmp_path: Path):
    gold = tmp_path / "gold.txt"
    gold.write_text(GOLD, encoding="utf-8")
    without, with_gold = run("--comparison", ours), run("--comparison", ours, "--gold", str(gold))
    assert without["systems"]["ours"]["rouge"] is None
    assert "ROUGE" not in CliRunner().invoke(app, ["summary", "--comparison", ours]).output
    scores = with_gold["systems"]["ours"]["rouge"]
    assert 0 < scores["rouge2"] < scores["rouge1"] < 100


def test_rouge_heeds_neither_citations_nor_endings():
    assert rouge("Lee et al. rank passages [3].", "(Lee et al., 2019) ranked passage.") == {
        "rouge1": 100.0,
        "rouge2": 100.0,
        "rougeL": 100.0,
    }


def test_the_classifiers_own_figures_are_printed_below(ours: str):
    printed = CliRunner().invoke(app, ["summary", "--comparison", ours]).output
    assert "macro-F1" in printed
    assert "F1 on papers held back" in printed
    assert "Real sections" in " ".join(printed.split())
    assert run("--comparison", ours, "--json")["classifier"]["held_out"]["macro_f1"] > 0.7


def test_with_json_only_the_line_of_figures_is_printed(ours: str):
    printed = CliRunner().invoke(app, ["summary", "--comparison", ours, "--json"]).stdout
    assert json.loads(printed)["judge"] is None


@pytest.mark.parametrize(
    ("text", "paragraphs"),
    [
        (
            "# Related work\nOne [1]. Two [2].\n\n- Three [3].\n- Four.",
            (("One [1].", "Two [2]."), ("Three [3].", "Four.")),
        ),
        ("1. **One** is\nbroken [1].", (("One is broken [1].",),)),
        ("", ()),
        ("[1]", (("[1]",),)),
        ("## Only a heading", ()),
    ],
)
def test_sentences_stand_in_paragraphs_without_headings_and_marks(text, paragraphs):
    assert sentences_of(text) == paragraphs


def test_a_comparison_that_wrote_nothing_has_no_shares(tmp_path: Path):
    found = run("--comparison", write(tmp_path / "empty.json", comparison_of("")))["systems"]["empty"]
    assert found["comparative"] is None
    assert (found["papers_covered"], found["words"], found["sentences"]) == (0, 0, 0)


def test_what_cannot_be_measured_is_said(ours: str, tmp_path: Path):
    (tmp_path / "bad.json").write_text("{}", encoding="utf-8")
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "gold.txt").write_text(" \n", encoding="utf-8")
    assert "bad.json" in failing("--comparison", str(tmp_path / "bad.json"))
    assert "cannot be read" in failing("--comparison", str(tmp_path / "none.json"))
    assert "is no text" in failing("--comparison", str(tmp_path / "bytes.json"))
    assert "has no words" in failing("--comparison", ours, "--gold", str(tmp_path / "gold.txt"))
    assert "given twice" in failing(*["--comparison", ours] * 3)
    assert "cannot be left out" in failing("--comparison", ours, "--without", "votes")
    assert "no model 'nobody' to judge" in failing("--comparison", ours, "--judge", "nobody")


def test_a_gold_text_of_any_size_is_not_read(tmp_path: Path):
    (tmp_path / "gold.txt").write_text("word " * 500_000, encoding="utf-8")
    with pytest.raises(EvaluationError, match="too large"):
        read_gold(tmp_path / "gold.txt")


def test_systems_of_two_files_are_judged_together(ours: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    other = write(tmp_path / "other.json", comparison_of(SUMMARY.replace("quick", "slow"), generator="judge"))
    models = tmp_path / "models.toml"
    models.write_text('[[models]]\nid = "judge"\nstructured = true\ncontext = 32768\n', encoding="utf-8")
    monkeypatch.setenv("PAPER_TRAIL_MODELS_FILE", str(models))
    with StandinChat(default=judging(lambda _, text: 2 if "slow" in text else 4)) as server:
        monkeypatch.setenv("PAPER_TRAIL_MODEL_URL", server.url)
        arguments = ["summary", "--comparison", ours, "--comparison", other]
        result = CliRunner().invoke(app, [*arguments, "--judge", "judge", "--votes", "3"])
    assert result.exit_code == 0, result.output
    judged = json.loads(result.output.splitlines()[-1])["judge"]
    assert (len(server.requests), judged["discarded"], judged["wrote"]) == (3, 0, ["other"])
    assert judged["dimensions"] == list(DIMENSIONS[1:])
    assert judged["systems"]["ours"]["overall"] == 4
    assert judged["systems"]["other"] == judged["systems"]["other"] | {"overall": 2, "best": 0}
    printed = " ".join(result.output.split())
    assert "The judge wrote other itself" in printed
    assert "asked 3 times" in printed


def test_a_judge_who_fails_is_reported_beside_the_other_figures(
    ours: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    models = tmp_path / "models.toml"
    models.write_text('[[models]]\nid = "judge"\ncontext = 32768\n', encoding="utf-8")
    monkeypatch.setenv("PAPER_TRAIL_MODELS_FILE", str(models))
    with StandinChat(default=refusal(400, "broken")) as server:
        monkeypatch.setenv("PAPER_TRAIL_MODEL_URL", server.url)
        figures = run("--comparison", ours, "--judge", "judge", "--votes", "2")
    assert figures["judge"]["discarded"] == 2
    assert figures["judge"]["systems"]["ours"]["overall"] is None
    assert figures["systems"]["ours"]["words"] == 28


def test_what_was_compared_without_a_model_has_no_parts_to_leave_out(
    encoder: SentenceEncoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("PAPER_TRAIL_HOME", str(tmp_path))
    corpus = open_compared_corpus(tmp_path / "corpus", encoder)
    comparer = Comparer(corpus, encoder, open_comparative_generator("extractive", read_settings(), encoder))
    *_, last = comparer.compare(request_for(3), identifier="whole")
    whole = write(tmp_path / "whole.json", last.comparison)
    for part in ("elements", "increments", "reflection"):
        refused = failing("--comparison", whole, "--without", part)
        assert f"Leaving out {part} is not applicable. Without a model" in refused


def test_reflection_cannot_be_left_out_of_one_sample(
    encoder: SentenceEncoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("PAPER_TRAIL_HOME", str(tmp_path))
    models = tmp_path / "models.toml"
    models.write_text('[[models]]\nid = "m"\ncontext = 32768\n', encoding="utf-8")
    monkeypatch.setenv("PAPER_TRAIL_MODELS_FILE", str(models))
    open_compared_corpus(tmp_path / "corpus", encoder)
    made = replace(comparison_of(generator="m"), options=ComparisonOptions(samples=1))
    whole = write(tmp_path / "whole.json", made)
    with StandinChat(default=ComparingModel()) as server:
        monkeypatch.setenv("PAPER_TRAIL_MODEL_URL", server.url)
        refused = failing("--comparison", whole, "--without", "reflection")
    assert "not applicable" in refused
    assert "nothing to vote on" in " ".join(refused.split())
    assert server.requests == []


def test_an_ablation_by_a_model_says_its_calls_and_makes_none_again(
    encoder: SentenceEncoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("PAPER_TRAIL_HOME", str(tmp_path))
    models = tmp_path / "models.toml"
    models.write_text('[[models]]\nid = "m"\nstructured = true\ncontext = 32768\n', encoding="utf-8")
    monkeypatch.setenv("PAPER_TRAIL_MODELS_FILE", str(models))
    corpus = open_compared_corpus(tmp_path / "corpus", encoder)
    model = ComparingModel()
    with StandinChat(default=model) as server:
        monkeypatch.setenv("PAPER_TRAIL_MODEL_URL", server.url)
        generator = open_comparative_generator("m", read_settings(), encoder)
        *_, last = Comparer(corpus, encoder, generator).compare(request_for(2, votes=1), identifier="whole")
        whole = write(tmp_path / "whole.json", last.comparison)
        before = dict(model.counts)
        arguments = ["--comparison", whole, "--without", "increments", "--json"]
        result = CliRunner().invoke(app, ["summary", *arguments])
    assert result.exit_code == 0, result.output
    assert "whole, without increments: 6 model calls at most." in result.stderr
    assert model.counts == before | {"compare": before["compare"] + 2, "vote": before["vote"] + 1}
    systems = json.loads(result.stdout)["systems"]
    assert [one["papers_covered"] for one in systems.values()] == [2, 2]
