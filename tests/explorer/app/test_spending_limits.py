"""Spending limits: shown before they are reached, refused when they are, always counted."""

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from assistant.generators.estimate import question_price
from assistant.generators.protocol import EXTRACTIVE
from assistant.models.menu import available_models
from assistant.records import AskOptions, AssistantError, Parameters
from assistant.storage.spending import SpendingLimits, SpendingStore
from assistant.wording import format_price
from corpus.settings import read_settings
from explorer.app.resources import Library, open_library
from explorer.warm_up import warm_up
from tests.assistant.comparing.comparing_model import ComparingModel
from tests.explorer.asking import QUESTION, ask, choose_the_model, finish, texts, visitor_of
from tests.explorer.comparing import (
    NAMED,
    begun,
    compared,
    described,
    modelled,
    over,
    session_of,
    with_the_model,
)
from tests.explorer.conftest import ANSWER
from tests.standin_chat import Behaviour, StandinChat, refusal, reply

Screen = Callable[..., AppTest]
Model = Callable[..., StandinChat]
# A thousand tokens are a dollar, a call has 11,000 of them, and a first question is one call.
PRICES = "price_in = 1000\nprice_out = 1000\n"
USAGE = (10_000, 1_000)
OF_A_QUESTION = 11.0
AT_MOST = 12.592


def written(text: str = ANSWER, **changes: object) -> Behaviour:
    return reply(text, usage=USAGE, **changes)


def plain(test: AppTest) -> str:
    return texts(test).replace("\\", "")


@pytest.fixture
def paid(model: Model, tmp_path: Path) -> Model:
    """Put the stand-in model on the menu with prices."""
    models = tmp_path / "models.toml"
    models.write_text(models.read_text() + PRICES)
    return model


@pytest.fixture
def paid_writer(writer: Model, tmp_path: Path) -> Model:
    models = tmp_path / "models.toml"
    models.write_text(models.read_text() + "price_out = 1.0\n")
    return writer


def limit(monkeypatch: pytest.MonkeyPatch, everyone: float = 0, visitor: float = 0) -> None:
    monkeypatch.setenv("PAPER_TRAIL_MONTHLY_SPENDING", str(everyone))
    monkeypatch.setenv("PAPER_TRAIL_MONTHLY_SPENDING_PER_VISITOR", str(visitor))


def spent() -> tuple[float, float]:
    """Return the dollars that all visitors have spent, and those reserved."""
    settings = read_settings().model_copy(update={"monthly_spending": 1e9})
    store = SpendingStore.open(settings)
    everyone = store.balances("nobody")[0]
    store.close()
    return everyone.spent, everyone.reserved


def settled(dollars: float) -> None:
    """Wait until so much is spent, and nothing is set aside any more."""
    deadline = time.monotonic() + 20
    while spent() != (pytest.approx(dollars), 0.0):
        assert time.monotonic() < deadline, spent()
        time.sleep(0.05)


