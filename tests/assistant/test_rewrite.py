import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer

from assistant.records import Answer, Evidence, Provenance, Refusal, Rewrite, Turn
from assistant.rewrite import MAX_CARRIED, rewrite_from_words, search_statement
from corpus.records import Scope
from corpus.text import words

REFUSED = Refusal("nothing_relevant", "No passage answers this.")


def make_turn(rewrite: Rewrite, refusal: Refusal | None = None) -> Turn:
    return Turn(
        question=rewrite.question,
        asked="2026-01-01T00:00:00.000+00:00",
        scope=Scope(),
        papers_wanted=10,
        rewrite=rewrite,
        hits=(),
        evidence=Evidence(),
        answer=Answer("", refusal=refusal),
        calls=(),
        seconds=(),
        provenance=Provenance("p", "extractive", "e", "", ()),
    )


def rewritten(*questions: str) -> Rewrite:
    """Return the rewrite of the last question, the others having been asked before it."""
    history: tuple[Turn, ...] = ()
    for question in questions[:-1]:
        history += (make_turn(rewrite_from_words(question, history)),)
    return rewrite_from_words(questions[-1], history)


@pytest.mark.parametrize(
    ("question", "statement"),
    [
        ("Which methods prune BERT?", "prune BERT"),
        ("What is BM25?", "BM25"),
        ("Please tell me about late interaction.", "late interaction"),
        ("How do dense retrieval and BM25 compare?", "dense retrieval and BM25 compare"),
        ("BERT with 0.5B parameters, not GPT-4", "BERT with 0.5B parameters, not GPT-4"),
        ("papers", "papers"),
        ("What does “A Profile of the Task” propose?", "“A Profile of the Task” propose"),
        ("What is it?", "it"),
        ("C++?", "C++"),
    ],
)
def test_a_question_becomes_a_plain_statement(question, statement):
    assert search_statement(question) == statement
    assert rewritten(question) == Rewrite(question, statement, ())


@pytest.mark.parametrize(
    "follow_up",
    [
        "What about its limitations?",
        "Why?",
        "How does it work?",
        "Tell me more about this from an empirical perspective",
        "Tell me more.",
        "And for low-resource languages?",
        "Does it need training data?",
        "How much training data does that need?",
        "What are the advantages?",
        "How do they compare with BM25?",
        "What are the main types?",
        "What about long documents?",
    ],
)
def test_follow_ups_take_the_subject_over(follow_up):
    rewrite = rewritten("What is late interaction in neural retrieval?", follow_up)
    assert {"late", "interaction", "retrieval"} <= set(words(rewrite.search_query))
    assert rewrite.used_turns == (0,)
    asked = {"limitations", "empirical", "low-resource", "training", "bm25", "documents"} & set(
        words(follow_up)
    )
    assert asked <= set(words(rewrite.search_query))


def test_neighbouring_tools_searched_follow_ups_literally():
    rewrite = rewritten("How does dense retrieval encode passages?", "What about its limitations?")
    assert rewrite.search_query == "dense retrieval encode passages: limitations"


@pytest.mark.parametrize(
    "question",
    [
        "How is ROUGE computed?",
        "What is ROUGE and how does it treat synonyms?",
        "Tell me more about nugget evaluation.",
        "Which datasets test claim verification that uses tables?",
        "Why do citations fail in generative search engines?",
        "Compare human and automatic evaluation of summaries",
    ],
)
def test_a_new_subject_leaves_the_old_one_behind(question):
    rewrite = rewritten("What is BM25?", "What about its limitations?", question)
    assert "bm25" not in words(rewrite.search_query)
    assert rewrite.used_turns == ()
    assert rewrite.search_query == rewritten(question).search_query


