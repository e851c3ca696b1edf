"""Questions in other languages: translated by a model, answered in theirs, checked as far as that goes."""

from contextlib import ExitStack, closing

import pytest

from assistant.chat import Assistant
from assistant.generators.extractive import ExtractiveGenerator
from assistant.generators.prompted import PromptedGenerator
from assistant.models.together import Patience, TogetherModel
from assistant.records import AskOptions, Conversation, Turn
from assistant.trail.replay import Replayer
from assistant.trail.transcript import from_json, to_json
from assistant.wording import PROBLEMS, searched_for
from corpus.store import Corpus
from tests import small_corpus
from tests.standin_chat import StandinChat, reply

QUESTION = "Wie ordnet das Verfahren BM25 die gefundenen Dokumente?"
QUERY = "How does BM25 rank documents?"
ANSWER = "BM25 ordnet die Dokumente nach den Wörtern, die sie mit der Anfrage gemeinsam haben [1]."
WITH_NUMBER = "Das Verfahren wurde auf 98765 Dokumenten geprüft und braucht keine weiteren Daten [1]."


@pytest.fixture(scope="module")
def notes(tmp_path_factory, encoder):
    path = tmp_path_factory.mktemp("notes")
    texts = {
        "bm25": [
            "BM25 ranks documents by the words that they share with a query. Its parameters are set by hand."
        ],
        "dense": [
            "Dense retrieval compares vectors of queries and passages. Hard negatives help to train it."
        ],
    }
    small_corpus.write_corpus(
        path, encoder, {small_corpus.make_paper("notes", key): one for key, one in texts.items()}
    )
    return Corpus.open(path, encoder)


@pytest.fixture
def assistant_over(encoder):
    """Return what makes an assistant whose model is at a server's address."""
    with ExitStack() as stack:

        def make(server, timeout, corpus):
            patience = Patience(timeout, timeout)
            model = TogetherModel("m", "Model", api_key="k", base_url=server.url, patience=patience)
            stack.enter_context(closing(model))
            return Assistant(corpus, encoder, PromptedGenerator(model))

        yield make


def ask(assistant, question: str, history: tuple[Turn, ...] = ()) -> Turn:
    *_, last = assistant.ask(question, history, AskOptions())
    return last.turn


def test_a_model_translates_a_question_and_answers_in_its_language(assistant_over, notes):
    with StandinChat(reply(QUERY), reply(ANSWER)) as server:
        turn = ask(assistant_over(server, 5.0, notes), QUESTION)
    asked, written = turn.calls
    assert (turn.rewrite.search_query, turn.rewrite.language) == (QUERY, "de")
    assert (asked.step, written.step) == ("rewrite", "write")
    assert "search query in English" in asked.messages[-1].content and QUESTION in asked.messages[-1].content
    assert "Write the answer in German" in written.messages[-1].content
    assert QUESTION in written.messages[-1].content
    assert turn.answer.text == ANSWER
    assert "translated from German" in searched_for(turn)


def test_across_languages_nothing_was_scored_zero_nor_shown_as_supported(assistant_over, notes):
    with StandinChat(reply(QUERY), reply(f"{ANSWER} {WITH_NUMBER}")) as server:
        answer = ask(assistant_over(server, 5.0, notes), QUESTION).answer
    whole, numbered = answer.sentences
    assert [(one.overlap, one.support, one.sentence) for one in whole.citations] == [(None, None, None)]
    assert whole.support is None
    assert numbered.support == 0.0  # a number that stands in nothing cited
    assert (answer.citation_recall, answer.citation_precision, answer.relevance) == (None, None, None)
    assert "across" in answer.problems and "only the numbers" in PROBLEMS["across"]


def test_an_answer_in_english_is_scored_as_ever(assistant_over, notes):
    with StandinChat(reply(QUERY), reply("BM25 ranks documents by the words that they share [1].")) as server:
        answer = ask(assistant_over(server, 5.0, notes), QUESTION).answer
    (sentence,) = answer.sentences
    assert sentence.support is not None and "across" not in answer.problems


def test_a_follow_up_in_the_same_language_is_translated_in_its_light(assistant_over, notes):
    follow_up = "Und wie werden seine Parameter eingestellt?"
    with StandinChat(
        reply(QUERY), reply(ANSWER), reply("How are the parameters of BM25 set?"), reply(ANSWER)
    ) as server:
        assistant = assistant_over(server, 5.0, notes)
        first = ask(assistant, QUESTION)
        second = ask(assistant, follow_up, (first,))
    assert second.rewrite.search_query == "How are the parameters of BM25 set?"
    assert (second.rewrite.language, second.rewrite.used_turns) == ("de", (0,))
    assert QUESTION in second.calls[0].messages[-1].content


def test_a_question_that_a_model_does_not_translate_is_refused(assistant_over, notes):
    for said in (QUESTION, "", "{}"):
        with StandinChat(reply(said) if said else reply("\n")) as server:
            turn = ask(assistant_over(server, 5.0, notes), QUESTION)
        assert turn.answer.refusal and turn.answer.refusal.reason == "language"
        assert "ask in English" in turn.answer.refusal.message
        assert turn.rewrite.language == "" and len(turn.calls) == 1


def test_a_translated_turn_is_kept_and_replayed(assistant_over, notes, encoder):
    with StandinChat(reply(QUERY), reply(ANSWER)) as server:
        turn = ask(assistant_over(server, 5.0, notes), QUESTION)
    kept = Conversation("c", "Titel", (turn,))
    assert from_json(to_json(kept)) == kept
    (replayed,) = Replayer(encoder, lambda _: notes).replay(kept)
    assert [step.differences for step in replayed.steps if step.differences] == []
    assert replayed.notes == ()


def test_without_a_model_a_question_in_another_language_is_refused_with_a_way_on(notes, encoder):
    refusal = ask(Assistant(notes, encoder, ExtractiveGenerator(encoder)), QUESTION).answer.refusal
    assert refusal.reason == "language"
    assert "in English" in refusal.message and "translates" in refusal.message
