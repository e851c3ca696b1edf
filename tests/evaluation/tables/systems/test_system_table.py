"""GenGO's table of the whole system by its command: marks of a stand-in judge, and what needs none."""

from collections.abc import Callable
from pathlib import Path

import pytest

from assistant.trail import from_json
from evaluation.tables.systems import questions_of_table
from tests.evaluation.judging.standin_judge import judging, shown
from tests.evaluation.tables.systems.conftest import Measure
from tests.evaluation.tables.systems.standin_reader import NO_ANSWER, OPENING, question_in, told_of
from tests.standin_chat import Behaviour, Received, StandinChat, refusal, reply

TABLE = "gengo-system"
MARKS = ("coherence", "consistency", "fluency", "relevance")
UNJUDGED = ("answered", "refused", "cited", "citation recall", "citation precision")
JUDGED = ("--model", "writer", "--judge", "judge", "--limit", "3")


def is_judging(request: Received) -> bool:
    return bool(request.body["model"] == "judge")


def mark_of(_: int, text: str) -> int:
    return 2 if text.startswith(OPENING) else 4


def writing(
    tell: Callable[[Received], Behaviour] = told_of, marks: Callable[[int, str], int] = mark_of
) -> Callable[[Received], Behaviour]:
    """Answer any question; the judge marks these answers with 2, others with 4."""
    judge = judging(marks, MARKS)
    return lambda request: judge(request) if is_judging(request) else tell(request)


def test_the_questions_are_25() -> None:
    questions = questions_of_table()
    assert len({one.id for one in questions}) == 25
    assert all(one.corpus == "demo" and one.expected_papers and not one.history for one in questions)


def test_without_a_judge_there_are_no_marks_and_it_says_so(measure: Measure, tmp_path: Path) -> None:
    told = measure(TABLE, "--limit", "4")
    (row,) = told["measured"]
    assert set(row["figures"]) == set(UNJUDGED)
    assert row["figures"]["answered"] + row["figures"]["refused"] == 100
    assert row["figures"]["cited"] > 0
    assert [one["what"] for one in told["missing"]] == [
        "a model that answers",
        f"marks for {', '.join(MARKS)}",
    ]
    assert told["printed"] == []


def test_a_judge_marks_what_all_answered_side_by_side(
    measure: Measure, served: StandinChat, tmp_path: Path
) -> None:
    served.default = writing()
    plain, written = measure(TABLE, *JUDGED)["measured"]
    assert [plain["figures"][name] for name in MARKS] == [4, 4, 4, 4]
    assert [written["figures"][name] for name in MARKS] == [2, 2, 2, 2]
    assert plain["deviations"] == dict.fromkeys(MARKS, 0)
    votes = [shown(one) for one in served.requests if is_judging(one)]
    assert len(votes) == 6 and all(len(texts) == 2 for texts in votes)
    # Each stands once in each place.
    assert sum(texts[0].startswith(OPENING) for texts in votes) == 3
    assert "marked with 2 generators, by judge: 6 votes on 3 questions" in plain["note"]
    trails = [from_json(file.read_text()) for file in (tmp_path / "out" / TABLE / "trails").rglob("*.json")]
    assert len(trails) == 6
    assert {trail.turns[0].provenance.generator for trail in trails} == {"extractive", "writer"}


def test_marks_deviate_as_votes_do(measure: Measure, served: StandinChat) -> None:
    served.default = writing(marks=lambda place, _: {1: 5, 2: 3}[place])
    for row in measure(TABLE, *JUDGED)["measured"]:
        assert row["figures"]["coherence"] == pytest.approx(4)
        assert row["deviations"]["coherence"] == pytest.approx(1)


def test_votes_and_replies_are_not_paid_for_again(measure: Measure, served: StandinChat) -> None:
    served.default = writing()
    measure(TABLE, *JUDGED)
    first = len(served.requests)
    measure(TABLE, "--model", "writer", "--judge", "judge", "--limit", "4")
    questions = [question_in(one) for one in served.requests[first:] if not is_judging(one)]
    assert len(questions) == 1
    assert sum(map(is_judging, served.requests[first:])) == 2


def test_a_judge_without_a_vote_that_counts_leaves_no_row(measure: Measure, served: StandinChat) -> None:
    def behave(request: Received) -> Behaviour:
        return reply("no marks") if is_judging(request) else told_of(request)

    served.default = behave
    told = measure(TABLE, *JUDGED)
    assert told["measured"] == []
    assert [one["what"] for one in told["missing"]] == ["extractive", "writer"]
    assert "No vote of judge counts" in told["missing"][0]["advice"]


def test_a_model_that_cannot_be_asked_leaves_the_others_their_marks(
    measure: Measure, served: StandinChat
) -> None:
    good = writing()

    def behave(request: Received) -> Behaviour:
        return refusal(401, "no") if request.body["model"] == "other" else good(request)

    served.default = behave
    told = measure(TABLE, "--model", "other", *JUDGED)
    assert [row["system"] for row in told["measured"]] == ["extractive", "writer"]
    assert "marked with 2 generators" in told["measured"][0]["note"]
    assert [one["what"] for one in told["missing"]] == ["other"]


def test_who_refuses_all_is_not_marked_and_counted(measure: Measure, served: StandinChat) -> None:
    served.default = writing(lambda _: reply(NO_ANSWER))
    told = measure(TABLE, *JUDGED)
    assert "none was answered by all" in told["missing"][0]["advice"]
    told = measure(TABLE, "--model", "writer", "--limit", "3")
    figures = told["measured"][1]["figures"]
    assert (figures["answered"], figures["refused"], figures["cited"]) == (0, 100, 0)
    assert "citation recall" not in figures


def test_an_unknown_judge_is_named_and_the_rest_is_measured(measure: Measure, served: StandinChat) -> None:
    told = measure(TABLE, "--judge", "nobody", "--limit", "1")
    assert len(told["measured"]) == 1
    assert "There is no model 'nobody' to judge" in told["missing"][1]["advice"]


def test_without_a_home_the_demonstration_is_built(measure: Measure, tmp_path: Path) -> None:
    (row,) = measure(TABLE, "--limit", "1", home="")["measured"]
    assert row["figures"]["answered"] == 100
    assert (tmp_path / "out" / TABLE / "home" / "corpus" / "manifest.json").is_file()
