"""GenGO's table of the whole system by its command: marks of a stand-in judge, and what needs none."""

from collections.abc import Callable
from pathlib import Path

from assistant.trail import from_json
from tests.evaluation.judging.standin_judge import judging, shown
from tests.evaluation.tables.systems.conftest import Measure
from tests.evaluation.tables.systems.standin_reader import OPENING, told_of
from tests.standin_chat import Behaviour, Received, StandinChat, reply

TABLE = "gengo-system"
MARKS = ("coherence", "consistency", "fluency", "relevance")
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


def test_a_judge_without_a_vote_that_counts_leaves_no_row(measure: Measure, served: StandinChat) -> None:
    def behave(request: Received) -> Behaviour:
        return reply("no marks") if is_judging(request) else told_of(request)

    served.default = behave
    told = measure(TABLE, *JUDGED)
    assert told["measured"] == []
    assert [one["what"] for one in told["missing"]] == ["extractive", "writer"]
    assert "No vote of judge counts" in told["missing"][0]["advice"]


def test_without_a_home_the_demonstration_is_built(measure: Measure, tmp_path: Path) -> None:
    (row,) = measure(TABLE, "--limit", "1", home="")["measured"]
    assert row["figures"]["answered"] == 100
    assert (tmp_path / "out" / TABLE / "home" / "corpus" / "manifest.json").is_file()
