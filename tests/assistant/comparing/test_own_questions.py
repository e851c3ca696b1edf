"""A reader's own questions as columns of a comparison's grid, on the demonstration collection."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from assistant.comparing.compare import Comparer
from assistant.comparing.extractive.generator import ExtractiveComparer
from assistant.comparing.grid import element_grid, question_name
from assistant.comparing.ledger import CallLedger
from assistant.comparing.records import Comparison, ComparisonError, ComparisonRequest
from assistant.storage.comparisons import ComparisonStore
from assistant.trail.comparison_file import comparison_from_json, comparison_to_json
from assistant.trail.comparison_replay import ComparisonReplay, replay_comparison
from corpus.encoders.base import Encoder
from corpus.store.corpus import Corpus
from tests.assistant.comparing.compared_papers import compared, comparer_over
from tests.assistant.comparing.comparing_model import ComparingModel
from tests.standin_chat import StandinChat

BM25, DENSE, FUSION = (f"field-notes-retrieval/{name}" for name in ("bm25", "dense-retrieval", "rank-fusion"))
ABOUT = "How lexical and dense retrieval can be combined."
BATCH = "What batch size was used for training?"
FUSED = "What is reciprocal rank fusion?"
HOSTILE = '<img src=x onerror=alert(1)> | [1] {{ 7*7 }} \\input{x} "quantum\u202e chromodynamics"'


def request(*questions: str) -> ComparisonRequest:
    return ComparisonRequest((BM25, DENSE, FUSION), ABOUT, questions=questions)


@pytest.fixture(scope="module")
def comparer(demo_corpus: Corpus, encoder: Encoder) -> Comparer:
    return Comparer(demo_corpus, encoder, ExtractiveComparer(encoder))


@pytest.fixture(scope="module")
def asked(comparer: Comparer) -> Comparison:
    return compared(comparer, request(BATCH, FUSED))


def replayed(comparison: Comparison, comparer: Comparer) -> ComparisonReplay:
    return replay_comparison(comparison, comparer.encoder, lambda _: comparer.corpus)


def test_every_paper_answers_in_its_own_sentences_or_does_not_say(asked: Comparison) -> None:
    batch, fused = asked.columns
    assert (batch.question, fused.question) == (BATCH, FUSED)
    assert [cell.label for cell in batch.cells] == [cell.label for cell in fused.cells] == [1, 2, 3]
    assert [bool(cell.quotes) for cell in batch.cells] == [False, True, False]
    assert [bool(cell.quotes) for cell in fused.cells] == [False, False, True]
    assert "batch size of 128" in batch.cells[1].quotes[0].text
    assert "adds 1 / (k + rank)" in fused.cells[2].quotes[0].text


def test_every_quote_is_a_sentence_of_a_recorded_passage_of_its_paper(asked: Comparison) -> None:
    for column in asked.columns:
        for cell in column.cells:
            paper = asked.evidence.paper(cell.label)
            assert paper is not None and len(cell.quotes) <= 2
            passages = {passage.id: passage for passage in paper.passages}
            for quote in cell.quotes:
                assert passages[quote.passage_id].sentence_text(quote.sentence) == quote.text


def test_the_grid_has_a_further_column_for_each_question(asked: Comparison) -> None:
    grid = element_grid(asked)
    assert list(grid.titles.values())[7:] == [BATCH, FUSED]
    described, bm25, dense, _ = grid.rows
    assert [len(row.every_cell) for row in grid.rows] == [9] * 4
    name = question_name(1)
    assert "batch size of 128" in dense.cell(name).shown and dense.cell(name).quotes
    assert bm25.cell(name).shown == "does not say (no sentence found)"
    assert described.cell(name).shown == "papers alone are asked"
    assert element_grid(replace(asked, elements=())).is_empty is False


def test_questions_change_nothing_else(asked: Comparison, comparer: Comparer) -> None:
    plain = compared(comparer, request())
    assert plain.columns == () and "columns" not in {step.step for step in plain.seconds}
    assert (plain.answer, plain.rounds) == (asked.answer, asked.rounds)
    without_time = [
        [replace(elements, written="") for elements in comparison.elements] for comparison in (plain, asked)
    ]
    assert without_time[0] == without_time[1]


def test_a_replay_asks_the_same_questions_and_finds_the_same_sentences(
    asked: Comparison, comparer: Comparer
) -> None:
    again = comparison_from_json(comparison_to_json(asked))
    assert again == asked
    found = replayed(again, comparer)
    assert found.is_equal and "columns" in [step.step for step in found.steps]
    batch, fused = asked.columns
    forged = replace(asked, columns=(batch, replace(fused, cells=batch.cells)))
    assert [step.step for step in replayed(forged, comparer).steps if step.outcome == "different"] == [
        "columns"
    ]


def test_a_comparison_from_before_there_were_questions_is_read_and_replayed(
    asked: Comparison, comparer: Comparer
) -> None:
    document = json.loads(comparison_to_json(replace(asked, columns=())))
    del document["comparison"]["columns"]
    older = comparison_from_json(json.dumps(document))
    assert older.columns == () and element_grid(older).questions == ()
    assert "columns" not in [step.step for step in replayed(older, comparer).steps]


def test_with_a_model_the_cells_are_the_same_and_nothing_more_is_asked(
    asked: Comparison, demo_corpus: Corpus, encoder: Encoder
) -> None:
    sent = []
    for questions in ((), (BATCH, FUSED)):
        with (
            StandinChat(default=ComparingModel()) as server,
            comparer_over(server, demo_corpus, encoder) as comparer,
        ):
            by_model = compared(comparer, request(*questions), CallLedger())
            sent.append(len(server.requests))
    assert by_model.columns == asked.columns
    assert sent[0] == sent[1] > 0


def test_questions_are_kept_with_a_comparison_that_is_begun_and_with_one_from_a_file(
    asked: Comparison, tmp_path: Path
) -> None:
    store = ComparisonStore(tmp_path / "comparisons.sqlite")
    begun = store.start("me", request(BATCH), "extractive", None, ())
    imported = store.put("me", asked)
    for kept, questions in ((begun, (BATCH,)), (imported, (BATCH, FUSED))):
        again = store.get(kept.id)
        assert again is not None and again.request.questions == questions


@pytest.mark.parametrize(
    ("given", "asked_for"),
    [
        ((), ()),
        (("", "  \n ", "\u200b"), ()),
        ((BATCH, f"  {BATCH.upper()} ", FUSED, "What batch size\nwas used for  training?"), (BATCH, FUSED)),
        (("Welche Datensätze werden benutzt?", "使用了哪些数据集？"), None),
        ((HOSTILE,), (HOSTILE.replace("\u202e", ""),)),
        (tuple(f"Is {number} used?" for number in range(5)), None),
        (("x" * 300,), None),
    ],
)
def test_questions_are_tidied_before_they_are_asked(
    comparer: Comparer, given: tuple[str, ...], asked_for: tuple[str, ...] | None
) -> None:
    comparison = compared(comparer, replace(request(*given), papers=(BM25, DENSE)))
    assert tuple(column.question for column in comparison.columns) == (
        given if asked_for is None else asked_for
    )
    assert all(len(column.cells) == 2 for column in comparison.columns)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (tuple(f"Is {number} used?" for number in range(6)), "6 questions of your own"),
        (("x" * 301,), "has 301 characters; 300 can be taken"),
        (("?!",), "“?!” has no words"),
    ],
)
def test_questions_that_cannot_be_asked_are_refused_in_words(
    comparer: Comparer, given: tuple[str, ...], words: str
) -> None:
    with pytest.raises(ComparisonError, match=re.escape(words)):
        comparer.plan(request(*given))


def test_a_hostile_question_is_answered_by_nothing(comparer: Comparer) -> None:
    comparison = compared(comparer, request(HOSTILE))
    assert not any(cell.quotes for cell in comparison.columns[0].cells)
