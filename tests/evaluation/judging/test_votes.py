"""What a judge is shown and replies, whatever is judged."""

from collections import Counter

import pytest

from assistant.records import Message
from evaluation.judging import Ballot, judgement, shown_orders
from tests.evaluation.judging.standin_judge import judge_over
from tests.standin_chat import StandinChat, reply

QUALITIES = ("coherence", "fluency")


@pytest.mark.parametrize("systems", [1, 2, 3, 4])
def test_orders_are_the_same_each_time_and_each_system_has_each_place_equally_often(systems):
    orders = shown_orders(systems, 3 * systems, seed=0)
    assert orders == shown_orders(systems, 3 * systems, seed=0)
    assert orders[: systems + 1] == shown_orders(systems, systems + 1, seed=0)
    for place in range(systems):
        assert Counter(order[place] for order in orders) == dict.fromkeys(range(systems), 3)


def test_the_form_of_a_vote_leaves_nothing_to_guess():
    schema = judgement(2, QUALITIES).model_json_schema()
    assert schema["required"] == ["text_1", "text_2", "best"]
    assert schema["properties"]["best"]["enum"] == [1, 2]
    (judged,) = schema["$defs"].values()
    assert judged["required"] == ["analysis", *QUALITIES]
    assert judged["properties"]["fluency"]["enum"] == [1, 2, 3, 4, 5]


def test_who_stops_waiting_for_votes_has_the_others_not_asked_for():
    ballots = [Ballot((0,), (Message("user", f"Mark this, {number}."),)) for number in range(20)]
    with StandinChat(default=reply("none", wait_before=0.05)) as server, judge_over(server) as judge:
        votes = judge.cast(ballots, QUALITIES)
        assert next(votes)[1].problem
        votes.close()
        asked = len(server.requests)
    assert asked < 2 * len(ballots)
