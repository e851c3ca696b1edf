import json
from dataclasses import replace

import pytest

from assistant.admission import LONGEST_QUESTION
from assistant.exports.markdown import to_markdown
from assistant.generators.extractive.generator import ExtractiveGenerator
from assistant.records import (
    Answered,
    AskOptions,
    AssistantError,
    Checking,
    Conversation,
    Message,
    Retrieved,
    Rewritten,
    Written,
)
from assistant.trail.transcript import from_json, to_json
from corpus.records import Scope, passage_id
from tests.assistant.storage.test_conversations import make_turn
from tests.standin_chat import KEY_CANARY, StandinChat, reply

QUESTION = "How does BM25 rank documents?"
EARLIER = (make_turn("What is late interaction?", "It compares tokens."),)
SCOPE = AskOptions(Scope(collections=("field-notes-retrieval",)), 4)


def ask(assistant, question=QUESTION, history=(), options=SCOPE):
    """Return all events of a question."""
    return list(assistant.ask(question, history, options))


def answered(assistant_over, *behaviours, options=SCOPE):
    """Return the events of a question whose search query is BM25 and whose answer is the given behaviour."""
    with StandinChat(reply("BM25 ranking"), *behaviours) as server:
        return ask(assistant_over(server), history=EARLIER, options=options)


# The extractive generator


def test_events_come_in_order_and_the_turn_tells_everything(extractive_assistant, demo_corpus):
    events = ask(extractive_assistant)
    kinds = [type(event) for event in events]
    assert kinds[:2] == [Rewritten, Retrieved]
    assert set(kinds[2:-2]) == {Written}
    assert kinds[-2:] == [Checking, Answered]
    assert kinds[-1] is Answered
    turn = events[-1].turn
    assert "".join(event.text for event in events if isinstance(event, Written)) == turn.answer.text
    assert turn.rewrite == events[0].rewrite
    assert [paper.paper for paper in turn.evidence.papers] == [found.paper for found in events[1].papers]
    assert [paper.label for paper in turn.evidence.papers] == [1, 2, 3, 4]
    abstracts = {passage_id(paper.paper.id, 0) for paper in turn.evidence.papers}
    assert {hit.passage_id for hit in turn.hits} | abstracts == {
        passage.id for paper in turn.evidence.papers for passage in paper.passages
    }
    assert all(
        [passage.number for passage in paper.passages] == sorted(passage.number for passage in paper.passages)
        for paper in turn.evidence.papers
    )
    assert [call.step for call in turn.calls] == ["rewrite", "write"]
    assert [step.step for step in turn.seconds] == ["rewrite", "retrieve", "write", "check"]
    assert all(step.seconds >= 0 for step in turn.seconds)
    assert {entry.table: entry.version for entry in turn.provenance.corpus} == dict(
        demo_corpus.manifest.versions
    )
    assert turn.provenance.encoder_sha256 == demo_corpus.manifest.encoder_sha256
    assert turn.provenance.generator == "extractive"
    assert (turn.question, turn.scope, turn.papers_wanted) == (QUESTION, SCOPE.scope, 4)
    assert turn.asked.endswith("+00:00")


def test_a_follow_up_is_searched_with_its_subject(extractive_assistant):
    *_, first = ask(extractive_assistant, "What is late interaction?")
    *_, second = ask(extractive_assistant, "What about its storage?", (first.turn,))
    assert "late interaction" in second.turn.rewrite.search_query
    assert "storage" in second.turn.rewrite.search_query
    titles = [paper.paper.title for paper in second.turn.evidence.papers]
    assert any("interaction" in title.lower() for title in titles[:2])


