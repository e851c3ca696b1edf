"""A second search for the part of a question that what was found leaves open, through the public door."""

import json
from dataclasses import replace

import pytest

from assistant.exports.markdown import to_markdown
from assistant.generators.choice import open_generator, searches_again
from assistant.generators.estimate import question_price
from assistant.generators.prompted import ModelOptions
from assistant.models.menu import ModelEntry
from assistant.questions.rewriting import query_from_part
from assistant.records import AskOptions, Conversation, Parameters, Retrieved
from assistant.second_search import join_papers
from assistant.trail.replay import Replayer
from assistant.trail.transcript import from_json, to_json
from corpus.settings import Settings
from tests.standin_chat import StandinChat, reply

QUESTION = "How does ColBERT store token vectors, and when should a system abstain?"
OPEN = "when should a system abstain?"
ABSTAINING = "field-notes-evaluation/refusal"
SHOWN = {"part": OPEN, "query": OPEN, "joined": [ABSTAINING]}
FEW = AskOptions(papers=4)
ON, OFF = replace(FEW, searches_again=True), replace(FEW, searches_again=False)
WHOLE = "How does dense retrieval work, and why does it fail?"


@pytest.fixture(scope="module")
def turns(extractive_assistant):
    """Return the turn with a second search, and the one without."""
    return tuple(extractive_assistant.answer(QUESTION, (), options) for options in (FEW, OFF))


def replayed(turn, corpus, encoder):
    (replay,) = Replayer(encoder, lambda _versions: corpus).replay(Conversation("c", "", (turn,)))
    return replay


def test_the_open_part_is_answered_by_a_paper_that_the_first_search_did_not_find(turns):
    again, once = turns
    assert once.second_searches == ()
    assert ABSTAINING not in {paper.paper.id for paper in once.evidence.papers}
    assert once.answer.text.endswith("The papers found do not answer “when should a system abstain”.")
    (second,) = again.second_searches
    assert (second.part, second.query, second.joined) == (OPEN, OPEN, (ABSTAINING,))
    assert "abstain" in again.answer.text and "ColBERT" in again.answer.text
    assert ABSTAINING in {paper.paper.id for paper in again.cited_papers}


def test_the_papers_are_no_more_than_wanted_and_the_first_stay(turns):
    again, once = turns
    before = [paper.paper.id for paper in once.evidence.papers]
    now = [paper.paper.id for paper in again.evidence.papers]
    assert len(now) == len(before) == 4
    assert [paper.label for paper in again.evidence.papers] == [1, 2, 3, 4]
    assert now[:2] == before[:2]
    assert [paper.found_for for paper in again.evidence.papers if paper.paper.id == ABSTAINING] == [(OPEN,)]
    assert again.hits == once.hits


@pytest.mark.parametrize("wanted", [1, 2, 3, 5, 15])
def test_the_second_search_takes_half_the_places_at_most(extractive_assistant, wanted):
    first = extractive_assistant.answer(QUESTION, (), replace(OFF, papers=wanted))
    turn = extractive_assistant.answer(QUESTION, (), replace(ON, papers=wanted))
    known = {paper.paper.id for paper in first.evidence.papers}
    now = [paper.paper.id for paper in turn.evidence.papers]
    assert len(now) == wanted
    assert now[0] == first.evidence.papers[0].paper.id
    assert len([identifier for identifier in now if identifier not in known]) <= wanted // 2


def test_papers_of_both_searches_are_joined_without_losing_the_first(extractive_assistant):
    events = extractive_assistant.ask("How does BM25 rank documents?", (), AskOptions(papers=8))
    found = next(event.papers for event in events if isinstance(event, Retrieved))
    ids = [hits.paper.id for hits in found]
    joined = join_papers(found[:4], found[2:], 4)
    # Two of the first were found again and stay; two new ones take the places of the others.
    assert [hits.paper.id for hits in joined] == [*ids[2:6]]
    assert join_papers(found[:4], found[4:], 4)[:2] == found[:2]
    assert join_papers(found[:1], found[4:], 1) == found[:1]
    assert len(join_papers(found[:2], found[4:], 8)) == 6


def test_a_question_whose_parts_are_answered_is_searched_for_once(extractive_assistant):
    turn = extractive_assistant.answer(WHOLE, (), ON)
    assert turn.second_searches == ()
    assert [call.step for call in turn.calls] == ["rewrite", "write"]
    assert turn.answer == extractive_assistant.answer(WHOLE, (), OFF).answer


def test_a_question_of_which_one_part_is_answered_was_refused(extractive_assistant):
    turn = extractive_assistant.answer("What does ROUGE miss, and who won the 1998 world cup?", (), ON)
    assert [(second.part, second.joined) for second in turn.second_searches] == [
        ("who won the 1998 world cup?", ())
    ]
    *told, open_part = turn.answer.sentences
    assert all(sentence.citations for sentence in told)
    assert open_part.claim == "The papers found do not answer “who won the 1998 world cup”."
    assert not open_part.needs_citation
    assert turn.answer.citation_recall == 1


@pytest.mark.parametrize(
    "question",
    [
        "What is GPT-7 and how is it trained?",
        "Who won the 1998 world cup, and how did it come about?",
    ],
)
def test_a_question_of_which_no_part_is_answered_is_refused(extractive_assistant, question):
    assert extractive_assistant.answer(question, (), ON).answer.refusal


def test_each_open_part_is_searched_for(extractive_assistant):
    first, last = "How does SPLADE expand documents", OPEN
    turn = extractive_assistant.answer(f"{first}, and {last}", (), ON)
    assert [second.part for second in turn.second_searches] == [first, last]
    assert turn.second_searches[1].joined == (ABSTAINING,)


