import json
from pathlib import Path

import pytest

from assistant.chat import Assistant
from assistant.generators.extractive import ExtractiveGenerator
from assistant.records import Answered, AskOptions, Retrieved, Rewritten
from assistant.refusal import is_foreign
from corpus.demo import __file__ as demo_package
from corpus.records import Scope
from corpus.settings import Settings
from corpus.store import Corpus
from corpus.writer import CorpusWriter

QUESTIONS = json.loads(Path(demo_package).with_name("questions.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("question", QUESTIONS["unanswerable"])
def test_what_the_corpus_does_not_hold_is_refused_with_what_came_nearest(ask_demo, question):
    turn = ask_demo(question)
    refusal = turn.answer.refusal
    assert refusal is not None
    assert refusal.reason in ("nothing_relevant", "nothing_supported")
    assert "these 16 papers" in refusal.message
    assert (turn.answer.text, turn.answer.sentences) == ("", ())
    assert len(refusal.nearest) == 3
    scores = [nearest.score for nearest in refusal.nearest]
    assert scores == sorted(scores, reverse=True)
    assert all(nearest.text and nearest.title for nearest in refusal.nearest)


@pytest.mark.parametrize(
    "question",
    [
        "Welche Methoden gibt es zur Zusammenfassung von Texten?",
        "Wie misst man die Treue von Zusammenfassungen?",
        "Quelles sont les méthodes pour évaluer les résumés ?",
        "Comment fonctionnent les modèles de diffusion ?",
        "稠密检索和稀疏检索有什么区别？",
        "Как работает поиск по документам?",
    ],
)
def test_a_question_in_another_language_is_told_to_ask_in_english(ask_demo, question):
    refusal = ask_demo(question).answer.refusal
    assert refusal is not None
    assert refusal.reason == "language"
    assert "English" in refusal.message


@pytest.mark.parametrize("one", QUESTIONS["examples"], ids=lambda one: one["question"][:30])
def test_examples_and_their_like_are_english(one):
    assert not is_foreign(one["question"])


@pytest.mark.parametrize(
    ("question", "foreign"),
    [
        ("BM25", False),
        ("ROUGE-L vs. BERTScore", False),
        ("Do German compounds such as 'Zusammenfassung' hurt BM25?", False),
        ("How are die Verben in the Universal Dependencies tagged?", False),
        ("μ and σ of the scores", False),
        ("¿Cómo se evalúan las citas?", True),
        ("Qu'est-ce que BM25 ?", True),
        ("BM25とは何ですか", True),
    ],
)
def test_only_what_is_surely_not_english_counts_as_foreign(question, foreign):
    assert is_foreign(question) == foreign


def test_an_empty_corpus_says_so(tmp_path, encoder):
    path = Settings(home=tmp_path).corpus_path
    CorpusWriter(path, encoder).publish()
    assistant = Assistant(Corpus.open(path, encoder), encoder, ExtractiveGenerator(encoder))
    events = list(assistant.ask("What is BM25?", (), AskOptions()))
    assert [type(event) for event in events] == [Rewritten, Retrieved, Answered]
    refusal = events[-1].turn.answer.refusal
    assert (refusal.reason, refusal.nearest) == ("empty_corpus", ())
    assert "index a collection" in refusal.message


def test_a_scope_that_nothing_falls_into_says_so(extractive_assistant):
    options = AskOptions(Scope(years=(1890, 1891)))
    *_, answered = extractive_assistant.ask("What is BM25?", (), options)
    assert answered.turn.answer.refusal.reason == "empty_corpus"
    assert "Widen the scope" in answered.turn.answer.refusal.message
    assert "0 papers" in answered.turn.answer.refusal.message


def test_one_paper_is_named_as_one(extractive_assistant, demo_corpus):
    paper = demo_corpus.papers()[0]
    options = AskOptions(Scope(papers=(paper.id,)))
    *_, answered = extractive_assistant.ask("How do graph neural networks predict toxicity?", (), options)
    assert "this paper" in answered.turn.answer.refusal.message
    assert {nearest.paper_id for nearest in answered.turn.answer.refusal.nearest} == {paper.id}