@pytest.mark.parametrize(
    ("question", "options", "words"),
    [
        ("", SCOPE, "question is empty"),
        (" \n\t ", SCOPE, "question is empty"),
        ("?!… — ()", SCOPE, "question is empty"),
        ("\x00\x07", SCOPE, "question is empty"),
        ("the of and", SCOPE, "names no subject"),
        ("What is the?", SCOPE, "names no subject"),
        ("why?" * 2500, SCOPE, "10,000 characters; 2,000 can be taken"),
        (QUESTION, replace(SCOPE, papers=0), "from 1 to 15, not 0"),
        (QUESTION, replace(SCOPE, papers=16), "from 1 to 15, not 16"),
        (QUESTION, replace(SCOPE, papers=-1), "from 1 to 15, not -1"),
        (
            QUESTION,
            AskOptions(Scope(collections=("no-such",))),
            "no collection 'no-such'. It holds: field-notes-",
        ),
        (QUESTION, AskOptions(Scope(collections=("x' OR '1'='1",))), "no collection"),
        (QUESTION, AskOptions(Scope(papers=("no-such",))), "no paper 'no-such'"),
        (QUESTION, AskOptions(Scope(papers=("x' OR '1'='1",))), "no paper"),
    ],
)
def test_what_cannot_be_asked_is_said_in_one_sentence(extractive_assistant, question, options, words):
    with pytest.raises(AssistantError) as caught:
        ask(extractive_assistant, question, (), options)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    "question",
    [
        "'; DROP TABLE passages; --",
        'title:"BM25" AND (dense OR -sparse)~2 ^ * ? \\',
        "BM25 🦜 \ud800 \x00 end",
        "BM25 " * (LONGEST_QUESTION // 5),
        "[1] {label} $papers ${question} %s",
    ],
)
def test_any_question_comes_to_an_end(extractive_assistant, question):
    *_, last = ask(extractive_assistant, question, (), AskOptions(papers=1))
    turn = last.turn
    assert turn.answer.sentences or turn.answer.refusal
    assert from_json(to_json(Conversation("c", "t", (turn,)))).turns == (turn,)


@pytest.mark.parametrize("papers", [1, 15])
def test_the_number_of_papers_is_kept(extractive_assistant, papers):
    *_, last = ask(extractive_assistant, QUESTION, (), AskOptions(papers=papers))
    assert len(last.turn.evidence.papers) == papers
    assert set(last.turn.answer.cited_labels) <= set(range(1, papers + 1))


@pytest.mark.parametrize(
    "question", ["What are the main contributions of this paper?", "Which data set do the authors use?"]
)
def test_fault_a_question_about_this_paper_was_answered_from_any_paper(extractive_assistant, question):
    turn = extractive_assistant.answer(question)
    assert turn.answer.refusal is not None and turn.answer.refusal.reason == "which_paper"
    chosen = turn.answer.refusal.nearest
    assert len({paper.paper_id for paper in chosen}) == len(chosen) > 2
    scope = Scope(papers=(chosen[0].paper_id,))
    refused = extractive_assistant.answer(question, (), AskOptions(scope)).answer.refusal
    assert refused is None or refused.reason != "which_paper"


def test_a_paper_that_the_question_or_conversation_names_is_not_asked_for(extractive_assistant):
    named = extractive_assistant.answer("What does this paper say about BM25?")
    followed = extractive_assistant.answer("How do the authors evaluate it?", (named,))
    for turn in (named, followed):
        assert turn.answer.refusal is None or turn.answer.refusal.reason != "which_paper"


def test_fault_an_empirical_perspective_was_refused(extractive_assistant):
    first = extractive_assistant.answer("What is ColBERTv2?")
    turn = extractive_assistant.answer("Tell me more about this from an empirical perspective.", (first,))
    assert turn.rewrite.search_query == "Tell me more about ColBERTv2 from an empirical perspective."
    assert "MRR@10 of 39.7" in turn.answer.text


def test_only_papers_of_the_collection_are_cited(extractive_assistant):
    options = AskOptions(Scope(collections=("field-notes-evaluation",)), 3)
    *_, last = ask(extractive_assistant, "How do ROUGE and BERTScore differ?", (), options)
    assert last.turn.answer.refusal is None
    assert {paper.paper.collection_id for paper in last.turn.evidence.papers} == {"field-notes-evaluation"}