def test_the_trail_holds_both_searches_and_replays_equal(turns, demo_corpus, encoder):
    for turn in turns:
        conversation = Conversation("c", "", (turn,))
        assert from_json(to_json(conversation)) == conversation
        replay = replayed(turn, demo_corpus, encoder)
        assert replay.is_equal and not replay.impossible, replay
    again = turns[0]
    forged = replace(again, second_searches=(replace(again.second_searches[0], query="another query"),))
    (retrieve,) = [step for step in replayed(forged, demo_corpus, encoder).steps if step.step == "retrieve"]
    assert retrieve.outcome == "different"
    assert "second search, 1, query" in retrieve.differences[0]


def test_a_trail_without_the_new_fields_is_read_and_replayed(turns, demo_corpus, encoder):
    document = json.loads(to_json(Conversation("c", "", (turns[1],))))
    (turn,) = document["conversation"]["turns"]
    del turn["second_searches"]
    for paper in turn["evidence"]["papers"]:
        del paper["found_for"]
    (read,) = from_json(json.dumps(document)).turns
    assert read == turns[1]
    assert replayed(read, demo_corpus, encoder).is_equal


def test_exports_and_the_terminal_tell_of_the_second_search(turns, run):
    assert f"Searched again for: {OPEN}" in to_markdown(Conversation("c", "", (turns[0],)))
    shown = run("ask", QUESTION, "--papers", "4", "--json")
    assert json.loads(shown.stdout)["second_searches"] == [SHOWN]
    assert f"Searched again for: {OPEN}" in run("ask", QUESTION, "--papers", "4").output


def test_off_is_off(monkeypatch, run):
    monkeypatch.setenv("PAPER_TRAIL_SECOND_SEARCH", "off")
    assert json.loads(run("ask", QUESTION, "--papers", "4", "--json").stdout)["second_searches"] == []


@pytest.mark.parametrize(
    ("setting", "free", "paid"), [("auto", True, False), ("on", True, True), ("off", False, False)]
)
def test_only_models_that_cost_are_not_asked_unless_told(setting, free, paid, encoder):
    settings = Settings(second_search=setting)
    assert open_generator("extractive", settings, encoder).searches_again is free
    entries = {
        provider: ModelEntry(id="m", label="M", provider=provider)
        for provider in ("local", "openai-compatible", "together")
    }
    assert searches_again(entries["local"], settings) is free
    assert searches_again(entries["openai-compatible"], settings) is free
    assert searches_again(entries["together"], settings) is paid
    priced = entries["openai-compatible"].model_copy(update={"price_in": 1.0, "price_out": 1.0})
    assert searches_again(priced, settings) is paid


def test_a_model_is_asked_for_the_query_once_and_its_call_is_kept(assistant_over, demo_corpus, encoder):
    query = "abstention of a system on unanswerable questions"
    options = replace(ON, finds_citations=False)
    with StandinChat(reply(query), reply("It should abstain without enough context [4].")) as server:
        assistant = assistant_over(server, options=ModelOptions())
        turn = assistant.answer(QUESTION, (), options)
    assert [call.step for call in turn.calls] == ["search_again", "write"]
    assert OPEN in turn.calls[0].messages[-1].content
    assert turn.second_searches[0].query == query
    assert ABSTAINING in turn.second_searches[0].joined
    assert replayed(turn, demo_corpus, encoder).is_equal


def test_a_reply_that_is_no_query_is_replaced_by_the_words_of_the_part(assistant_over):
    with StandinChat(reply("<b>purple cows</b>"), reply("It should abstain [4].")) as server:
        turn = assistant_over(server).answer(QUESTION, (), ON)
    assert turn.second_searches[0].query == OPEN


def test_a_model_is_not_asked_by_default_where_nobody_allowed_it(assistant_over):
    with StandinChat(reply("ColBERT stores vectors [1].")) as server:
        turn = assistant_over(server).answer(QUESTION, (), FEW)
    assert turn.second_searches == ()
    assert [call.step for call in turn.calls] == ["write"]


def test_the_call_is_in_the_estimate():
    entry = ModelEntry(id="m", label="M", provider="together", price_in=1.0, price_out=2.0)
    once = question_price(entry, Parameters(), FEW)
    assert question_price(entry, Parameters(), FEW, searches_again=True) > once > 0


@pytest.mark.parametrize(
    ("part", "question", "query"),
    [
        (OPEN, QUESTION, OPEN),
        ("why does it fail?", WHOLE, "why does dense retrieval fail?"),
        (
            "how large is it?",
            "What is the PLAID engine, and how large is it?",
            "how large is the PLAID engine?",
        ),
    ],
)
def test_a_part_is_searched_with_the_subject_it_leans_on(part, question, query):
    assert query_from_part(part, question) == query


def test_a_follow_up_that_repeats_the_last_question_was_answered_with_it(extractive_assistant):
    first = extractive_assistant.answer("How much storage does late interaction need?", (), OFF)
    second = extractive_assistant.answer("And how can that be reduced?", (first,), OFF)
    assert second.rewrite.search_query == f"{first.question} {second.question}"
    assert second.rewrite.kind == "how"
    assert first.answer.text not in second.answer.text


def test_each_part_is_answered_by_its_own_kind(extractive_assistant):
    turn = extractive_assistant.answer("What are hard negatives, and why do they matter?", (), OFF)
    assert turn.answer.text.startswith("A hard negative is a passage that the retriever ranks highly")


def test_an_author_was_looked_for_in_the_passages(extractive_assistant):
    refusal = extractive_assistant.answer(
        "Who wrote the note “Rank Fusion for Hybrid Search”?", (), OFF
    ).answer.refusal
    assert "corpus's record does: “Rank Fusion for Hybrid Search" in refusal.message
