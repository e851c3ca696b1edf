"""How high rankers place what answers a question: by hand, and by the command on small rows."""

import json
from math import log
from pathlib import Path

import pytest
from typer.testing import CliRunner

from corpus.encoders.base import SentenceEncoder
from evaluation.__main__ import app
from evaluation.answers.evidence.rankers import Ranker, bm25, open_rankers
from evaluation.answers.evidence.ranking import first_places, measure_rankers
from evaluation.answers.evidence.rows import EvidenceRow
from evaluation.input_files import EvaluationError

CATS = "Cats sleep most of the day."
BONDS = "Government bonds fell as interest rates rose."
RAIN = "Rain is likely in the mountains in May."
ROWS = (
    {"set": "pets", "question": "How long do cats sleep?", "candidates": [BONDS, CATS], "relevant": [1]},
    {"set": "pets", "question": "Why is the sky blue?", "candidates": [BONDS, CATS], "relevant": []},
    {
        "set": "weather",
        "question": "Is rain likely in the mountains?",
        "title": "May",
        "history": ["What about the weather?"],
        "candidates": [RAIN, BONDS, CATS],
        "relevant": [0],
    },
)


def written(folder: Path, *lines: object) -> str:
    file = folder / "rows.jsonl"
    file.write_text("".join(f"{one if isinstance(one, str) else json.dumps(one)}\n" for one in lines))
    return str(file)


def row(scores: int, *relevant: int, name: str = "all") -> EvidenceRow:
    texts = tuple(f"text {number}" for number in range(scores))
    return EvidenceRow(question="Which?", candidates=texts, relevant=relevant, set=name)


def test_the_command_measures_every_ranker_per_set_and_ends_in_one_json_line(tmp_path):
    done = CliRunner().invoke(app, ["evidence", "--data", written(tmp_path, *ROWS)])
    assert done.exit_code == 0, done.output
    figures = json.loads(done.stdout.splitlines()[-1])
    for name in ("bm25", "cosine", "both"):
        assert [figures[f"{name}/{metric}"] for metric in ("hit@1", "hit@3", "mrr")] == [1.0, 1.0, 1.0]
        assert name in done.stdout
    assert (figures["rows"], figures["ranked"], figures["unanswerable"]) == (3, 2, 1)
    # What nothing answers scores lowest; where all can be answered, nothing is to be separated.
    assert figures["bm25/auroc"] == figures["cosine/auroc"] == 1.0
    assert set(figures["sets"]) == {"pets", "weather"}
    assert figures["sets"]["weather"]["bm25/auroc"] is None


def test_a_set_of_nothing_but_unanswerable_questions_has_no_ranks(tmp_path):
    done = CliRunner().invoke(
        app, ["evidence", "--data", written(tmp_path, {**ROWS[1], "set": "sky"}, ROWS[0])]
    )
    assert json.loads(done.stdout.splitlines()[-1])["sets"]["sky"]["cosine/mrr"] is None


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        ([], "is empty"),
        (["nonsense"], "line 1: the line"),
        ([ROWS[0], {"question": "a?", "candidates": ["b"]}], "line 2: relevant"),
        ([ROWS[0], {**ROWS[0], "candidates": []}], "line 2: candidates"),
        ([ROWS[0], {**ROWS[0], "question": ""}], "line 2: question"),
        (
            [ROWS[0], {**ROWS[0], "relevant": [2]}],
            "line 2: the line: Value error, relevant names candidate 2",
        ),
        ([{**ROWS[0], "relevant": [-1]}], "line 1: the line: Value error, relevant names candidate -1"),
        ([{**ROWS[0], "relevant": ["1"]}], "line 1: relevant.0"),
        ([{**ROWS[0], "history": "What?"}], "line 1: history"),
        ([ROWS[1]], "no question with a relevant candidate"),
    ],
)
def test_rows_that_cannot_be_used_are_named(tmp_path, lines, complaint):
    done = CliRunner().invoke(app, ["evidence", "--data", written(tmp_path, *lines)])
    assert done.exit_code == 2
    assert complaint in done.stderr


