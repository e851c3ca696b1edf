"""Phrases of a claim that nothing it cites says are named, and its support is held back."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant import wording
from assistant.checking.answer import check
from assistant.checking.citations import check_sentences
from assistant.checking.entailment import open_scorer
from assistant.checking.overlap import support_word
from assistant.checking.phrases.naming import find_unsaid_phrases
from assistant.checking.phrases.sentences import with_unsaid
from assistant.checking.thresholds import thresholds
from assistant.records import Answer, Draft, Evidence
from corpus.sentences import sentence_spans
from tests.assistant.asked_questions import QUESTION
from tests.assistant.checking.test_citations import make_paper

TEXT = (
    "We study multilingual retrieval with small encoders. "
    "Hard negatives improve the recall of dense retrieval on English news articles in our experiments. "
    "The encoder has 22 million parameters and was trained on two GPUs for 12 hours. "
    "Word order decides the construction of queries, and we built an index of 5.000 documents. "
    "Retrieval is not affected by the length of the documents."
)
SENTENCES = tuple(TEXT[start:end].strip() for start, end in sentence_spans(TEXT))
OVERCLAIMED = "Hard negatives improve the recall of dense retrieval on all languages in the experiments"
CARRIED = "Hard negatives improve the recall of dense retrieval on English news articles"


def phrases(claim: str, encoder) -> list[str]:
    return [phrase.text for phrase in find_unsaid_phrases(claim, SENTENCES, encoder)]


@pytest.mark.parametrize(
    ("claim", "named"),
    [
        (f"{OVERCLAIMED}.", ["on all languages"]),
        ("The encoder has 22 million parameters and was trained on 8 GPUs for 12 hours.", ["on 8 GPUs"]),
        ("The encoder has 22 million parameters and a size of 43%.", ["of 43%"]),
        ("A small encoder was trained on Arabic tweets.", ["on Arabic tweets"]),
        (
            "Hard negatives improve the recall of dense retrieval on English news articles, mattering most "
            "for long questions.",
            ["mattering most for long questions"],
        ),
        (
            "The encoder has 22 million parameters and was only trained on two GPUs for 12 hours.",
            ["only"],
        ),
    ],
)
def test_an_unsaid_phrase_is_named(claim, named, encoder):
    assert phrases(claim, encoder) == named


@pytest.mark.parametrize("authors", ["Chen et al.", "Chen et al.'s team"])
def test_fault_et_al_was_named_as_unsaid_in_every_sentence_that_names_the_authors(authors, encoder):
    claim = f"{authors} study multilingual retrieval with small encoders."
    assert find_unsaid_phrases(claim, (*SENTENCES, "Wei Chen"), encoder) == ()


@pytest.mark.parametrize(
    "claim",
    [
        "The authors find that hard negatives improve the recall of dense retrieval on English news.",
        "The encoder, which has 22 million parameters, was trained for twelve hours on two GPUs.",
        "An index of 5,000 documents was built.",
        "How long a document is makes no difference to searching.",
        "Picking difficult wrong passages lifts what the searcher finds in newspapers.",
        "",
        "...",
    ],
)
def test_nothing_is_named_of_a_claim_that_says_the_same(claim, encoder):
    assert phrases(claim, encoder) == []


@given(st.integers(0, len(SENTENCES) - 1), st.data())
def test_a_verbatim_part_of_the_evidence_has_no_unsaid_phrase(encoder, at, data):
    words = SENTENCES[at].split()
    first = data.draw(st.integers(0, len(words) - 1))
    last = data.draw(st.integers(first + 1, len(words)))
    assert phrases(" ".join(words[first:last]), encoder) == []


@given(st.lists(st.sampled_from([*TEXT.split(), "all", "Arabic", "8", "50%", "without", "–", "[", "$7,"])))
def test_each_named_phrase_stands_in_the_claim_where_it_is_said_to(encoder, words):
    claim = " ".join(words)
    found = find_unsaid_phrases(claim, SENTENCES, encoder)
    assert all(phrase.text and claim[phrase.start : phrase.end] == phrase.text for phrase in found)
    assert all(before.end < after.start for before, after in pairwise(found))


@given(st.text(max_size=200), st.lists(st.text(max_size=100), max_size=3))
def test_any_text_can_be_read(encoder, claim, texts):
    for phrase in find_unsaid_phrases(claim, texts, encoder):
        assert claim[phrase.start : phrase.end] == phrase.text


def test_a_claim_that_is_too_long_is_cut_between_words(encoder):
    sentence = (
        "The encoder has 22 million parameters and was trained on 2,500,000 pairs of English questions. "
    )
    long = sentence * 11
    assert find_unsaid_phrases(long[: len(long) - 1], (sentence, long), encoder) == ()
    assert phrases(f"{SENTENCES[1]} " * 12 + "It was trained in 1999.", encoder) == []


def checked(text: str, encoder, evidence: Evidence) -> Answer:
    scorer = open_scorer(encoder)
    answer = check(Draft(text), "What do hard negatives do?", evidence, (), "these papers", scorer=scorer)
    return with_unsaid(answer, evidence, encoder)


def test_a_sentence_with_an_unsaid_phrase_never_reads_strong(encoder):
    evidence = Evidence((make_paper(1, TEXT), make_paper(2, "Dense retrieval encodes text as vectors.")))
    over, right = checked(f"{OVERCLAIMED} [1]. {CARRIED} [1].", encoder, evidence).sentences
    assert (over.not_said, right.not_said) == (("on all languages",), ())
    assert support_word(over.support) == support_word(over.citations[0].support) == "partial"
    assert support_word(right.support) == "strong"
    assert over.support < thresholds().support.strong <= right.support


def test_only_the_citation_whose_claim_has_the_phrase_is_held_back(encoder):
    evidence = Evidence((make_paper(1, TEXT), make_paper(2, "Dense retrieval encodes text as vectors.")))
    text = "Dense retrieval encodes text as vectors [2], and hard negatives improve its recall in 1999 [1]."
    (sentence,) = checked(text, encoder, evidence).sentences
    assert sentence.not_said == ("in 1999",)
    assert support_word(sentence.citations[0].support) == "strong"
    assert support_word(sentence.citations[1].support) != "strong"


def test_a_phrase_that_another_cited_paper_says_is_not_named(encoder):
    other = "Hard negatives improve the recall of dense retrieval on all languages in the experiments."
    evidence = Evidence((make_paper(1, TEXT), make_paper(2, other)))
    assert checked(f"{OVERCLAIMED} [1][2].", encoder, evidence).sentences[0].not_said == ()


def test_an_answer_in_another_language_is_left_as_it_is(encoder):
    evidence = Evidence((make_paper(1, TEXT),))
    german = (
        "Harte Negative verbessern in allen Sprachen die Trefferquote der dichten Suche, und das gilt auch "
        "für Arabisch und für sehr lange Dokumente aus dem Jahr 2012 [1]."
    )
    answer = Answer(german, check_sentences(german, evidence))
    assert answer.sentences[0].labels == (1,)
    assert with_unsaid(answer, evidence, encoder) == answer


def test_the_notices_of_an_answer_name_the_phrase(encoder):
    evidence = Evidence((make_paper(1, TEXT),))
    answer = checked(f"{OVERCLAIMED} [1].", encoder, evidence)
    assert wording.notices(answer)[-1] == (
        f"Not said by what it cites: “on all languages”. In: “{OVERCLAIMED}.”"
    )


@pytest.mark.parametrize(
    "question",
    [
        QUESTION,
        "How does BM25 rank documents?",
        "What is late interaction?",
        "Which papers are about evaluation?",
        "Compare BM25 and dense retrieval.",
        "What are the limitations of dense retrieval?",
    ],
)
def test_quoted_sentences_have_no_unsaid_phrase(ask_demo, question):
    turn = ask_demo(question)
    assert turn.names_unsaid
    assert turn.answer.sentences
    assert [sentence.not_said for sentence in turn.answer.sentences if sentence.not_said] == []
