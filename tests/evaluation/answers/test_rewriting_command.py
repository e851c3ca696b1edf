import pytest

from evaluation.answers.rewriting import concatenated, rouge_f1, term_recall


def test_the_newest_utterances_come_first_and_the_oldest_are_dropped():
    assert concatenated("c", ["a", "b"]) == "c b a"
    said = concatenated("now", ["old " * 200] * 6).split()
    assert (said[0], len(said)) == ("now", 1 + 3 * 128)


def test_function_words_count_in_rouge_and_not_in_recall():
    assert rouge_f1("What are its limits?", "limits") == pytest.approx(2 * 0.25 / 1.25)
    assert term_recall("What are BM25's costs?", "the cost of BM25") == 1.0
    assert term_recall("What are BM25's costs?", "the cost of it") == 0.5
    assert term_recall("What is it?", "anything") == 1.0
