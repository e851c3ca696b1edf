"""The places of the map that are drawn, highlighted, labelled and chosen, without a screen."""

import json

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as some

from corpus.records import Cluster
from explorer.collection.charts import PAPER, with_data
from explorer.collection.map_chart import COLOURS, group_dots, map_spec
from explorer.presenters import map_places
from explorer.presenters.map_places import (
    Group,
    alternative,
    brief,
    chosen_ids,
    drawn_places,
    extent,
    groups_of,
    members,
    spread,
)

CLUSTERS = (Cluster(0, "first", 3), Cluster(1, "", 1), Cluster(2, "nowhere", 0))


def places(count: int = 4) -> pa.Table:
    numbers = range(count)
    return pa.table(
        {
            "id": [f"c/{number:05}" for number in numbers],
            "title": pa.array([f"Title\n{number}\u202e" for number in numbers]),
            "year": pa.array([2020 if number % 2 else None for number in numbers], pa.int32()),
            "x": pa.array([float(number) for number in numbers], pa.float32()),
            "y": pa.array([float(-number) for number in numbers], pa.float32()),
            "cluster": pa.array([number % 2 for number in numbers], pa.int32()),
        }
    )


def test_lit_papers_are_drawn_last_and_of_very_many_every_kth(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = drawn_places(places(), ["c/00001"], {0: "first"})
    assert drawn.table["id"].to_pylist()[-1] == "c/00001"
    assert drawn.table["lit"].to_pylist() == [False, False, False, True]
    assert drawn.table["group"].to_pylist() == ["first", "first", "", ""]
    assert drawn.table["title"].to_pylist()[0] == "Title 0 "
    assert not drawn.is_sample
    assert all(drawn_places(places(), None, {}).table["lit"].to_pylist())
    monkeypatch.setattr(map_places, "MOST_DRAWN", 10)
    lit = ["c/00001", "c/00029"]
    drawn = drawn_places(places(30), lit, {})
    assert drawn.is_sample
    assert drawn.table.num_rows == 12
    assert drawn.table["id"].to_pylist()[-2:] == lit
    assert drawn_places(places(30), None, {}).table.num_rows == 10


def test_groups_are_those_that_occur_within_the_extent_of_their_places() -> None:
    groups = groups_of(places(3), CLUSTERS)
    assert [(group.number, group.label, group.papers) for group in groups] == [
        (0, "first", 2),
        (1, "Group 1", 1),
    ]
    assert (groups[0].x, groups[0].y) == (1.0, -1.0)
    assert groups_of(places(3), ()) == ()
    assert alternative(groups, 3).endswith("first, 2; Group 1, 1.")
    assert extent(places(3)) == (-2.0, 0.0, 2.0)


@given(some.lists(some.tuples(some.floats(0, 10), some.floats(0, 5)), max_size=12))
def test_labels_make_room_for_each_other(points: list[tuple[float, float]]) -> None:
    groups = tuple(Group(number, "x", 1, x, y) for number, (x, y) in enumerate(points))
    placed = spread(groups, 0.0, 5.0, 10.0)
    assert [(label.number, label.x) for label in placed] == [(group.number, group.x) for group in groups]
    rows = [label.y for label in placed if abs(label.x - placed[0].x) < 3.4]
    assert all(abs(height - placed[0].y) >= 5 * 0.055 - 1e-9 for height in rows[1:])


def test_papers_are_chosen_by_clicks_and_by_a_rectangle() -> None:
    assert chosen_ids({"pick": [{"id": "c/00002"}, {"id": "c/00000"}]}, places()) == ("c/00002", "c/00000")
    brush = {"x": [2.5, 0.5], "y": [-9, 9]}
    assert chosen_ids({"brush": brush}, places()) == ("c/00001", "c/00002")
    assert members(places(), 0) == ("c/00000", "c/00002")
    assert chosen_ids({"brush": brush, "pick": [{"id": "c/00003"}]}, places()) == ("c/00001", "c/00002")
    nowhere = {"x": [90, 91], "y": [0, 1]}
    assert chosen_ids({"brush": nowhere, "pick": [{"id": "c/00003"}]}, places()) == ("c/00003",)


anything = some.recursive(
    some.none() | some.booleans() | some.floats() | some.text(max_size=5),
    lambda inner: (
        some.lists(inner, max_size=3)
        | some.dictionaries(some.sampled_from(["pick", "brush", "x", "y", "id", "?"]), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(anything)
def test_whatever_a_browser_reports_only_places_are_chosen(selection: object) -> None:
    assert set(chosen_ids(selection, places())) <= set(places()["id"].to_pylist())


def test_the_chart_takes_its_points_later_and_shows_names_as_data() -> None:
    hostile = "'); alert(1) //<img src=x>"
    groups = (Group(0, hostile, 3, 1.0, 2.0), Group(7, "b", 1, 2.0, 2.0))
    spec = map_spec(groups, 600, "dark", brushed=True, height=300)
    assert {parameter["name"] for parameter in spec["params"]} == {"pick", "brush"}
    labels = [row for data in spec["datasets"].values() for row in data]
    assert {row["label"] for row in labels} == {hostile, "b"}
    assert hostile not in json.dumps({key: value for key, value in spec.items() if key != "datasets"})
    whole = with_data(spec, places())
    assert len(whole["datasets"]) == len(spec["datasets"]) + 1
    on_phone = map_spec(groups, 600, "dark", brushed=False, height=300)
    assert {parameter["name"] for parameter in on_phone["params"]} == {"pick"}


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("parsing, syntax, trees", "parsing, syntax"),
        ("parsing · syntax", "parsing, syntax"),
        ("short", "short"),
        ("one term that is very long", "one term that …"),
        ("", ""),
    ],
)
def test_on_the_map_a_label_is_as_many_terms_as_there_is_room_for(label: str, expected: str) -> None:
    assert brief(label, 16) == expected


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_groups_colour_can_be_told_from_the_page(theme: str) -> None:
    assert min(_contrast(colour, PAPER[theme]) for colour in COLOURS[theme]) >= 4.5
    assert len(set(COLOURS[theme])) == 12
    assert COLOURS[theme][1] in group_dots([13], theme)


def _contrast(colour: str, other: str) -> float:
    low, high = sorted((_luminance(colour), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
