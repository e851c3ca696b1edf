"""Volumes, venues, authors, years and figures in words and numbers, without a screen."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from corpus.records import Collection, CollectionSummary, Scope
from explorer.collection.filters import year_bars
from explorer.collection.overview_chart import fields_spec, fields_table, is_sparse
from explorer.presenters.overview import FieldYears, Overview
from explorer.presenters.topics import known_values, named_authors, named_facet
from explorer.presenters.wording import (
    LONGEST_MENU_TITLE,
    collection_titles,
    menu_title,
    volume_facts,
    volume_years,
)


def volume(key: str, papers: int = 3, year: int | None = 2020, title: str = "T") -> CollectionSummary:
    return CollectionSummary(Collection(key, title), papers, papers, 0, 0, year, year, "")


def test_volumes_stand_by_years_and_say_what_they_hold() -> None:
    years = volume_years(
        [volume("a", 2), volume("b", 9, None), volume("c", 5), volume("d", 1, 2022), volume("e", 5)]
    )
    assert [year.name for year in years] == ["2022", "2020", "Without a year"]
    assert [volume.collection.id for volume in years[1].volumes] == ["c", "e", "a"]
    assert years[1].label == "2020 · 3 volumes, 12 papers"
    assert volume_years([]) == ()
    assert volume_facts(volume("a", 1)) == "1 paper · 2020"
    full = replace(volume("a", 603), full_texts=24, first_year=2019)
    assert volume_facts(full) == "603 papers · 2019 to 2020 · 24 full texts"
    assert volume_facts(full, with_years=False) == "603 papers · 24 full texts"


@given(some.text(max_size=200))
def test_a_menu_is_never_wider_than_it_may_be(title: str) -> None:
    assert len(menu_title(title)) <= LONGEST_MENU_TITLE + 3


def test_titles_are_told_apart_and_of_a_long_one_a_menu_keeps_the_end() -> None:
    titles = collection_titles((volume("a"), volume("b"), volume("c", title="U")))
    assert titles == {"a": "T (a)", "b": "T (b)", "c": "U"}
    title = "Proceedings of the 60th Annual Meeting of the Association (Volume 1: Long Papers)"
    assert menu_title(title).endswith("(Volume 1: Long Papers)")
    assert menu_title(title).startswith("Proceedings of the 60th")
    assert menu_title("Short") == "Short"


def test_venues_are_alternatives_and_years_bars_of_numbers() -> None:
    wider = {"A": 3, "B": 1, "\u200b": 1}
    (facet,) = named_facet("venue", Scope(venues=("B",)), {"B": 1}, lambda _: wider)
    assert [(value.key, value.papers) for value in facet.values] == [("A", 3), ("B", 1)]
    assert facet.chosen == ("B",) and facet.name == "Venue"
    assert named_facet("venue", Scope(), {"A": 3}, dict) == ()  # type: ignore[arg-type]
    drawn = year_bars({2020: 4, 2022: 400}, 2020, 2022)
    assert drawn.count("<span") == 3
    assert 'title="2020: 4" style="height:2px"' in drawn
    assert 'title="2021: 0" style="height:0px"' in drawn
    assert "The most, 400, are of 2022." in drawn
    assert "height:0px" in year_bars({}, 2020, 2021)


@given(some.lists(some.text(max_size=300)))
def test_authors_and_venues_of_an_address_are_bounded(named: list[str]) -> None:
    assert set(named_authors(named)) <= set(named)
    assert known_values(named, set()) == ()
    assert len(named_authors([*named, *map(str, range(99))])) <= 20


@pytest.mark.parametrize("years", [{2020: 3}, {2019: 1, 2021: 5}])
def test_fields_are_drawn_on_one_scale(years: dict[int, int]) -> None:
    fields = FieldYears((("Parsing", years), ("A'); alert(1)", {2019: 2})))
    assert fields_table(fields).num_rows == len(years) + 1
    assert fields.most == max(years.values())
    assert fields.in_words.startswith("Papers by field and year.")
    spec = fields_spec(fields.names, fields.years, "light", narrow=False)
    assert "resolve" not in spec


@pytest.mark.parametrize(
    ("years", "axis"),
    [((2020, 2021), "year:Q"), ((2019, 2021, 2022), "year:Q"), ((2001, 2002, 2022), "year:O")],
)
def test_years_without_papers_get_no_place_where_they_are_most(years: tuple[int, ...], axis: str) -> None:
    assert is_sparse(years) == (axis == "year:O")
    spec = fields_spec(("Parsing",), years, "light", narrow=True)
    assert {"year:O": "ordinal", "year:Q": "quantitative"}[axis] in str(_x_axis(spec))


def _x_axis(spec: Any) -> Any:
    drawn = json.loads(spec) if isinstance(spec, str) else spec
    return (drawn.get("spec") or drawn)["encoding"]["x"]


@pytest.mark.parametrize(("counts", "tells"), [((), False), ((1, 1, 1), False), ((2, 1), True), ((9,), True)])
def test_who_is_cited_is_told_where_some_are_cited_more(counts: tuple[int, ...], tells: bool) -> None:
    cited = tuple((f"paper-{number}", count) for number, count in enumerate(counts))
    assert Overview(FieldYears(()), (), (), cited).tells_who_is_cited == tells
