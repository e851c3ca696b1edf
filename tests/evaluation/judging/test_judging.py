"""A judge of any texts: its orders and its form."""

from collections import Counter

import pytest

from evaluation.judging import judgement, shown_orders

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
