"""Questions in other languages: translated by a model, answered in theirs, checked as far as that goes."""

from contextlib import ExitStack, closing
from dataclasses import replace

import pytest

from assistant.chat import Assistant
from assistant.checking.support import labels_across
from assistant.exports.registry import CONVERSATION_FORMATS
from assistant.generators.extractive.generator import ExtractiveGenerator
from assistant.generators.prompted import PromptedGenerator
from assistant.models.together import Patience, TogetherModel
from assistant.records import AskOptions, Conversation, Turn
from assistant.trail.replay import Replayer
from assistant.trail.transcript import from_json, to_json
from assistant.wording import PROBLEMS, searched_for
from corpus.encoders.base import SentenceEncoder
from corpus.records import Scope, Sentence
from corpus.sentences import sentence_spans
from corpus.store.corpus import Corpus
from tests import small_corpus
from tests.standin_chat import StandinChat, reply
from tests.tiny_encoder import save_tiny_encoder

QUESTION = "Wie ordnet das Verfahren BM25 die gefundenen Dokumente?"
QUERY = "How does BM25 rank documents?"
ANSWER = "BM25 ordnet die Dokumente nach den Wörtern, die sie mit der Anfrage gemeinsam haben [1]."
WITH_NUMBER = "Das Verfahren wurde auf 98765 Dokumenten geprüft und braucht keine weiteren Daten [1]."


NOTES = {
    "bm25": "BM25 ranks documents by the words that they share with a query. Its parameters are set by hand.",
    "dense": "Dense retrieval compares vectors of queries and passages. Hard negatives help to train it.",
}
NOTIZEN = {
    "bm25": "BM25 ordnet die gefundenen Dokumente nach den Wörtern, die sie mit der Anfrage gemeinsam haben. "
    "Seine Parameter werden von Hand eingestellt.",
    "dicht": "Die dichte Suche vergleicht Vektoren von Anfragen und Passagen. "
    "Schwierige Gegenbeispiele helfen beim Training.",
}


def write_notes(path, encoder, texts, language=""):
    papers = {
        key: replace(small_corpus.make_paper("notes", key), language=language, position=at)
        for at, key in enumerate(texts)
    }
    passages = [
        replace(passage, sentences=tuple(Sentence(*span) for span in sentence_spans(passage.text)))
        for key, text in texts.items()
        for passage in small_corpus.make_passages(papers[key], [text])
    ]
    small_corpus.write_with_sentences(path, encoder, list(papers.values()), passages)
    return Corpus.open(path, encoder)


@pytest.fixture(scope="module")
def notes(tmp_path_factory, encoder):
    return write_notes(tmp_path_factory.mktemp("notes"), encoder, NOTES)


@pytest.fixture(scope="module")
def notizen(tmp_path_factory, encoder):
    return write_notes(tmp_path_factory.mktemp("notizen"), encoder, NOTIZEN, "de")


@pytest.fixture(scope="module")
def german_encoder(tmp_path_factory):
    """Return a tiny encoder whose card says that it reads English and German."""
    folder = save_tiny_encoder(tmp_path_factory.mktemp("encoder") / "tiny")
    (folder / "README.md").write_text("---\nlanguage:\n- en\n- de\n---\n# Tiny\n", encoding="utf-8")
    return SentenceEncoder(str(folder))


@pytest.fixture
def assistant_over(encoder):
    """Yield a function that makes an assistant whose model is at a server's address."""
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


# The question, the answer and the follow-up.
CONVERSATIONS = {
    ("zh", "Chinese"): (
        "BM25是如何对文档进行排序的？",
        "BM25根据文档与查询共有的词对文档排序 [1]。",
        "它的参数是怎么设置的？",
    ),
    ("es", "Spanish"): (
        "¿Cómo ordena BM25 los documentos encontrados?",
        "BM25 ordena los documentos por las palabras que comparten con la consulta [1].",
        "¿Y cómo se ajustan sus parámetros?",
    ),
}


@pytest.mark.parametrize("language", CONVERSATIONS)
def test_a_conversation_in_another_language_is_translated_turn_by_turn(assistant_over, notes, language):
    question, answer, follow_up = CONVERSATIONS[language]
    later = "How are the parameters of BM25 set?"
    with StandinChat(reply(QUERY), reply(answer), reply(later), reply(answer)) as server:
        assistant = assistant_over(server, 5.0, notes)
        first = ask(assistant, question)
        second = ask(assistant, follow_up, (first,))
    code, name = language
    assert [turn.rewrite.language for turn in (first, second)] == [code, code]
    assert second.rewrite.search_query == later
    assert question in second.calls[0].messages[-1].content
    for turn in (first, second):
        assert f"Write the answer in {name}" in turn.calls[-1].messages[-1].content
        assert turn.answer.text == answer
        assert [citation.support for citation in turn.answer.sentences[0].citations] == [None]


