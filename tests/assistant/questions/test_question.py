from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.questions.intent import Asked, asked_in_parts, names_in, read_question, request_kind
from assistant.records import RequestKind
from corpus.records import Scope

ALL, ONE, TWO = Scope(), Scope(papers=("c/a",)), Scope(papers=("c/a", "c/b"))
TITLE = "“Rank Fusion for Hybrid Search”"


@pytest.mark.parametrize(
    ("question", "scope", "kind"),
    [
        ("Which methods speed up inference?", ALL, "list"),
        ("How do dense retrieval and BM25 compare?", ALL, "comparison"),
        ("Compare ROUGE and BERTScore", ALL, "comparison"),
        ("Recommend papers on clickbait", ALL, "list"),
        ("Which datasets test claim verification?", ALL, "list"),
        ("Why do citations fail in generative search engines?", ALL, "how"),
        ("How should a long document be split into passages?", ALL, "how"),
        ("Can language model judges replace human evaluation of summaries?", ALL, "how"),
        ("Does multitask learning help low-resource languages?", ALL, "how"),
        ("Summarise the literature on query rewriting", ALL, "synthesis"),
        ("What are the main findings of papers on pruning?", ALL, "synthesis"),
        ("What are the main contributions?", ALL, "synthesis"),
        ("What are the main contributions?", TWO, "synthesis"),
        ("What do researchers say about hallucination?", ALL, "synthesis"),
        ("Which papers use LexGLUE?", ALL, "list"),
        ("What are the storage costs of dense vectors and token vectors?", ALL, "synthesis"),
        ("How does it differ from earlier methods?", ONE, "how"),
        ("Which limits do the authors name?", ONE, "summary"),
        ("late interaction", ALL, "synthesis"),
        ("State of few-shot classification with prompts", ALL, "synthesis"),
        ("What is known about gender bias in coreference resolution?", ALL, "synthesis"),
        ("Give me an overview of research on Arabic", ALL, "synthesis"),
        ("Which of the papers resolve pronouns in Chinese?", ALL, "list"),
        ("I look for work that defends classifiers against attacks", ALL, "list"),
        ("entity recognition with few labels - give me the papers", ALL, "list"),
        ("Which unsupervised word segmentation methods work with maximum entropy?", ALL, "list"),
        ("How many parameters does AlignScore have?", ALL, "fact"),
        ("How many annotators took part?", ONE, "fact"),
        ("How much memory does ColBERT need?", ALL, "fact"),
        ("How large is the database of RETRO?", ALL, "fact"),
        ("How long did training take?", ONE, "fact"),
        ("What is BM25?", ALL, "definition"),
        ("What is reciprocal rank fusion?", ALL, "definition"),
        ("Define nugget evaluation", ALL, "definition"),
        ("Who proposed BERTScore?", ALL, "fact"),
        ("When was CANARD published?", ALL, "fact"),
        ("Does ColBERT support Chinese?", ALL, "fact"),
        ("Is the code of PLAID available?", ALL, "fact"),
        ("Is the code available?", ONE, "fact"),
        ("Which layer of RoBERTa does BERTScore recommend?", ALL, "fact"),
        ("What value of k does rank fusion use?", ALL, "fact"),
        ("When is reciprocal rank fusion a better choice than a weighted sum?", ALL, "how"),
        ("What are the main contributions of this paper?", ONE, "summary"),
        ("Summarise it", ONE, "summary"),
        ("Summarize this paper in a few sentences", ONE, "summary"),
        ("What is this about?", ONE, "summary"),
        ("What are the key takeaways?", ONE, "summary"),
        ("Give me an overview", ONE, "summary"),
        ("What does this propose?", ONE, "summary"),
        ("Which problem does ColBERT address?", ALL, "summary"),
        ("What problem does ColBERT solve?", ALL, "summary"),
        ("What problem does ColBERT address, and how is it trained?", ALL, "how"),
        ("Which score did ColBERT reach?", ALL, "fact"),
        (f"Summarise {TITLE}", ALL, "summary"),
        (f"What does {TITLE} propose?", ALL, "summary"),
        (f"{TITLE}?", ALL, "summary"),
        (f"How does {TITLE} differ from {TITLE}?", ALL, "comparison"),
        ("[2]?", ALL, "how"),
    ],
)
def test_the_kinds_of_request_are_told_apart(question, scope, kind):
    assert request_kind(question, scope) == kind


@pytest.mark.parametrize(
    ("question", "sentence", "answers"),
    [
        ("How many annotators took part?", "Three annotators took part.", True),
        ("How many annotators took part?", "Annotators took part.", False),
        ("Who proposed rank fusion?", "It was proposed by Cormack et al. for meta search.", True),
        ("Who proposed rank fusion?", "Rank fusion is the name for merging.", False),
        ("When was BM25 proposed?", "BM25 was proposed in 1994.", True),
        ("When was BM25 proposed?", "BM25 was proposed with 25 variants.", False),
        ("When is fusion worth it?", "Fusion is worth it often.", True),
        ("Why does it work?", "It just does.", True),
    ],
)
def test_a_number_a_year_and_a_person_are_not_answered_without_one(question, sentence, answers):
    assert read_question(question).may_be_answered_by(sentence) == answers


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("How is it built, and why does it fail?", ["How is it built", "why does it fail?"]),
        (
            "What does X contain and which model was proposed?",
            ["What does X contain", "which model was proposed?"],
        ),
        ("How do BM25 and dense retrieval differ?", ["How do BM25 and dense retrieval differ?"]),
        ("What is BM25 and how does it work?", ["What is BM25", "how does it work?"]),
        ("How, and why?", ["How, and why?"]),
        ("Which parsers do, and which do not?", ["Which parsers do, and which do not?"]),
    ],
)
def test_what_is_asked_one_after_the_other_is_told_apart(question, parts):
    assert asked_in_parts(question) == parts


def test_names_have_capitals_or_digits_where_no_sentence_begins():
    question = "Which layer of RoBERTa does GPT-4 use with k1?"
    assert names_in(question) == ["RoBERTa", "GPT-4", "k1"]


@given(st.text(max_size=200))
def test_any_text_is_some_kind_of_request(text):
    assert request_kind(text, ALL) in get_args(RequestKind)


def test_a_quoted_title_was_read_as_the_question():
    assert read_question("compare “How Long Is a Passage?” and “How Many Judges Agree?”") == Asked()
