"""The kinds part: fitted on labelled questions by its command, read back, and asked of other questions."""

import json
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from assistant.learned.kinds import likeliest, read_kinds
from assistant.learned.parts import LearnedError
from training.__main__ import app

FORMS = {
    "how": "How does {} work in practice?",
    "definition": "What is {}?",
    "fact": "How many kinds of {} are there in total?",
    "overview": "What is known about {}?",
    "comparison": "Is {} better than its rivals?",
}
SUBJECTS = (
    "parsing",
    "tagging",
    "chunking",
    "stemming",
    "search",
    "ranking",
    "indexing",
    "reading",
    "writing",
)


def write_lines(path: Path, rows: list[dict[str, object]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def train(folder: Path, subjects: tuple[str, ...]) -> Result:
    """Run the command on questions in all forms about the subjects, and on one that only measures."""
    questions = folder / "data" / "questions"
    abstracts = [
        {"paper": subject, "title": subject, "year": 2020, "sentences": [f"We study {subject}."]}
        for subject in subjects
    ]
    asked = [
        {"paper": subject, "standalone": form.format(subject), "kind": kind, "answers": [0]}
        for subject in subjects
        for kind, form in FORMS.items()
    ]
    write_lines(questions / "papers_abstracts.jsonl", abstracts)
    write_lines(questions / "papers_questions.jsonl", asked)
    pooled = {"text": "We study parsing.", "title": "Parsing"}
    pool = {"id": "p1", "standalone": "Which papers are about parsing?", "kind": "list", "answers": [0]}
    write_lines(questions / "pools.jsonl", [{**pool, "pool": [pooled]}])
    places = {"full": [], "part": [], "leaning": [], "seen": []}
    judged = {"id": "j1", "corpus": "c", "kind": "overview", "answerable": False, **places}
    write_lines(folder / "judged.jsonl", [{**judged, "question": "What is known about rhyme?"}])
    unseen = {"id": "u1", "question": "How many kinds of glyphs are there?", "kind": "fact"}
    measured = write_lines(folder / "unseen.jsonl", [{**unseen, "expect": "answer", "expected_papers": []}])
    options = ("--data", folder / "data", "--out", folder, "--judged", folder / "judged.jsonl")
    return CliRunner().invoke(app, ["kinds", *map(str, options), "--unseen", str(measured)])


def test_kinds_are_learned_and_measured_on_questions_held_back(tmp_path: Path) -> None:
    result = train(tmp_path, SUBJECTS)
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout.splitlines()[-1])
    assert told["held_back"]["papers"] == {"questions": len(SUBJECTS) * len(FORMS), "right": 1.0}
    assert told["never_read"] == {"unseen": {"questions": 1, "right": 1.0}}
    card = read_kinds(tmp_path)
    assert likeliest(card, "What is lemmatising?") == "definition"
    assert likeliest(card, "What is lemmatising?", ("fact", "how")) in ("fact", "how")
    assert card.provenance["held_back"] == told["held_back"]
    again = (tmp_path / "kinds.json").read_bytes()
    assert train(tmp_path, SUBJECTS).exit_code == 0
    assert (tmp_path / "kinds.json").read_bytes() == again


def test_questions_of_too_few_papers_are_refused(tmp_path: Path) -> None:
    (tmp_path / "examples.toml").write_text("")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("training.kinds.EXAMPLES", tmp_path / "examples.toml")
        result = train(tmp_path, SUBJECTS[:1])
    assert result.exit_code == 2
    assert "too few" in result.stderr
    assert not (tmp_path / "kinds.json").exists()


@pytest.mark.parametrize("content", [None, b"{}", b"\xff"])
def test_a_card_that_cannot_be_read_is_named(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "kinds.json").write_bytes(content)
    with pytest.raises(LearnedError, match=r"kinds\.json"):
        read_kinds(tmp_path)