# A model behind a real socket


def test_a_models_answer_streams_and_every_label_leads_to_a_passage(assistant_over):
    text = "BM25 ranks documents by term frequency (PUID:1, PUID:2). It needs no training data [1]."
    events = answered(assistant_over, reply(text, usage=(1200, 42)))
    pieces = [event.text for event in events if isinstance(event, Written)]
    assert len(pieces) > 10
    assert "".join(pieces) == text
    turn = events[-1].turn
    assert turn.answer.text == "BM25 ranks documents by term frequency [1][2]. It needs no training data [1]."
    assert [sentence.labels for sentence in turn.answer.sentences] == [(1, 2), (1,)]
    passages = {passage.id: passage for paper in turn.evidence.papers for passage in paper.passages}
    for sentence in turn.answer.sentences:
        for citation in sentence.citations:
            passage = passages[citation.passage_id]
            assert citation.evidence in passage.text
            if citation.sentence is not None:
                assert passage.sentence_text(citation.sentence) == citation.evidence
            assert passages[citation.passage_id].paper_id == turn.evidence.paper(citation.label).paper.id
    assert turn.rewrite.search_query == "BM25 ranking"
    assert (turn.calls[1].prompt_tokens, turn.calls[1].completion_tokens) == (1200, 42)
    assert turn.provenance.generator == "m"


def test_the_turn_holds_what_was_really_sent(assistant_over):
    with StandinChat(reply("BM25 ranking"), reply("It ranks [1].")) as server:
        turn = ask(assistant_over(server), history=EARLIER)[-1].turn
    sent = [tuple(Message(**message) for message in request.body["messages"]) for request in server.requests]
    assert [call.messages for call in turn.calls] == sent
    assert [call.reply for call in turn.calls] == ["BM25 ranking", "It ranks [1]."]
    exported = to_json(Conversation("c", "t", (turn,))) + to_markdown(Conversation("c", "t", (turn,)))
    assert KEY_CANARY not in exported


UNCHANGED = replace(SCOPE, finds_citations=False)


def test_no_answer_becomes_a_refusal_with_the_models_reason(assistant_over):
    said = reply("NO ANSWER: the papers are about ranking, not about whales.")
    turn = answered(assistant_over, said, options=UNCHANGED)[-1].turn
    assert turn.answer.refusal.reason == "nothing_supported"
    assert (
        "The writer's reason: the papers are about ranking, not about whales." in turn.answer.refusal.message
    )
    assert len(turn.answer.refusal.nearest) == 3
    assert turn.evidence.papers


def test_an_answer_without_labels_is_kept_and_marked_uncited(assistant_over):
    turn = answered(assistant_over, reply("BM25 ranks. So does DPR."))[-1].turn
    assert [sentence.claim for sentence in turn.answer.sentences] == ["BM25 ranks.", "So does DPR."]
    assert not any(sentence.labels or sentence.citations for sentence in turn.answer.sentences)


def test_invented_labels_are_never_citations(assistant_over):
    turn = answered(assistant_over, reply("BM25 ranks [9][1]. DPR does too [77]."))[-1].turn
    assert turn.answer.text == "BM25 ranks [9?][1]. DPR does too [77?]."
    assert turn.answer.cited_labels == (1,)
    assert [sentence.unknown_labels for sentence in turn.answer.sentences] == [("9",), ("77",)]


@pytest.mark.parametrize("text", ["[1][2]", " [1]. ", "## Answer", "…"])
def test_a_reply_that_claims_nothing_is_a_refusal(assistant_over, text):
    turn = answered(assistant_over, reply(text), options=UNCHANGED)[-1].turn
    assert turn.answer.refusal.reason == "nothing_written"


def test_an_answer_cut_by_its_length_says_so(assistant_over):
    turn = answered(assistant_over, reply("BM25 ranks documents [1] by", finish_reason="length"))[-1].turn
    assert turn.calls[-1].finish_reason == "length"
    assert turn.answer.cited_labels == (1,)


