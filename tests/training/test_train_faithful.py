"""Filters of generated pairs: answers faithful to their passages, questions that stand alone."""

import pytest

from training.truthreader.examples import Pair
from training.truthreader.faithful import (
    answer_problem,
    clean_sentences,
    explanation_problem,
    question_problem,
)

PASSAGE = (
    "BM25 ranks documents by summing term weights. The parameter k1 is usually 1.2, and b is 0.75. "
    "On TREC-9 it reached 31.4 points, which is 2,400 times cheaper than reranking with Marigold."
)


def pair(question: str, kind: str = "fact", follows: Pair | None = None) -> Pair:
    return Pair("d/p#1:1", kind, question, "", (), follows)


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ("BM25 ranks documents by summing term weights.", ""),
        ("The parameter k1 is usually 1.2.", ""),
        ("On TREC-9 it reached about 31 points.", ""),
        ("The parameter k1 is usually 1.5.", "number not in the passages"),
        ("BM25 ranks documents by summing term weights, with Bluebell.", "name not in the passages"),
        ("BM25 rangiert Dokumente, und der Parameter ist üblicherweise klein.", "answer in another language"),
        ("Neural networks learn dense meanings from clicks.", "too little overlap"),
        ("NO ANSWER: nothing is said of it.", "the model refused"),
        ("", "no answer"),
        ("BM25 ranks documents. " * 60, "answer too long"),
    ],
)
def test_an_answer_is_kept_only_where_its_passage_says_it(answer: str, problem: str) -> None:
    assert answer_problem(pair("What does BM25 do?"), clean_sentences(answer), PASSAGE) == problem


@pytest.mark.parametrize(
    ("question", "problem"),
    [
        ("What does the parameter k1 of BM25 do?", ""),
        ("BM25?", "question too short"),
        ("What does the passage say about BM25?", "question speaks of the passage"),
        ("What do the authors propose here?", "question names no subject"),
        ("how is k1 set usually?", "asked before"),
        ("Wie wird der Parameter von BM25 gesetzt und warum?", "question not in English"),
    ],
)
def test_a_question_must_stand_alone(question: str, problem: str) -> None:
    assert question_problem(pair(question), {("how", "is", "k1", "set", "usually")}) == problem


def test_of_a_summary_and_a_follow_up_no_subject_is_asked() -> None:
    assert question_problem(pair("What does this paper contribute?", "summary"), ()) == ""
    assert question_problem(pair("And what did the authors find?", follows=pair("Who?")), ()) == ""


def test_labels_references_and_markdown_are_taken_off() -> None:
    written = "- **BM25** ranks documents 〔12〕 [3].\n- The parameter is 1.2 [1][2]."
    assert clean_sentences(written) == ("BM25 ranks documents.", "The parameter is 1.2.")


@pytest.mark.parametrize(
    ("explanation", "problem"),
    [
        ("The papers are about BM25 and its parameter k1. They do not say who proposed Ferret.", ""),
        ("The papers are about BM25. Nothing is said about who proposed Ferret.", ""),
        (
            "The papers are about BM25. They say that Bluebell made Ferret.",
            "name not in the passages",
        ),
        (
            "They are about BM25. In these papers Ferret reached 77.1 points.",
            "number not in the passages",
        ),
        (
            "The main problem that Ferret faces is ranking documents. The papers do not answer it.",
            "explanation not about the papers",
        ),
        ("Die Arbeiten handeln von BM25 und sagen nichts über die Frage.", "explanation in another language"),
        ("They are about BM25. " * 40, "explanation too long"),
        ("", "no explanation"),
    ],
)
def test_an_explanation_names_only_what_question_and_passages_name(explanation: str, problem: str) -> None:
    sentences = clean_sentences(explanation)
    assert explanation_problem(sentences, "Who proposed Ferret?", PASSAGE) == problem
