import json
from pathlib import Path

from typer.testing import CliRunner

from evaluation.__main__ import app
from tests.other_languages import TEXTS


def run(*options: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["languages", *options])
    return result.exit_code, result.output


def test_languages_are_measured_on_questions_and_abstracts(tmp_path: Path) -> None:
    english = tmp_path / "english.jsonl"
    english.write_text('{"question": "What is BM25?"}\n{"query": "Wie misst man die Treue?"}\n')
    (tmp_path / "xml").mkdir()
    papers = "".join(
        f'<paper id="{code}"><title>x</title><abstract>{text}</abstract><language>{code}</language></paper>'
        for code, text in TEXTS.items()
    )
    own = f"<paper id='1'><abstract>{TEXTS['en']}</abstract></paper>"
    (tmp_path / "xml" / "2022.acl.xml").write_text(f"<collection>{papers}{own}</collection>")
    code, output = run("--english", str(english), "--anthology", str(tmp_path))
    figures = json.loads(output.splitlines()[-1])
    assert code == 0
    assert "taken for another language: Wie misst man die Treue?" in output
    assert figures["foreign_told"] >= 0.95 * figures["foreign"] > 50
    assert (figures["english"], figures["english_refused"]) == (2, 1)
    assert (figures["papers"], figures["papers_right"]) == (len(TEXTS), len(TEXTS))
    assert (figures["english_papers"], figures["english_papers_wrong"]) == (1, 0)


def test_a_folder_that_is_no_anthology_is_named(tmp_path: Path) -> None:
    code, output = run("--anthology", str(tmp_path))
    assert code != 0
    assert "no data directory of the ACL Anthology" in " ".join(output.split())
