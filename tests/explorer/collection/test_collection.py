"""The Collection screen in all its states: volumes, views, filters, figures, selection."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from corpus.records import Scope
from corpus.store.statistics import Statistics
from explorer.app.session import Current
from explorer.app.visitor.session import VisitorSession
from explorer.collection.selection import MOST_SELECTED, select
from tests.explorer.asking import INLINE_LINK, links, open_menu, texts, visitor_of
from tests.explorer.studied_corpus import HOSTILE, TITLES

Screen = Callable[..., AppTest]


def plain(text: str) -> str:
    """Return Markdown without its escapes and without the grey of what follows a label."""
    return re.sub(r":gray\[([^\]]*)\]$", r"\1", text.replace("\\", "").replace("\u2060", ""))


def listed(test: AppTest) -> list[str]:
    """Return the keys of the papers that are linked to, in their order."""
    keys = {title: key for key, title in TITLES.items()}
    found = (
        next((key for title, key in keys.items() if label.startswith(title)), "") for label in links(test)
    )
    return [key for key in found if key]


def buttons(test: AppTest, start: str) -> dict[str, str]:
    return {
        str(button.key): plain(button.label) for button in test.button if str(button.key).startswith(start)
    }


def chips(test: AppTest) -> list[str]:
    """Return the labels of what is filtered by."""
    return list(buttons(test, "chosen_").values())


def pills(test: AppTest, kind: str) -> Any:
    """Open the menu of a kind of facet, and return its group of buttons."""
    if kind != "field":
        open_menu(test, f"facet_menu_{kind}")
    return next(group for group in test.get("button_group") if group.key == f"facet_{kind}")


def charts(test: AppTest) -> list[str]:
    return [chart.proto.spec for chart in test.get("vega_lite_chart")]


def address(test: AppTest, name: str) -> list[str]:
    named = test.query_params.get(name, [])
    return [named] if isinstance(named, str) else named


# Volumes


def test_volumes_are_listed_and_opened(screen: Screen) -> None:
    test = screen("collection")
    volumes = buttons(test, "open_volume_")
    assert len(volumes) == 2
    assert all("8 papers" in label for label in volumes.values())
    test.button(key="open_volume_2").click().run()
    assert len(address(test, "collection")) == 1
    assert buttons(test, "open_volume_") == {}
    assert "8 papers" in texts(test)
    assert test.header[0].value in plain("".join(volumes.values()))


@pytest.mark.parametrize("query", [{"q": "bm25"}, {"view": "Map"}, {"author": "Nobody"}])
def test_volumes_make_way_for_what_was_asked_for(screen: Screen, query: dict[str, str]) -> None:
    assert buttons(screen("collection", **query), "open_volume_") == {}


# Filters


def test_venues_are_chosen_and_unknown_collections_reported(studied: Screen) -> None:
    test = studied("collection", venue="Findings of Somewhere")
    assert listed(test) == ["tokens", "heads"]
    assert buttons(test, "chosen_") == {"chosen_1": "Venue: Findings of Somewhere"}
    pills(test, "venue").select("Workshop on Words").run()
    assert address(test, "venue") == ["Findings of Somewhere", "Workshop on Words"]
    assert listed(test) == ["tokens", "heads", "summaries"]
    test.button(key="chosen_1").click().run()
    assert address(test, "venue") == ["Workshop on Words"]
    test = studied("collection", collection="nope **bold**")
    assert "There is no collection “nope **bold**” here: all are shown." in plain(texts(test))
    assert set(listed(test)) == set(TITLES)
    assert "There is no collection" not in texts(studied("collection"))
    test = studied("collection", order="Most cited here")
    assert listed(test)[:2] == ["tokens", "heads"]
    assert "cited here by 3" in texts(test)
    found = studied("collection", q="tokens heads summaries", sort="Most cited here")
    assert listed(found)[:2] == ["tokens", "heads"]
    assert "best first" not in texts(found)


@pytest.mark.parametrize("parameter", ["venue", "topic"])
def test_unknown_venues_and_topics_in_the_address_are_ignored(studied: Screen, parameter: str) -> None:
    unknown = ["", "Nowhere", "' OR 1=1 --", "x" * 9000, "field:", "colour:red", "task:not heard of"]
    test = studied("collection", **{parameter: unknown})
    assert not test.exception
    assert set(listed(test)) == set(TITLES) and chips(test) == []


def test_authors_and_years_of_a_link_are_chips_to_take_back(studied: Screen) -> None:
    test = studied("collection", author="Ana Lin")
    assert set(listed(test)) == set(TITLES)
    assert buttons(test, "chosen_") == {"chosen_1": "Author: Ana Lin"}
    test.button(key="chosen_1").click().run()
    assert address(test, "author") == []
    test = studied("collection", author="*Nobody* <b>")
    assert "No paper here is by *Nobody* <b>." in plain(texts(test))
    test.button(key="clear_filters").click().run()
    assert set(listed(test)) == set(TITLES)
    test = studied("collection", years=["2019", "2020"])
    assert buttons(test, "chosen_") == {"chosen_years": "Year: 2019 to 2020"}
    assert set(listed(test)) == {"tokens", "heads", "plain", "hostile"}
    bars = [str(block.proto.body) for block in test.get("html") if "pt-years" in str(block.proto.body)]
    assert "2021: 1" in bars[0]
    test.button(key="chosen_years").click().run()
    assert set(listed(test)) == set(TITLES)


@pytest.mark.parametrize("view", ["Table", "Map"])
def test_nonsense_in_the_address_is_ignored(studied: Screen, view: str) -> None:
    test = studied("collection", view=view, group="x", years="²⁰", volumes="never", overview="?")
    assert not test.exception
    assert "5 papers" in texts(test)


def test_a_search_outlasts_a_paper_and_a_link_replaces_it(studied: Screen) -> None:
    test = studied("collection", q="heads")
    found = listed(test)
    _go(test, "paper", id="studied/heads")
    _go(test, "collection")
    assert test.text_input(key="q").value == "heads"
    assert listed(test) == found
    test = studied("collection", q="faithful summaries", years=["2020", "2021"])
    _go(test, "paper", id="studied/heads")
    _go(test, "collection", author="Ana Lin")
    assert len(listed(test)) == 5
    assert test.text_input(key="q").value == ""
    assert address(test, "q") == address(test, "years") == []
    test.text_input(key="q").set_value("heads").run()
    assert buttons(test, "chosen_") == {"chosen_1": "Author: Ana Lin"}
    assert test.text_input(key="q").value == "heads" and "heads" in listed(test)


def test_a_word_read_as_another_is_said_and_the_readers_own_is_a_click_away(screen: Screen) -> None:
    test = screen("collection", q="dense retreival")
    assert "Showing results for **retrieval**." in texts(test)
    assert buttons(test, "search_") == {"search_verbatim": "Search for “retreival”"}
    test.button(key="search_verbatim").click().run()
    assert "Showing results for" not in texts(test)
    test.text_input(key="q").set_value("retreival").run()
    assert "Showing results for" in texts(test)


def _go(test: AppTest, page: str, **query: str) -> None:
    """Follow a link to another page: its address has what the link names."""
    test.query_params.clear()
    test.switch_page(f"explorer/pages/{page}.py")
    for name, value in query.items():
        test.query_params[name] = value
    test.run()


# Overview


def test_the_overview_is_made_only_while_it_is_open_and_says_what_it_is_of(studied: Screen) -> None:
    assert "Frequent tasks" not in texts(studied("collection"))
    test = studied("collection", overview="true")
    assert "Papers by field and year" in texts(test)
    assert len(charts(test)) == 1
    label = next(label for label in links(test) if "cited by 3" in plain(label))
    assert label.startswith(TITLES["tokens"])
    test.button(key="overview_task_1").click().run()
    assert len(address(test, "topic")) == 1
    assert test.expander[0].label == "Overview"
    test = studied("collection", overview="true", q="heads")
    assert test.expander[0].label == "Overview of all 5 papers searched"
    test = studied("collection", overview="true", q="", years=["2019", "2019"], author="Bo Ruan")
    assert not test.exception
    assert "Most cited here" in texts(test)


# Map


def test_the_map_lists_its_groups_and_their_papers(studied: Screen) -> None:
    test = studied("collection", view="Map")
    assert len(charts(test)) == 1
    assert list(buttons(test, "group_").values()) == ["encoders · layers 2", "summaries 1", f"{HOSTILE} 1"]
    assert "similar content" in texts(test)
    test.button(key="group_0").click().run()
    assert address(test, "group") == ["0"]
    assert listed(test) == ["heads", "tokens"]
    test.checkbox(key="tick_studied/heads").check().run()
    assert visitor_of(test).picked == ("studied/heads",)
    test.button(key="all_groups").click().run()
    assert listed(test) == []
    assert "1 paper selected" in texts(test)


def test_the_map_lists_what_was_found_or_its_groups_alone_without_an_order(studied: Screen) -> None:
    test = studied("collection", view="Map", q="pruning attention heads")
    assert "found, best first" in plain(texts(test))
    assert listed(test)[0] == "heads"
    test.button(key="select_on_map").click().run()
    assert set(visitor_of(test).picked) >= {"studied/heads"}
    test = studied("collection", view="Map", topic="field:Summarization")
    assert list(buttons(test, "group_").values()) == ["summaries 1"]
    assert studied("collection", view="Map").selectbox(key="order").disabled
    assert not studied("collection").selectbox(key="order").disabled


@pytest.mark.parametrize(("has_map", "said"), [(True, "has a place on the map yet"), (False, "has no map")])
def test_without_places_the_map_says_so_and_leads_back(
    studied: Screen, monkeypatch: pytest.MonkeyPatch, has_map: bool, said: str
) -> None:
    places = Statistics.places
    monkeypatch.setattr(Statistics, "places", lambda self, _: places(self, Scope(papers=("studied/plain",))))
    if not has_map:
        monkeypatch.setattr(Statistics, "clusters", lambda _: ())
    test = studied("collection", view="Map")
    assert said in texts(test)
    test.button(key="leave_map").click().run()
    assert set(listed(test)) == set(TITLES)


# Selection


def test_a_selection_lasts_over_pages_and_views_and_ends_somewhere(studied: Screen) -> None:
    test = studied("collection")
    test.checkbox(key="tick_studied/heads").check().run()
    test.session_state["view"] = "Cards"
    test.run()
    assert test.checkbox(key="tick_studied/heads").value
    test.session_state["q"] = "summaries"
    test.run()
    assert "1 paper selected" in texts(test)
    test.button(key="pick_none").click().run()
    assert visitor_of(test).picked == ()
    test.session_state["q"] = ""
    test.run()
    assert not test.checkbox(key="tick_studied/heads").value
    visitor = Current(VisitorSession())
    select(visitor, ["a"])
    select(visitor, (str(number) for number in range(2 * MOST_SELECTED)))
    assert len(visitor.now.picked) == MOST_SELECTED
    assert visitor.now.picked[:2] == ("a", "0")


def test_all_that_is_listed_is_selected_or_asked(studied: Screen) -> None:
    test = studied("collection", topic="field:Efficiency")
    test.button(key="select_listed").click().run()
    assert visitor_of(test).picked == ("studied/tokens", "studied/heads")
    assert test.button(key="select_listed").disabled
    offered = [button.proto.label for button in test.get("download_button")]
    assert offered == ["BibTeX", "RIS", "CSL-JSON", "Table as CSV"]
    assert test.button(key="compare_these").label == "Compare these"
    test = studied("collection", venue="Findings of Somewhere")
    test.button(key="ask_filtered").click().run()
    assert visitor_of(test).asked_within == Scope(venues=("Findings of Somewhere",))
    test = studied("collection", venue="Findings of Somewhere", q="tokens")
    test.button(key="ask_filtered").click().run()
    assert set(visitor_of(test).asked_about) <= {"studied/tokens", "studied/heads"}
    assert visitor_of(test).asked_about


@pytest.mark.parametrize(
    ("query", "chip"),
    [
        ({"topic": f"field:{HOSTILE}"}, f"Field: {HOSTILE}"),
        *(({"venue": HOSTILE, **view}, f"Venue: {HOSTILE}")
          for view in ({}, {"view": "Map"}, {"view": "Cards"}, {"overview": "true"})),
    ],
)  # fmt: skip
def test_hostile_topics_are_only_text(studied: Screen, query: dict[str, str], chip: str) -> None:
    test = studied("collection", **query)
    assert not test.exception
    assert chips(test) == [chip]
    assert "topic" not in query or listed(test) == ["hostile"]
    labels = [button.label for button in test.button] + [link.proto.label for link in test.get("page_link")]
    options = [option.content for group in test.get("button_group") for option in group.proto.options]
    drawn = [*labels, *options, INLINE_LINK.sub(r"\1", texts(test))]
    assert not [text for text in drawn if "![" in text or "](" in text or " :red[" in text]
    assert not [option for option in options if "\u200b" in option]
    assert not [block for block in test.get("html") if "203.0.113.9" in str(block.proto.body)]