def test_a_reply_whose_tokens_all_went_into_thoughts_is_told_in_words(assistant_over):
    thought = reply("<think>BM25? Let me see", finish_reason="length")
    turn = answered(assistant_over, thought, options=UNCHANGED)[-1].turn
    assert turn.answer.refusal.reason == "nothing_written"
    assert turn.answer.refusal.message.startswith("The writer used all the tokens of its reply before")
    assert [call.attempts for call in turn.calls] == [1, 1]
    told = answered(assistant_over, thought)[-1].turn.answer
    assert told.stands_in_for and told.remark == turn.answer.refusal.message


def test_stopping_stops_the_model_and_makes_no_turn(assistant_over):
    with StandinChat(reply("BM25 ranking"), reply("word " * 400, wait_between=0.01)) as server:
        asking = assistant_over(server).ask(QUESTION, EARLIER, SCOPE)
        events = [next(asking) for _ in range(4)]
        asking.close()
        assert server.wait_for_hang_up()
    assert isinstance(events[-1], Written)
    assert list(asking) == []


def test_a_query_with_characters_that_no_index_takes_is_cleaned(assistant_over):
    with StandinChat(reply("x", "BM25\x00 rank\x07ing ", "\x85"), reply("It ranks [1].")) as server:
        turn = ask(assistant_over(server), history=EARLIER)[-1].turn
    assert turn.answer.cited_labels == (1,)
    assert turn.rewrite.search_query == "BM25 ranking"


def test_the_extractive_generator_goes_on_where_a_model_began(assistant_over, extractive_assistant):
    first = answered(assistant_over, reply("It ranks by term frequency [1]."))[-1].turn
    *_, second = ask(extractive_assistant, "What about its limitations?", (first,))
    assert "BM25" in second.turn.rewrite.search_query
    assert ExtractiveGenerator.name == second.turn.provenance.generator


def test_a_turn_as_json_is_plain(assistant_over):
    turn = answered(assistant_over, reply("It ranks [1]."))[-1].turn
    document = json.loads(to_json(Conversation("c", "t", (turn,))))
    assert document["conversation"]["turns"][0]["calls"][1]["parameters"]["temperature"] == 0.2


TABLE = "Which MRR@10 do retrievers reach on the MS MARCO passage development set?"


def test_a_model_is_given_the_table_to_its_heading_and_can_cite_it(assistant_over, extractive_assistant):
    few = replace(SCOPE, passages=(3,))
    *_, chosen = ask(extractive_assistant, TABLE, (), few)
    label = next(paper.label for paper in chosen.turn.evidence.papers if "late-interaction" in paper.paper.id)
    with StandinChat(
        reply(TABLE),
        reply(f"The table has RocketQA 37.0, 1 vector, and ColBERTv2 39.7, 1 code per token [{label}]."),
    ) as server:
        *_, told = ask(assistant_over(server), TABLE, EARLIER, few)
        sent = server.requests[1].body["messages"][1]["content"]
    assert (told.turn.in_context, chosen.turn.in_context) == (True, False)
    assert told.turn.hits == chosen.turn.hits

    alone, whole = (
        {passage.id: passage for paper in turn.evidence.papers for passage in paper.passages}
        for turn in (chosen.turn, told.turn)
    )
    assert alone.keys() <= whole.keys()
    for identifier in whole.keys() - alone.keys():
        found = whole[identifier]
        beside = [alone.get(passage_id(found.paper_id, found.number + step)) for step in (-1, 1)]
        assert any(other and other.section == found.section for other in beside)
    table = next(passage for passage in whole.values() if passage.table and "ColBERTv2" in passage.text)
    assert table.text in sent
    cited = [citation for sentence in told.turn.answer.sentences for citation in sentence.citations]
    assert [citation.passage_id for citation in cited] == [table.id]