def test_questions_are_limited(screen: Screen, paid: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    limit(monkeypatch, visitor=13)
    server = paid(written())
    test = choose_the_model(screen("ask"))
    assert "left" not in plain(test)
    ask(test, QUESTION)
    settled(OF_A_QUESTION)
    assert len(visitor_of(test).turns) == 1
    said = "Of the $13.00 that you may spend on models in a month, $2.00 is left until 1 "
    assert said in plain(test.run())
    ask(test, "What about its storage cost?")
    refused = "$13.00 a month for the questions of one visitor: $2.00 of it is left, and this question could"
    assert refused in plain(test) and f"cost ${AT_MOST:.2f}" in plain(test)
    assert len(server.requests) == 1 and visitor_of(test).conversation_id
    # The question is kept, and the writer without costs answers it.
    test.selectbox(key="writer").set_value(EXTRACTIVE).run()
    assert "is left until" not in plain(test)
    test.button(key="retry").click().run()
    assert len(visitor_of(finish(test)).turns) == 2
    settled(OF_A_QUESTION)


def test_visitors_and_all_have_limits(screen: Screen, paid: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    limit(monkeypatch, everyone=30, visitor=13)
    paid(*(written() for _ in range(2)))
    first, second, third = (choose_the_model(screen("ask")) for _ in range(3))
    ask(first, QUESTION)
    ask(second, QUESTION)
    settled(2 * OF_A_QUESTION)
    assert len(visitor_of(second).turns) == 1
    ask(third, QUESTION)
    assert "$30.00 a month for the questions of all visitors together: $8.00 of it is left" in plain(third)
    assert not visitor_of(third).turns


def test_running_questions_count(screen: Screen, paid: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    limit(monkeypatch, everyone=13)
    paid(written(wait_before=2.0))
    first, second = choose_the_model(screen("ask")), choose_the_model(screen("ask"))
    first.chat_input(key="question_box").set_value(QUESTION).run()
    while not spent()[1]:
        time.sleep(0.02)
    ask(second, QUESTION)
    assert "all visitors together: $" in plain(second) and not visitor_of(second).turns
    limit(monkeypatch, everyone=1)
    assert len(visitor_of(finish(first)).turns) == 1
    settled(OF_A_QUESTION)
    assert "nothing is left until 1 " in plain(first.run())


def test_stopped_questions_count(screen: Screen, paid: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    limit(monkeypatch, visitor=100)
    server = paid(written(wait_between=0.3))
    test = choose_the_model(screen("ask"))
    test.chat_input(key="question_box").set_value(QUESTION).run()
    while "ranks" not in plain(test):
        time.sleep(0.1)
        test.run()
    test.button(key="stop").click().run()
    assert "Stopped." in plain(finish(test)) and server.wait_for_hang_up()
    deadline = time.monotonic() + 20
    while spent()[1]:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    prompt = sum(len(message["content"].encode()) for message in server.requests[0].body["messages"]) // 3
    assert spent()[0] == pytest.approx((prompt + 700) / 1000, abs=0.01)


def test_drafts_are_counted(screen: Screen, paid: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    limit(monkeypatch, visitor=100)
    paid(written(), refusal(400), written())
    test = choose_the_model(screen("ask"))
    test.slider(key="manner_drafts_1").set_value(3).run()
    ask(test, QUESTION)
    assert visitor_of(test).turns[0].drafts == 3
    settled(2 * OF_A_QUESTION)


def test_deleting_a_conversation_gives_nothing_back(
    screen: Screen, paid: Model, library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit(monkeypatch, visitor=13)
    paid(written())
    test = ask(choose_the_model(screen("ask")), QUESTION)
    assert library.conversations().delete(visitor_of(test).conversation_id)
    settled(OF_A_QUESTION)


def test_a_model_whose_price_is_not_known_is_not_offered_where_spending_is_limited(
    screen: Screen, writer: Model, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    writer()
    test = screen("ask")
    assert "Stand-in" in test.selectbox(key="writer").options
    limit(monkeypatch, everyone=5)
    name = available_models(read_settings())[0].id
    test.run()
    assert "Stand-in" not in test.selectbox(key="writer").options
    library = open_library()
    for opened in (library.assistant, library.comparer):
        with pytest.raises(AssistantError, match=r"What Stand-in costs is not known here.* another writer\."):
            opened(name)
    about = plain(screen("about", part="Who writes"))
    assert "so they cannot be chosen: Stand-in." in about and "**Stand-in**" not in about
    with caplog.at_level(logging.WARNING):
        warm_up()
    assert "Stand-in is not offered: spending is limited, and its price is not known." in caplog.text


def test_own_models_are_free(screen: Screen, model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    limit(monkeypatch, everyone=0.0001)
    model()
    assert visitor_of(ask(choose_the_model(screen("ask")), QUESTION)).turns
    assert spent() == (0.0, 0.0)


def test_about_tells_the_limits(screen: Screen, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "a month" not in plain(screen("about", part="Limits"))
    limit(monkeypatch, everyone=20, visitor=1.5)
    said = plain(screen("about", part="Limits"))
    assert "Models may cost $20.00 a month for the questions of all visitors together; the count" in said
    assert "Models may cost $1.50 a month for the questions of one visitor;" in said


@pytest.fixture
def unusable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], None]]:
    """Have 19.90 dollars spent and the database unusable when it is first opened; return what mends it."""
    path, away = tmp_path / "unusable.sqlite", tmp_path / "away"
    monkeypatch.setenv("PAPER_TRAIL_CONVERSATIONS", f"sqlite:///{path}")
    with closing(SpendingStore(path, SpendingLimits(20.0))) as store:
        store.spend("somebody", 19.9)
    path.rename(away)
    path.write_text("some text, which is no database at all " * 50)
    yield lambda: away.replace(path) and None


def test_fault_the_limit_began_at_zero_where_the_database_could_not_be_used(
    screen: Screen, paid: Model, unusable: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    limit(monkeypatch, everyone=20)
    server = paid(written())
    test = ask(choose_the_model(screen("ask")), QUESTION)
    assert "The records of spending at" in plain(test) and "it is no database" in plain(test)
    assert "The writer without a model costs nothing and still answers." in plain(test)
    assert server.requests == [] and visitor_of(test).turns == ()
    free = ask(screen("ask"), QUESTION)
    assert visitor_of(free).turns[0].provenance.generator == EXTRACTIVE
    unusable()
    test.button(key="retry").click().run()
    assert "$0.1000 of it is left" in plain(finish(test)) and server.requests == []
    limit(monkeypatch, everyone=40)
    ask(test, QUESTION)
    assert len(visitor_of(test).turns) == 1
    settled(19.9 + OF_A_QUESTION)


def test_fault_a_comparison_began_where_what_it_costs_could_not_be_counted(
    screen: Screen, paid_writer: Model, unusable: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    limit(monkeypatch, everyone=20)
    server = paid_writer()
    test = begun(with_the_model(described(screen("compare", **NAMED))))
    assert "The records of spending at" in plain(test) and session_of(test).state == "choosing"
    assert server.requests == []


def test_comparisons_are_limited(screen: Screen, paid_writer: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    limit(monkeypatch, everyone=1)
    server = paid_writer()
    made = compared(modelled(screen))
    price = sum(call.call.price or 0.0 for call in made.calls)
    assert price > 0
    settled(price)
    limit(monkeypatch, everyone=1.2 * price)
    requests = len(server.requests)
    test = begun(with_the_model(described(screen("compare", **NAMED))))
    said = plain(test)
    assert session_of(test).state == "choosing" and len(server.requests) == requests
    left, most = format_price(0.2 * price), format_price(1.2 * price)
    assert f"all visitors together: {left} of it is left, and this comparison could cost $0.0" in said
    assert f"Of the {most} that all visitors together may spend on models in a month, {left} is left" in said


def test_a_stopped_comparison_goes_on_where_the_rest_of_it_fits(
    screen: Screen, paid_writer: Model, library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit(monkeypatch, visitor=1)
    paid_writer(ComparingModel(seconds=0.2))
    test = modelled(screen)
    identifier, order = session_of(test).identifier, session_of(test).order
    assert order is not None
    while not library.comparisons().calls(identifier):
        time.sleep(0.02)
    test.button(key="stop_comparison").click().run()
    over(test)
    limit(monkeypatch, visitor=0.0001)
    test.run().button(key="go_on").click().run()
    assert "this comparison could cost $0.0" in plain(test) and not session_of(test).is_running
    price = open_library().comparer(order.writer).plan(order.request).budget.price
    assert price is not None
    limit(monkeypatch, visitor=spent()[0] + price)
    test.run().button(key="go_on").click().run()
    paid_for = sum(call.call.price or 0.0 for call in compared(test).calls if not call.reused)
    deadline = time.monotonic() + 20
    while spent()[1]:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    # Work under way at the stop counts as well, at its greatest cost.
    assert spent()[0] >= paid_for


def test_the_estimate_is_above_the_cost(screen: Screen, paid: Model, library: Library) -> None:
    server = paid()
    (entry, *_) = available_models(read_settings())
    entry = entry.model_copy(update={"context": 100_000})
    ask(choose_the_model(screen("ask")), QUESTION)
    sent = sum(
        len(message["content"].encode()) for call in server.requests for message in call.body["messages"]
    )
    assert question_price(entry, Parameters(), AskOptions()) > (sent / 3 + 2 * 700) / 1000
    twice = question_price(entry, Parameters(), AskOptions(drafts=2))
    assert twice > question_price(entry, Parameters(), AskOptions())
    assert not SpendingLimits.of(library.settings)