def test_a_file_that_is_not_there_is_said(tmp_path):
    done = CliRunner().invoke(app, ["evidence", "--data", str(tmp_path / "none.jsonl")])
    assert (done.exit_code, "cannot be read" in done.stderr) == (2, True)


@pytest.mark.parametrize(
    ("scores", "relevant", "places"),
    [
        ([3.0, 2.0, 1.0], [0], {1: 1.0}),
        ([3.0, 2.0, 1.0], [2], {3: 1.0}),
        ([3.0, 2.0, 1.0], [2, 1], {2: 1.0}),
        ([1.0, 1.0], [0], {1: 1 / 2, 2: 1 / 2}),
        ([0.0, 0.0, 0.0, 0.0], [1], {1: 1 / 4, 2: 1 / 4, 3: 1 / 4, 4: 1 / 4}),
        ([2.0, 1.0, 1.0, 1.0], [1, 2], {2: 2 / 3, 3: 1 / 3}),
        ([1.0, 1.0], [0, 1, 1], {1: 1.0}),
    ],
)
def test_ties_leave_the_first_place_to_chance(scores, relevant, places):
    assert first_places(scores, relevant) == pytest.approx(places)


def test_a_constant_score_does_as_well_as_chance():
    rows = [row(4, right) for right in range(4)]
    figures = measure_rankers(rows, {"constant": lambda one: [1.0] * len(one.candidates)}).all
    assert figures["constant/hit@1"] == pytest.approx(1 / 4)
    assert figures["constant/hit@3"] == pytest.approx(3 / 4)
    assert figures["constant/mrr"] == pytest.approx((1 + 1 / 2 + 1 / 3 + 1 / 4) / 4)


def test_figures_are_means_over_what_can_be_ranked():
    rows = [row(4, 0), row(4, 3), row(4, 1, 2, name="other"), row(4, name="other")]
    figures = measure_rankers(rows, {"falling": lambda one: [4.0, 3.0, 2.0, 1.0]})
    assert figures.all["falling/mrr"] == pytest.approx((1 + 1 / 4 + 1 / 2) / 3)
    assert figures.all["falling/hit@1"] == pytest.approx(1 / 3)
    assert figures.all["falling/hit@3"] == pytest.approx(2 / 3)
    assert figures.all["falling/auroc"] == 0.5
    assert figures.sets["other"]["falling/mrr"] == 0.5


@pytest.mark.parametrize("broken", [lambda one: [1.0], lambda one: [float("nan")] * len(one.candidates)])
def test_a_ranker_without_a_number_for_every_candidate_is_named(broken: Ranker):
    with pytest.raises(EvaluationError, match="The ranker broken has no number for every candidate"):
        measure_rankers([row(2, 0)], {"broken": broken})


def asked(question: str, *candidates: str) -> EvidenceRow:
    return EvidenceRow(question=question, candidates=candidates, relevant=())


def test_bm25_prefers_rare_words_repeated_words_and_short_texts():
    def best(question: str, *candidates: str) -> int:
        scores = bm25(asked(question, *candidates))
        return scores.index(max(scores))

    assert best("ranking with SPLADE", "ranking papers", "SPLADE papers", "ranking tables") == 1
    assert best("ranking", "ranking and rankings", "ranking or parsing") == 0
    assert best("ranking", "ranking long documents of many pages", "ranking documents") == 1
    # One of two texts has the word, and is twice as long as the mean.
    by_hand = log(2) * 2.2 / (1 + 1.2 * (0.25 + 0.75 * 2))
    assert bm25(asked("What is the cost?", "It is the one.", "Costs rose.")) == [0.0, pytest.approx(by_hand)]
    assert bm25(asked("What is it?", "It is.", "")) == [0.0, 0.0]


def test_both_is_the_mean_of_standard_scores(encoder: SentenceEncoder):
    rankers = open_rankers(encoder)
    one = asked("How long do cats sleep?", CATS, BONDS)
    assert rankers["both"](one) == pytest.approx([1.0, -1.0])
    assert rankers["both"](asked("cats", CATS)) == [0.0]
    cosines = rankers["cosine"](one)
    assert cosines[0] == pytest.approx(float(encoder.encode_query(one.question) @ encoder.encode_query(CATS)))
