"""Every screen and state, run by Streamlit without a browser."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlencode

import pytest
from streamlit.testing.v1 import AppTest

from assistant.trail.transcript import from_json, to_json
from assistant.wording import PROBLEMS
from explorer.components.score_bar import citation_bars, describe_support
from explorer.presenters.citations import cited_sentences, passage_markdown
from explorer.presenters.coverage import demonstration_questions
from explorer.presenters.safe_text import escaped
from tests.demo_home import PROJECT
from tests.explorer.asking import QUESTION, ask, choose_the_model, finish, open_menu, texts, visitor_of
from tests.standin_chat import StandinChat, cut_off, refusal, reply

Screen = Callable[..., AppTest]
PAPER = "field-notes-retrieval/bm25"
UNANSWERABLE = "Which collaborative filtering method won the Netflix Prize?"


def examples_of(test: AppTest) -> list[str]:
    return [
        button.label.replace("\\", "") for button in test.button if str(button.key).startswith("example_")
    ]


def questions_of(collection: str) -> set[str]:
    return {question.question for question in demonstration_questions() if question.collection == collection}


def test_a_search_marks_what_matched_and_without_result_says_what_to_do(home: Path, screen: Screen) -> None:
    test = AppTest.from_file(str(PROJECT / "streamlit_app.py"), default_timeout=180).run()
    assert not test.exception
    assert "16 papers" in texts(test)
    test = screen("collection", q="reciprocal rank fusion")
    assert "match, best first" in texts(test)
    assert "**fusion**" in texts(test)
    test = screen("collection", q="zzzqqqxxyy")
    assert "No paper here matches “zzzqqqxxyy”" in texts(test)
    test.button(key="clear_filters").click().run()
    assert "16 papers" in texts(test)
    test = screen("collection", view="Cards")
    assert not test.exception
    assert "Paper Trail contributors" in texts(test)


def test_collections_are_chosen_and_kept_to(screen: Screen) -> None:
    test = screen("collection", collection="field-notes-evaluation")
    assert "8 papers" in texts(test)
    assert examples_of(test)
    assert set(examples_of(test)) <= questions_of("field-notes-evaluation")
    test = screen("ask")
    test.multiselect(key="scope_collections").set_value(["field-notes-evaluation"]).run()
    assert set(examples_of(test)) <= questions_of("field-notes-evaluation")
    test.button(key="example_1").click().run()
    assert visitor_of(finish(test)).turns[0].scope.collections == ("field-notes-evaluation",)
    test = screen("ask")
    test.multiselect(key="scope_collections").set_value(["field-notes-evaluation"]).run()
    ask(test, "How is citation precision defined?")
    turn = visitor_of(test).turns[0]
    assert turn.scope.collections == ("field-notes-evaluation",)
    assert {paper.paper.collection_id for paper in turn.evidence.papers} == {"field-notes-evaluation"}


@pytest.mark.parametrize("query", [{"view": "Nope", "page": "99"}, {"page": "x", "order": "' OR 1=1"}])
def test_a_bad_address_shows_the_collection_all_the_same(screen: Screen, query: dict[str, str]) -> None:
    test = screen("collection", **query)
    assert not test.exception
    assert "16 papers" in texts(test)


def test_papers_are_asked_that_are_selected_or_looked_at(screen: Screen) -> None:
    test = screen("collection")
    test.checkbox[0].check().run()
    test.checkbox[1].check().run()
    assert "2 papers selected" in texts(test)
    test.button(key="ask_these").click().run()
    assert len(visitor_of(test).asked_about) == 2
    assert len(test.multiselect(key="scope_papers").value) == 2
    test = screen("paper", id=PAPER)
    test.button(key="ask_about").click().run()
    assert test.multiselect(key="scope_papers").value == [PAPER]
    assert test.chat_input[0].placeholder.startswith("Ask about: BM25")
    assert test.title[0].value.startswith("Ask about\\: BM25")
    assert examples_of(test) == []


def test_a_question_is_answered_with_citations(screen: Screen) -> None:
    test = ask(screen("ask"), QUESTION)
    assert "#cite-1-1" in texts(test)
    assert "Searched for the question as it stands" in texts(test)
    label = visitor_of(test).turns[0].answer.cited_labels[0]
    test.button(key=f"cite_1_{label}").click().run()
    assert f"Evidence for \\[{label}\\]" in texts(test)
    assert visitor_of(test).turns[0].answer.sentences[0].citations[0].evidence in texts(test)
    assert any('aria-label="Overlap' in str(block.proto.body) for block in test.get("html"))
    test = ask(ask(screen("ask"), QUESTION), "What about its storage cost?")
    assert len(visitor_of(test).turns) == 2
    conversation = visitor_of(test).conversation()
    assert from_json(to_json(conversation)) == conversation
    assert "2 answers" in texts(test)
    open_menu(test, "clear_menu").button(key="clear").click().run()
    assert visitor_of(test).turns == ()
    assert "Ask the papers" in texts(test)


def test_what_was_sent_is_one_click_from_an_answer_and_from_a_refusal(screen: Screen) -> None:
    test = screen("ask")
    for number, question in enumerate((QUESTION, UNANSWERABLE), start=1):
        ask(test, question)
        turn = visitor_of(test).turns[-1]
        button = test.button(key=f"calls_{number}")
        assert button.label.startswith(f"What was sent: {len(turn.calls)} call")
        button.click().run()
        assert visitor_of(test).shown_calls == number
        assert "1. " in test.expander(key="call_1").label


def test_an_example_is_asked_and_its_citations_and_all_that_was_found_are_shown(screen: Screen) -> None:
    test = screen("ask")
    test.button(key="example_1").click().run()
    turn = visitor_of(finish(test)).turns[0]
    assert turn.question == QUESTION
    cited = {citation.passage_id for each in turn.answer.sentences for citation in each.citations}
    cited_in = cited_sentences(turn.answer)
    given = [passage for paper in turn.evidence.papers for passage in paper.passages]
    assert not test.expander(key="passages_read").get("page_link"), "drawn before it is opened"
    listed = open_menu(test, "passages_read").expander(key="passages_read")
    assert listed.label == f"All that was found: {len(given)} passages, {len(cited)} cited"
    drawn = [(link.proto.query_string, link.proto.label.startswith("**")) for link in listed.get("page_link")]
    assert drawn == [
        (urlencode({"id": passage.paper_id, "passage": passage.number}), passage.id in cited)
        for passage in given
    ]
    assert {hit.passage_id for hit in turn.hits} <= {passage.id for passage in given}
    texts_drawn = [block.value for block in listed.markdown]
    assert texts_drawn == [passage_markdown(passage, cited_in.get(passage.id, ())) for passage in given]
    evidence = turn.answer.sentences[0].citations[0].evidence
    assert any(f"**{escaped(evidence)}**" in text for text in texts_drawn)
    citations = [citation for each in turn.answer.sentences for citation in each.citations]
    answer = next(block.value for block in test.markdown if "#cite-1-1" in block.value)
    for number, citation in enumerate(citations, start=1):
        said = escaped(describe_support(citation.support))
        assert f"[\\[{citation.label}\\]*{said}*](#cite-1-{number})" in answer
    supports = [citation.support for citation in citations]
    assert None not in supports
    assert citation_bars(1, supports) in [str(block.proto.body) for block in test.get("html")]


@pytest.mark.parametrize(
    ("support", "said", "edge"),
    [(0.1, "weak, 0.10", "dashed"), (0.5, "partial, 0.50", "none"), (0.999, "strong, 0.99", "none")],
)
def test_what_is_weak_is_told_by_more_than_its_colour(support: float, said: str, edge: str) -> None:
    assert describe_support(support) == f"support {said}"
    assert f"--pt-edge: {edge};" in citation_bars(1, (None, support))
    assert f"--pt-share: {int(support * 100)}%" in citation_bars(1, (None, support))
    assert "#cite-1-1" not in citation_bars(1, (None, support)), "what was not measured has a bar"


def test_what_cannot_be_answered_is_refused_calmly_with_what_was_searched(screen: Screen) -> None:
    test = ask(screen("ask"), UNANSWERABLE)
    assert "Not answered" in texts(test)
    assert "What the corpus covers:" in texts(test)
    assert "#cite" not in texts(test)
    assert "Click a number" not in texts(test)
    test = screen("ask")
    test.multiselect(key="scope_collections").set_value(["field-notes-evaluation"]).run()
    shown = texts(ask(test, UNANSWERABLE)).partition("What was searched:")[2]
    assert shown.count("Field Notes on Evaluation") == 1
    assert "Field Notes on Retrieval" not in shown


def test_a_paper_is_chosen_for_a_question_about_this_paper(screen: Screen) -> None:
    test = ask(screen("ask"), "What are the main contributions of this paper?")
    refusal_shown = visitor_of(test).turns[0].answer.refusal
    assert refusal_shown is not None and "Which paper do you mean" in texts(test)
    test.button(key="which_1_1").click().run()
    turn = visitor_of(finish(test)).turns[1]
    assert turn.question == visitor_of(test).turns[0].question
    assert turn.scope.papers == (refusal_shown.nearest[1].paper_id,)
    assert turn.answer.cited_labels


def test_a_question_that_is_too_long_is_kept_and_said_to_be(screen: Screen) -> None:
    test = ask(screen("ask"), "why " * 600)
    failure = visitor_of(test).failure
    assert failure is not None and failure.question.startswith("why why")
    assert "2,000 can be taken" in failure.message
    assert escaped(failure.message) in texts(test)
    assert texts(test).count("why") < 60  # The reason is to be seen without scrolling.
    assert [button.key for button in test.button if button.key in ("retry", "edit")] == ["edit"]
    assert test.chat_input[0].proto.max_chars > 2000


@pytest.mark.parametrize("question", ["???", "  \u200b "])
def test_an_empty_question_leaves_no_half_turn(screen: Screen, question: str) -> None:
    test = ask(screen("ask"), question)
    assert visitor_of(test).turns == ()
    assert "Write what you want to know" in texts(test) or visitor_of(test).failure is None


def test_a_failing_model_keeps_the_question_and_an_answer_cut_off_is_marked(
    screen: Screen, model: Callable[..., StandinChat]
) -> None:
    model(refusal(401))
    test = ask(choose_the_model(screen("ask")), QUESTION)
    failure = visitor_of(test).failure
    assert visitor_of(test).turns == ()
    assert failure is not None and failure.question == QUESTION
    assert "key" in failure.message
    assert test.button(key="retry")
    model(cut_off("BM25 ranks passages by words [1]. Dense retrieval [2"))
    test = ask(choose_the_model(screen("ask")), QUESTION)
    (turn,) = visitor_of(test).turns
    assert turn.answer.text.startswith("BM25 ranks passages by words [1].")
    assert turn.answer.problems
    assert escaped(PROBLEMS["interrupted"]) in texts(test)


def test_model_text_is_only_text_and_citations(screen: Screen, model: Callable[..., StandinChat]) -> None:
    answer = "BM25 ranks by words [1].\n\nIt is a formula. ![x](http://e.x/a) <img> [99] [y](//e.x)"
    model(reply(answer))
    test = ask(choose_the_model(screen("ask")), "What is BM25?")
    drawn = next(block.value for block in test.markdown if "#cite-1-1" in block.value)
    assert "](http" not in drawn
    assert "![" not in drawn.replace("\\!\\[", "")
    assert "†" in drawn
    listed = test.expander(key="without_source_1")
    assert listed.label == (
        "1 label names no paper that was given · 1 sentence makes a claim without a citation"
    )
    assert any("\\[99\\?\\] “" in block.value for block in listed.markdown)


def test_better_supporting_papers_and_unsupported_phrases_are_named(
    screen: Screen, model: Callable[..., StandinChat]
) -> None:
    claim = "BM25 has two parameters: k1 sets how fast repeated terms saturate, b how much length counts"
    model(reply(f"{claim} [2]. BM25 ranks documents by the words of the query [1]."))
    test = ask(choose_the_model(screen("ask")), "What is BM25?")
    (sentence, _) = visitor_of(test).turns[0].answer.sentences
    assert sentence.better is not None and sentence.labels == (2,)
    offered = test.expander(key="better_1")
    assert offered.label == "Supported by another paper than the one cited: 1 sentence"
    assert escaped(claim) in offered.markdown[0].value
    assert len(offered.get("page_link")) == 1
    claim = "BM25 has two parameters: k1 sets how fast repeated terms saturate, b how much length counts"
    model(reply(f"{claim} in Romance languages [1]."))
    test = ask(choose_the_model(screen("ask")), "What is BM25?")
    (sentence,) = visitor_of(test).turns[0].answer.sentences
    assert sentence.not_said == ("in Romance languages",)
    listed = test.expander(key="unsaid_1")
    assert listed.label == "Not said by what is cited: 1 phrase"
    assert escaped("“in Romance languages”") in listed.markdown[0].value
    test.button(key="cite_1_1").click().run()
    told = escaped("Not said by what it cites: “in Romance languages”.")
    assert told in [caption.value for caption in test.caption]


def test_no_usable_corpus(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, demo_home: Path) -> None:
    monkeypatch.setenv("PAPER_TRAIL_HOME", str(tmp_path))
    test = AppTest.from_file(str(PROJECT / "streamlit_app.py"), default_timeout=180).run()
    assert not test.exception
    assert "There are no papers here yet" in texts(test)
    assert "make app" in test.code[0].value
    shutil.copytree(demo_home / "corpus", tmp_path / "corpus")
    manifest = tmp_path / "corpus" / "manifest.json"
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "encoder": "another"}))
    monkeypatch.setenv("PAPER_TRAIL_HOME", str(tmp_path))
    test = AppTest.from_file(str(PROJECT / "streamlit_app.py"), default_timeout=180).run()
    assert "The corpus cannot be used" in texts(test)
    assert "another" in texts(test)


def test_what_a_visitor_selects_searches_for_and_compares_is_theirs_alone(screen: Screen) -> None:
    mine, others = screen("collection", q="rank fusion"), screen("collection")
    mine.checkbox(key=f"tick_{PAPER}").check().run()
    others.run()
    assert visitor_of(mine).picked == (PAPER,)
    assert visitor_of(others).picked == ()
    assert "1 paper selected" in texts(mine) and "selected" not in texts(others)
    assert others.text_input(key="q").value == ""
    mine, others = screen("paper", id=PAPER), screen("paper", id=PAPER)
    mine.button(key="add_to_comparison").click().run()
    others.run()
    assert "add_to_comparison" not in [button.key for button in mine.button]
    assert "add_to_comparison" in [button.key for button in others.button]
