"""The command on summaries: from files of comparisons to figures, with gold text and a judge."""

from pathlib import Path

import pytest

from assistant.comparing.records import Comparison
from assistant.trail.comparison_file import comparison_to_json
from evaluation.summaries.summary import DIMENSIONS, sentences_of
from tests.evaluation.commands import figures_in, invoke
from tests.evaluation.conftest import Serve
from tests.evaluation.summaries.compared_summaries import SUMMARY, comparison_of
from tests.evaluation.summaries.test_judge import judging


def write(file: Path, comparison: Comparison) -> str:
    file.write_text(comparison_to_json(comparison), encoding="utf-8")
    return str(file)


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> str:
    return write(tmp_path_factory.mktemp("comparisons") / "ours.json", comparison_of())


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


def test_systems_of_two_files_are_judged_together(ours: str, tmp_path: Path, serve: Serve):
    other = write(tmp_path / "other.json", comparison_of(SUMMARY.replace("quick", "slow"), generator="judge"))
    server = serve(judging(lambda _, text: 2 if "slow" in text else 4))
    arguments = ["--comparison", ours, "--comparison", other, "--judge", "judge", "--votes", "3"]
    result = invoke("summary", *arguments)
    judged = figures_in(result)["judge"]
    assert (len(server.requests), judged["discarded"], judged["wrote"]) == (3, 0, ["other"])
    assert judged["dimensions"] == list(DIMENSIONS[1:])
    assert judged["systems"]["ours"]["overall"] == 4
    assert judged["systems"]["other"] == judged["systems"]["other"] | {"overall": 2, "best": 0}
    printed = " ".join(result.output.split())
    assert "The judge wrote other itself" in printed
    assert "asked 3 times" in printed