def test_across_languages_nothing_was_scored_zero_nor_shown_as_supported(assistant_over, notes):
    with StandinChat(reply(QUERY), reply(f"{ANSWER} {WITH_NUMBER}")) as server:
        answer = ask(assistant_over(server, 5.0, notes), QUESTION).answer
    whole, numbered = answer.sentences
    assert [(citation.overlap, citation.support, citation.sentence) for citation in whole.citations] == [
        (None, None, None)
    ]
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
        message = turn.answer.refusal.message
        assert "seems to be in German" in message and "no translation" in message
        assert "Ask in English" in message and "have a model" not in message
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
    for told in (
        "seems to be in German",
        "papers are in English",
        "all-MiniLM-L6-v2, reads English",
        "Ask in English",
        "have a model answer, which translates",
        "PAPER_TRAIL_ENCODER=",
        "The passages below have “BM25” in common with it.",
    ):
        assert told in refusal.message
    assert [passage.text for passage in refusal.nearest] == [NOTES["bm25"]]


def test_a_chinese_question_is_refused_as_such_with_the_passages_that_have_its_names(notes, encoder):
    asked = "BM25的参数是如何设置的？"
    refusal = ask(Assistant(notes, encoder, ExtractiveGenerator(encoder)), asked).answer.refusal
    assert refusal.reason == "language" and "seems to be in Chinese" in refusal.message
    assert "have “BM25” in common" in refusal.message
    assert [passage.text for passage in refusal.nearest] == [NOTES["bm25"]]


def test_papers_in_the_language_of_a_question_are_found_by_their_words(notizen, encoder):
    answer = ask(Assistant(notizen, encoder, ExtractiveGenerator(encoder)), QUESTION).answer
    assert answer.refusal is None
    first = answer.sentences[0]
    assert first.claim.startswith("BM25 ordnet die gefundenen Dokumente") and first.labels == (1,)
    assert first.citations[0].overlap == 1.0 and first.support > 0.65
    assert answer.relevance is None  # The relevance score was learned in English.
    assert "across" not in answer.problems


def test_an_answer_in_english_is_not_compared_with_papers_in_german(notizen, encoder):
    evidence = ask(Assistant(notizen, encoder, ExtractiveGenerator(encoder)), QUESTION).evidence
    labels = {paper.label for paper in evidence.papers}
    assert labels_across("BM25 ranks documents by the words they share.", evidence) == labels != set()
    assert labels_across(ANSWER, evidence) == set()


def test_what_no_paper_in_that_language_says_is_not_answered(notizen, encoder):
    asked = "Welche Rolle spielen Wale bei der Verdauung von Plankton?"
    refusal = ask(Assistant(notizen, encoder, ExtractiveGenerator(encoder)), asked).answer.refusal
    assert refusal.reason == "nothing_relevant"


def test_a_scope_without_papers_in_that_language_is_told_so(tmp_path, encoder):
    papers = {"en": ("english", NOTES["bm25"]), "de": ("deutsch", NOTIZEN["bm25"])}
    small_corpus.write_corpus(
        tmp_path,
        encoder,
        {
            replace(small_corpus.make_paper(home, "bm25"), language=language): [text]
            for language, (home, text) in papers.items()
        },
    )
    assistant = Assistant(Corpus.open(tmp_path, encoder), encoder, ExtractiveGenerator(encoder))
    within = {
        home: assistant.answer(QUESTION, options=AskOptions(scope=Scope(collections=(home,)))).answer.refusal
        for home in ("english", "deutsch")
    }
    assert within["english"].reason == "language"
    assert within["deutsch"] is None or within["deutsch"].reason != "language"


def test_an_encoder_that_reads_a_language_finds_and_cites_papers_in_it(tmp_path, german_encoder):
    corpus = write_notes(tmp_path, german_encoder, NOTIZEN, "de")
    turn = ask(Assistant(corpus, german_encoder, ExtractiveGenerator(german_encoder)), QUESTION)
    (citation, *_) = turn.answer.sentences[0].citations
    assert citation.evidence.startswith("BM25 ordnet die gefundenen Dokumente")
    assert citation.overlap == 1.0 and citation.support > 0.65
    assert turn.rewrite.language == "" and turn.rewrite.search_query == QUESTION


def test_where_the_encoder_reads_it_a_model_answers_without_a_translation(tmp_path, german_encoder):
    corpus = write_notes(tmp_path, german_encoder, NOTIZEN, "de")
    with ExitStack() as stack:
        server = stack.enter_context(StandinChat(reply(ANSWER)))
        model = TogetherModel("m", "Model", api_key="k", base_url=server.url, patience=Patience(5.0, 5.0))
        stack.enter_context(closing(model))
        turn = ask(Assistant(corpus, german_encoder, PromptedGenerator(model)), QUESTION)
    (written,) = turn.calls
    assert written.step == "write" and "Write the answer in German" in written.messages[-1].content
    (sentence,) = turn.answer.sentences
    assert sentence.citations[0].overlap and sentence.support is not None
    assert "across" not in turn.answer.problems


def test_a_turn_without_scores_goes_to_every_format(assistant_over, notes, encoder):
    with StandinChat(reply(QUERY), reply(ANSWER)) as server:
        turn = ask(assistant_over(server, 5.0, notes), QUESTION)
    kept = Conversation("c", "Titel", (turn,))
    written = {form.name: form.write(kept) for form in CONVERSATION_FORMATS}
    assert {"docx", "rdf", "bib"} <= written.keys() and all(written.values())
    assert "no score" in written["md"] and "no score" in written["html"]
