"""Questions written beforehand, asked of the demonstration by the command, without a model."""

import json
from collections import Counter
from pathlib import Path

import pytest
from typer.testing import CliRunner

from corpus.store.corpus import Corpus
from evaluation.__main__ import app
from evaluation.answers.judge import asked_of_all, is_answer, not_asked_of_all, read_systems
from evaluation.answers.questions import (
    QUESTIONS,
    Outcome,
    WrittenQuestion,
    question_figures,
    read_questions,
)
from tests.standin_chat import StandinChat, reply

BM25 = "field-notes-retrieval/bm25"
ROUGE = "field-notes-evaluation/rouge"
PARAMETERS = {
    "id": "parameters",
    "question": "What do the parameters k1 and b of BM25 control?",
    "expect": "answer",
    "expected_papers": [BM25],
    "kind": "fact",
    "part": "dev",
    "corpus": "demo",
}
CLICKBAIT = {
    "id": "clickbait",
    "question": "How can clickbait headlines be spoiled?",
    "expect": "refuse",
    "expected_papers": [],
    "kind": "how",
    "part": "dev",
    "corpus": "demo",
}
FOLLOW_UP = {
    "id": "follow-up",
    "question": "What errors can it not see?",
    "history": ["What does ROUGE measure?"],
    "paper": ROUGE,
    "collection": "field-notes-evaluation",
    "expect": "answer",
    "expected_papers": [ROUGE],
    "kind": "list",
    "part": "kept",
    "corpus": "demo",
}
ELSEWHERE = {**CLICKBAIT, "id": "elsewhere", "collection": "2022.acl-long", "corpus": "acl2022"}


def written(folder: Path, *lines: object) -> Path:
    file = folder / "questions.jsonl"
    file.write_text("".join(f"{one if isinstance(one, str) else json.dumps(one)}\n" for one in lines))
    return file


def outcome(row: WrittenQuestion, cited: tuple[str, ...] = (), *, refused: bool = False) -> Outcome:
    return Outcome(
        id=row.id,
        question=row.question,
        text="",
        kind="synthesis",
        search_query=row.question,
        found=("first", "second"),
        cited=cited,
        relevance=None,
        citation_recall=None,
        citation_precision=None,
        support=(),
        refusal_reason="nothing_relevant" if refused else None,
        refusal="" if refused else None,
        seconds=1.0,
    )


def test_questions_are_asked_in_their_conversation_counted_and_written_out(demo_home: Path, tmp_path: Path):
    data = written(tmp_path, PARAMETERS, CLICKBAIT, FOLLOW_UP, ELSEWHERE)
    answers = tmp_path / "answers.jsonl"
    asked = ["questions", "--data", str(data), "--corpus", str(demo_home), "--out", str(answers)]
    done = CliRunner().invoke(app, [*asked, "--corpus-name", "demo"])
    assert done.exit_code == 0, done.output
    figures = json.loads(done.stdout.splitlines()[-1])
    assert figures["questions"] == 3
    assert figures["answered"] == figures["expected_found"] == figures["expected_cited"] == 1.0
    assert (figures["refused_wrongly"], figures["refused_rightly"]) == (0.0, 1.0)
    assert figures["seconds_median"] > 0
    assert set(figures["kinds"]) == {"list", "fact", "how"}
    assert "3 questions" in done.stdout

    parameters, clickbait, follow_up = map(json.loads, answers.read_text().splitlines())
    assert parameters["found"][0] == BM25
    assert BM25 in parameters["cited"]
    assert "[1]" in parameters["text"]
    assert parameters["refusal"] is parameters["refusal_reason"] is None
    assert clickbait["refusal_reason"] == "not_about"
    assert clickbait["refusal"]
    assert clickbait["cited"] == []
    # What was asked before is what "it" is, and one paper alone is asked.
    assert "ROUGE" in follow_up["search_query"]
    assert follow_up["found"] == follow_up["cited"] == [ROUGE]


