"""A question in another language on the Ask screen: what was not measured, and a refusal with a way on."""

from collections.abc import Callable

from streamlit.testing.v1 import AppTest

from tests.explorer.asking import ask, choose_the_model, texts, visitor_of
from tests.standin_chat import StandinChat, reply

QUESTION = "Wie ordnet das Verfahren BM25 die gefundenen Dokumente?"
QUERY = "How does BM25 rank passages?"
ANSWER = "BM25 ordnet die Dokumente nach den Wörtern, die sie mit der Anfrage gemeinsam haben [1]."


def test_missing_scores_are_dashes(screen: Callable[..., AppTest], model: Callable[..., StandinChat]) -> None:
    model(reply(QUERY), reply(ANSWER))
    test = ask(choose_the_model(screen("ask")), QUESTION)
    (turn,) = visitor_of(test).turns
    assert turn.answer.sentences[0].citations[0].overlap is None
    told = texts(test)
    assert "translated from German" in told and "only the numbers were checked" in told
    test.button(key="cite_1_1").click().run()
    assert not test.exception
    drawn = " ".join(block.proto.body for block in test.get("html"))
    assert drawn.count("no score") >= 2 and "0.00" not in drawn
    assert "No single sentence of this passage" not in texts(test)


def test_a_refusal_says_which_language_and_what_to_do(screen: Callable[..., AppTest]) -> None:
    test = ask(screen("ask"), QUESTION)
    told = texts(test)
    assert "seems to be in German" in told and "Ask in English" in told
