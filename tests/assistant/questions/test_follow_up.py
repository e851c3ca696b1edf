"""Questions to go on with: taken from what was cited, answerable, and none where there is nothing good."""

from dataclasses import replace

import pytest

from assistant.chat import Assistant
from assistant.records import Answer, Answered, AskOptions, Evidence, LabelledPaper
from assistant.suggestions.follow_up import follow_up_questions, own_name, subjects
from corpus.records import Topic
from tests.assistant.asked_questions import NOT_ANSWERED
from tests.explorer.turns import make_paper
from tests.hostile_texts import growth

RANK_FUSION = "What is reciprocal rank fusion?"
BM25 = "What do the two parameters of BM25 do?"
ASKED = (
    RANK_FUSION,
    BM25,
    "How does ColBERT store its vectors?",
    "How is faithfulness checked by entailment?",
    "When should a system refuse to answer?",
)


@pytest.fixture
def suggest(ask_demo, demo_corpus, encoder):
    return lambda turn, *before: follow_up_questions(turn, before, demo_corpus, encoder)


def test_a_section_of_a_cited_paper_makes_a_question(ask_demo, suggest):
    assert "What are the limitations of rank fusion?" in suggest(ask_demo(RANK_FUSION))


def test_a_topic_that_other_papers_share_makes_a_question(ask_demo, suggest):
    assert "Which results are reported on MS MARCO?" in suggest(ask_demo(BM25))


@pytest.mark.parametrize("question", ASKED)
def test_there_are_three_at_most_and_always_the_same(question, ask_demo, suggest):
    found = suggest(ask_demo(question))
    assert len(set(found)) == len(found) <= 3 and found == suggest(ask_demo(question))


def test_what_is_suggested_is_answered(ask_demo, suggest, extractive_assistant):
    turn = ask_demo(RANK_FUSION)
    for question in suggest(turn):
        *_, last = Assistant.ask(extractive_assistant, question, (turn,), AskOptions())
        assert isinstance(last, Answered) and last.turn.answer.refusal is None, question


def test_what_was_asked_is_not_asked_again(ask_demo, suggest):
    turn = ask_demo(RANK_FUSION)
    before = replace(turn, question="which limitations has rank fusion?")
    assert "What are the limitations of rank fusion?" not in suggest(turn, before)


def test_what_cites_nothing_leads_nowhere(ask_demo, suggest):
    turn = ask_demo(NOT_ANSWERED)
    assert turn.answer.refusal and suggest(turn) == ()
    assert suggest(replace(turn, answer=Answer("Nothing is cited."))) == ()


def test_a_paper_that_the_corpus_does_not_hold_leads_nowhere(ask_demo, suggest):
    turn = ask_demo(RANK_FUSION)
    papers = (replace(turn.evidence.papers[0], paper=make_paper("gone")), *turn.evidence.papers[1:])
    assert "What are the limitations of rank fusion?" not in suggest(
        replace(turn, evidence=Evidence(papers), answer=replace(turn.answer))
    )


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("AdapLeR: Speeding up Inference by Adaptive Length Reduction", "AdapLeR"),
        ("mLUKE: The Power of Entity Representations", "mLUKE"),
        ("French CrowS-Pairs: Extending a challenge dataset", "French CrowS-Pairs"),
        ("Rank Fusion for Hybrid Search: Reciprocal Ranks", ""),
        ("Probing: a survey", ""),
        ("BERT: Pre-training of Deep Bidirectional Transformers", ""),  # says too little to ask about
        ("{X}Y: hostile", ""),
        ("", ""),
    ],
)
def test_a_system_is_named_where_its_title_says_so(title, name):
    assert own_name(replace(make_paper("p"), title=title)) == name


def test_a_title_names_its_topics_and_what_looks_like_a_name():
    topics = (Topic("method", "contrastive learning", 0.9), Topic("task", "dialogue", 0.5))
    paper = replace(make_paper("p"), title="Contrastive Learning from FactCC to MiniCheck", topics=topics)
    assert subjects(paper) == ("contrastive learning", "FactCC", "MiniCheck")


@pytest.mark.parametrize("piece", ["1", "A", "a1", "A a "])
def test_a_title_of_three_thousand_digits_froze_the_server(piece):
    def suggested(title):
        paper = replace(make_paper("p"), title=title)
        return own_name(paper), subjects(paper)

    assert growth(suggested, piece, 3000) < 24


def test_hostile_names_make_no_question(ask_demo, suggest):
    turn = ask_demo(RANK_FUSION)
    hostile = "X{question.__class__}Y"
    paper = replace(turn.evidence.papers[0].paper, title=f"{hostile}: a system")
    changed = (LabelledPaper(1, paper, turn.evidence.papers[0].passages), *turn.evidence.papers[1:])
    assert not any("{" in question for question in suggest(replace(turn, evidence=Evidence(changed))))