def test_trails_are_kept_for_a_judge(demo_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    data, kept = written(tmp_path, PARAMETERS, CLICKBAIT, FOLLOW_UP), tmp_path / "kept"
    asked = ["questions", "--data", str(data), "--corpus", str(demo_home)]
    done = CliRunner().invoke(app, [*asked, "--trails", str(kept / "extractive")])
    assert done.exit_code == 0, done.output
    with StandinChat(default=reply("BM25 saturates by k1 and b [1].")) as server:
        models = tmp_path / "models.toml"
        models.write_text('[[models]]\nid = "writer"\ncontext = 32768\n', encoding="utf-8")
        monkeypatch.setenv("PAPER_TRAIL_MODELS_FILE", str(models))
        monkeypatch.setenv("PAPER_TRAIL_MODEL_URL", server.url)
        done = CliRunner().invoke(app, [*asked, "--generator", "writer", "--trails", str(kept / "writer")])
        assert done.exit_code == 0, done.output
        assert server.requests
    systems = read_systems([str(kept / "extractive"), str(kept / "writer")])
    assert [one.writers for one in systems] == [{"extractive"}, {"writer"}]
    # The question before the follow-up is one of its own.
    assert len(asked_of_all(systems)) == 4
    assert not_asked_of_all(systems) == {}
    refused = {one.question.question for one in asked_of_all(systems) if not is_answer(one.turns[0])}
    assert refused == {CLICKBAIT["question"]}
    nobody = CliRunner().invoke(app, [*asked, "--generator", "nobody"])
    assert (nobody.exit_code, "no writer 'nobody'" in nobody.stderr) == (2, True)


@pytest.mark.parametrize(
    ("options", "ids"),
    [
        ({}, {"parameters", "clickbait", "follow-up", "elsewhere"}),
        ({"part": "kept"}, {"follow-up"}),
        ({"kind": "how"}, {"clickbait", "elsewhere"}),
        ({"part": "dev", "kind": "how", "corpus": "demo"}, {"clickbait"}),
    ],
)
def test_a_part_a_kind_or_a_corpus_is_chosen(tmp_path: Path, options: dict, ids: set[str]):
    data = written(tmp_path, PARAMETERS, CLICKBAIT, FOLLOW_UP, ELSEWHERE)
    assert {row.id for _, row in read_questions(data, **options)} == ids


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        ([], "is empty"),
        (["nonsense"], "line 1: the line"),
        ([PARAMETERS, {**CLICKBAIT, "expect": "perhaps"}], "line 2: expect"),
        ([PARAMETERS, {**CLICKBAIT, "question": ""}], "line 2: question"),
        ([{**PARAMETERS, "kind": "riddle"}], "line 1: kind"),
        ([{**PARAMETERS, "part": "test"}], "line 1: part"),
        ([{**PARAMETERS, "history": "What?"}], "line 1: history"),
        ([{**PARAMETERS, "answer": "1.2"}], "line 1: answer"),
        ([PARAMETERS, PARAMETERS], "line 2: id: 'parameters' stands in an earlier line too"),
        ([ELSEWHERE], "line 1: the corpus has no collection '2022.acl-long'"),
        ([{**PARAMETERS, "paper": "none"}], "line 1: the corpus has no paper 'none'"),
        ([PARAMETERS, {**FOLLOW_UP, "expected_papers": ["none"]}], "line 2: the corpus has no paper 'none'"),
        ([{**CLICKBAIT, "question": "Thank you!"}], "line 1: This asks nothing of the papers"),
    ],
)
def test_a_line_that_cannot_be_asked_is_named(
    demo_home: Path, tmp_path: Path, lines: list[object], complaint: str
):
    data = written(tmp_path, *lines)
    done = CliRunner().invoke(app, ["questions", "--data", str(data), "--corpus", str(demo_home)])
    assert done.exit_code == 2
    assert str(data) in done.stderr
    assert complaint in done.stderr


def test_nothing_chosen_and_nowhere_to_write_are_said(demo_home: Path, tmp_path: Path):
    data = written(tmp_path, PARAMETERS)
    asked = ["questions", "--data", str(data), "--corpus", str(demo_home)]
    none = CliRunner().invoke(app, [*asked, "--part", "kept"])
    assert (none.exit_code, "None of the questions" in none.stderr) == (2, True)
    nowhere = CliRunner().invoke(app, [*asked, "--out", str(tmp_path / "no" / "folder")])
    assert (nowhere.exit_code, "cannot be written" in nowhere.stderr) == (2, True)


def test_shares_are_of_what_could_be_answered_and_of_the_answers_given():
    def row(identifier: str, expect: str, *papers: str) -> WrittenQuestion:
        return WrittenQuestion.model_validate(
            {"id": identifier, "question": "Why?", "expect": expect, "expected_papers": papers}
        )

    rows = [row("a", "answer", "second"), row("b", "answer", "third"), row("c", "answer"), row("d", "refuse")]
    figures = question_figures(
        [
            (rows[0], outcome(rows[0], ("second",))),
            (rows[1], outcome(rows[1], refused=True)),
            (rows[2], outcome(rows[2], ("first",))),
            (rows[3], outcome(rows[3], ("first", "second"))),
        ]
    )
    assert (figures["answered"], figures["refused_wrongly"]) == (2 / 3, 1 / 3)
    assert figures["refused_rightly"] == 0.0
    assert (figures["expected_found"], figures["expected_cited"]) == (0.5, 0.5)
    assert figures["best_cited"] == 2 / 3
    assert figures["kinds"] == {}


def test_without_anything_to_count_a_share_is_none():
    row = WrittenQuestion.model_validate({**CLICKBAIT})
    figures = question_figures([(row, outcome(row, refused=True))])
    assert figures["answered"] is figures["expected_found"] is figures["best_cited"] is None
    assert figures["refused_rightly"] == 1.0


def test_the_questions_that_come_along_are_of_three_corpora_and_half_of_them_are_kept():
    rows = [row for _, row in read_questions(QUESTIONS)]
    assert Counter(row.corpus for row in rows) == {"acl2022": 65, "demo": 35, "pdfs": 50}
    assert Counter(row.part for row in rows) == {"dev": 74, "kept": 76}
    kinds = Counter((row.corpus, row.kind, row.part) for row in rows)
    for corpus, kind, _ in kinds:
        assert abs(kinds[corpus, kind, "dev"] - kinds[corpus, kind, "kept"]) <= 1
    assert all(bool(row.expected_papers) == (row.expect == "answer") for row in rows)


def test_the_papers_expected_of_the_demonstration_are_in_it(demo_corpus: Corpus):
    rows = [row for _, row in read_questions(QUESTIONS, corpus="demo")]
    expected = {paper for row in rows for paper in row.expected_papers}
    assert {paper.id for paper in demo_corpus.papers_by_id(tuple(expected))} == expected
    assert {row.collection for row in rows} - {None} <= set(demo_corpus.collection_ids())
