"""Questions that are to be refused, rewritten, or put in other words."""

from pathlib import Path

import pytest

from corpus.encoders.base import Encoder
from corpus.store.corpus import Corpus
from corpus.store.manifest import read_manifest
from evaluation.answers import steadiness
from evaluation.answers.rewriting import concatenate, rouge_f1, term_recall
from evaluation.answers.steadiness import made_cases, measure_refusal, question_templates
from evaluation.input_files import EvaluationError
from tests.evaluation.commands import figures, invoke
from tests.small_corpus import make_paper, write_corpus


@pytest.mark.long
def test_questions_are_made_of_any_two_collections_and_most_go_right(
    demo_home: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(steadiness, "MADE_PER_DIRECTION", 4)
    figures = measure_refusal(demo_home / "corpus")
    assert figures["questions"] == "made"
    assert len(figures["directions"]) == 4
    assert figures["counts"]["answerable"] == figures["counts"]["unanswerable"] > 0
    assert figures["false_refusals"] <= 0.2


def test_one_collection_alone_gives_no_cases(tmp_path: Path, encoder: Encoder):
    write_corpus(tmp_path, encoder, {make_paper("one", "a"): ["BM25 ranks documents."]})
    corpus = Corpus(tmp_path, read_manifest(tmp_path))
    with pytest.raises(EvaluationError, match="need two collections; the corpus has 1"):
        next(made_cases(corpus))


def test_the_newest_utterances_come_first_and_the_oldest_are_dropped():
    assert concatenate("c", ["a", "b"]) == "c b a"
    said = concatenate("now", ["old " * 200] * 6).split()
    assert (said[0], len(said)) == ("now", 1 + 3 * 128)


def test_function_words_count_in_rouge_and_not_in_recall():
    assert rouge_f1("What are its limits?", "limits") == pytest.approx(2 * 0.25 / 1.25)
    assert term_recall("What are BM25's costs?", "the cost of BM25") == 1.0
    assert term_recall("What are BM25's costs?", "the cost of it") == 0.5
    assert term_recall("What is it?", "anything") == 1.0


@pytest.mark.long
def test_other_words_find_the_same_papers_and_the_unsaid_is_refused(demo_home: Path) -> None:
    found = figures("wordings", "--corpus", demo_home, "--most", "3")
    assert found["topics"] == figures["full_texts"] == 3
    assert found["same_papers"] == 1.0
    assert found["best_cited"] == 1.0
    assert found["refused"]["What is this paper about?"] == 0
    assert set(found["refused"]) == set(question_templates().one_paper)


def test_a_system_is_asked_what_its_paper_does_not_say(tmp_path: Path, encoder: Encoder) -> None:
    papers = {
        make_paper("notes", "a", title="FlourNet: Baking"): ["FlourNet bakes with a batch size of 3."],
        make_paper("notes", "b", title="Nothing named here"): ["It is about nothing."],
    }
    write_corpus(tmp_path / "corpus", encoder, papers)
    found = figures("wordings", "--corpus", tmp_path)
    assert found["near_misses"] == len(question_templates().near_misses) - 1
    assert found["near_misses_refused"] == 1.0
    assert found["topics"] == 0


def test_a_corpus_with_nothing_to_ask_about_is_told(tmp_path: Path, encoder: Encoder) -> None:
    write_corpus(tmp_path / "corpus", encoder, {make_paper("notes", "a", title="A"): ["One passage."]})
    run = invoke("wordings", "--corpus", tmp_path)
    assert run.exit_code == 2
    assert "no topic that papers share" in run.output