def test_a_chain_of_three_keeps_its_subject():
    chain = (
        "What is reciprocal rank fusion?",
        "Does it need training data?",
        "And what about its speed?",
        "Why?",
    )
    queries = [rewritten(*chain[: length + 1]) for length in range(len(chain))]
    assert all("reciprocal rank fusion" in rewrite.search_query for rewrite in queries)
    assert [rewrite.used_turns for rewrite in queries] == [(), (0,), (1,), (2,)]
    assert queries[2].search_query == "reciprocal rank fusion: speed"


def test_after_a_topic_shift_follow_ups_mean_the_new_topic():
    rewrite = rewritten("What is BM25?", "How is ROUGE computed?", "What are its limitations?")
    assert "ROUGE" in rewrite.search_query
    assert "BM25" not in rewrite.search_query


def test_refused_turns_are_skipped():
    answered = make_turn(rewrite_from_words("What is BM25?", ()))
    refused = make_turn(rewrite_from_words("How do whales sing?", (answered,)), REFUSED)
    rewrite = rewrite_from_words("What are its limitations?", (answered, refused))
    assert (rewrite.search_query, rewrite.used_turns) == ("BM25: limitations", (0,))


def test_where_every_turn_was_refused_the_newest_is_meant():
    history = tuple(
        make_turn(rewrite_from_words(question, ()), REFUSED)
        for question in ("What is BM25?", "How do whales sing?")
    )
    assert rewrite_from_words("And why?", history).used_turns == (1,)


def test_a_follow_up_without_anything_before_it_is_asked_as_it_is():
    assert rewritten("What about its limitations?") == Rewrite(
        "What about its limitations?", "its limitations"
    )


def test_a_long_subject_is_cut():
    subject = " ".join(f"word{number}" for number in range(30))
    assert rewritten(subject, "Why?").search_query.partition(": ")[0].split() == [
        f"word{number}" for number in range(MAX_CARRIED)
    ]


questions = st.text(max_size=80) | st.lists(
    st.sampled_from("what is it the its why and BM25 they this : ? - papers of ROUGE's that’s ... 3".split()),
    max_size=9,
).map(" ".join)


@given(st.lists(questions.filter(words), min_size=1, max_size=4))
def test_any_question_gives_a_query(asked):
    rewrite = rewritten(*asked)
    assert rewrite.question == asked[-1]
    assert words(rewrite.search_query)
    assert rewrite.search_query == rewrite.search_query.strip()
    assert all(0 <= turn < len(asked) - 1 for turn in rewrite.used_turns)


def test_manual_rewrites_of_real_conversations_are_nearer_to_ours_than_to_the_questions(shared: Path):
    """Compare what is searched for: ROUGE-1 F1 with the statement of the manual rewrite (TREC CAsT)."""
    file = shared / "data" / "rewriting" / "turns.jsonl"
    if not file.exists():
        pytest.skip(f"{file} is not there")
    turns = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    scorer = RougeScorer(["rouge1"])
    ours, raw = [], []
    for turn in turns:
        wanted = search_statement(turn["manual"])
        query = rewritten(*turn["history"], turn["raw"]).search_query
        ours.append(scorer.score(wanted, query)["rouge1"].fmeasure)
        raw.append(scorer.score(wanted, search_statement(turn["raw"]))["rouge1"].fmeasure)
    assert len(turns) == 695
    assert sum(ours) / len(ours) > 0.74
    assert sum(ours) > sum(raw) + 0.04 * len(raw)


@pytest.mark.parametrize(
    ("question", "query"),
    [
        ("Which one is cheaper?", "BM25 ranking: one is cheaper"),
        ("Who audited that?", "BM25 ranking: audited"),
        ("Compare the two metrics", "BM25 ranking: two metrics"),
        ("tell me more", "BM25 ranking"),
        ("Why?", "BM25 ranking: reasons"),
        ("Now something else: how is ROUGE computed?", "ROUGE computed"),
    ],
)
def test_the_thread_of_a_conversation_is_kept(question, query):
    assert rewritten("BM25 ranking", question).search_query == query
