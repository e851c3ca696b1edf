"""Topics, aspects and links between papers, as the screens show them."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some
from streamlit.testing.v1 import AppTest

from assistant.trail.transcript import from_json, to_json
from corpus.encoders.base import Encoder
from corpus.records import Aspect, Author, Paper, Scope, Topic
from corpus.store.corpus import Corpus
from explorer.ask.choices import filter_labels, with_filters
from explorer.presenters.coverage import asked_about, covered, names_papers
from explorer.presenters.finding import Finding
from explorer.presenters.topics import Facet, FacetValue, by_kind, facets_of, known_topics, topic_label
from explorer.presenters.wording import affiliations, format_years, ordered_aspects
from tests.explorer.asking import finish, open_menu, texts, visitor_of
from tests.explorer.collection.test_collection import Screen, address, chips, listed, pills
from tests.explorer.studied_corpus import TITLES
from tests.small_corpus import make_paper


@pytest.fixture
def corpus(studied_home: Path, encoder: Encoder) -> Corpus:
    return Corpus.open(studied_home / "corpus", encoder)


# Collection


def facets(test: AppTest) -> set[str]:
    return {group.key for group in test.get("button_group") if group.key.startswith("facet_")}


def test_facets_and_aspects_are_drawn_only_where_they_occur(studied: Screen) -> None:
    test = studied("collection", topic="field:Summarization")
    assert not test.exception
    assert facets(test) == {"facet_field"}, "a menu is drawn before it is opened"
    for kind in ("task", "dataset", "metric", "method"):
        open_menu(test, f"facet_menu_{kind}")
    assert facets(test) == {"facet_field", "facet_task", "facet_dataset", "facet_metric"}
    test = studied("collection", view="Cards")
    line = next(block.value for block in test.markdown if "Challenge] Inference" in block.value)
    assert line.index("Challenge") < line.index("Approach") < line.index("Outcome")
    assert "Nothing is said here" in texts(test)
    assert ":gray[Challenge] Inference" not in texts(studied("collection", q="inference"))


def test_topics_in_the_address_filter_add_up_by_kind_and_can_be_taken_back(studied: Screen) -> None:
    test = studied("collection", topic="field:Efficiency")
    assert set(listed(test)) == {"tokens", "heads"}
    assert chips(test) == ["Field: Efficiency"]
    test.button(key="chosen_1").click().run()
    assert set(listed(test)) == set(TITLES)
    assert address(test, "topic") == []
    test = studied("collection", topic=["field:Efficiency", "field:Summarization", "metric:F1"])
    assert set(listed(test)) == {"heads", "summaries"}
    assert chips(test) == ["Field: Efficiency", "Field: Summarization", "Metric: F1"]
    test.button(key="clear_topics").click().run()
    assert chips(test) == []
    assert set(listed(test)) == set(TITLES)
    test = studied("collection", topic="field:Efficiency", q="summaries of scientific papers")
    assert set(listed(test)) <= {"tokens", "heads"}
    test = studied("collection", topic=["dataset:SciTLDR", "method:head pruning"])
    assert "No paper here is about all of this." in texts(test)
    test.button(key="clear_filters").click().run()
    assert set(listed(test)) == set(TITLES)


def test_choosing_a_pill_writes_the_address(studied: Screen) -> None:
    test = studied("collection")
    pills(test, "field").select("field:Efficiency").run()
    assert address(test, "topic") == ["field:Efficiency"]
    assert set(listed(test)) == {"tokens", "heads"}
    pills(test, "metric").select("metric:F1").run()
    assert address(test, "topic") == ["field:Efficiency", "metric:F1"]
    assert set(listed(test)) == {"heads"}
    pills(test, "field").unselect("field:Efficiency").run()
    assert address(test, "topic") == ["metric:F1"]


def test_a_filter_is_asked_as_it_is(studied: Screen) -> None:
    test = studied("collection", topic="field:Efficiency")
    test.button(key="ask_filtered").click().run()
    test.switch_page("explorer/pages/ask.py").run()
    assert test.multiselect(key="scope_filter").value == ["field:Efficiency"]
    assert test.chat_input[0].placeholder == "Ask about these 2 papers"
    assert TITLES["heads"] in texts(test).replace("\\", "")
    test.chat_input(key="question_box").set_value("Why are large encoders slow?").run()
    finish(test)
    assert visitor_of(test).turns[0].scope.topics == ("field:Efficiency",)
    conversation = visitor_of(test).conversation()
    assert from_json(to_json(conversation)) == conversation
    test.multiselect(key="scope_filter").set_value([]).run()
    assert test.chat_input[0].placeholder == "Ask about these 5 papers"


# Without a screen


def test_counts_are_those_of_the_list_without_the_choice_of_a_kind(corpus: Corpus, encoder: Encoder) -> None:
    scope = Scope(topics=("field:Efficiency",))
    for query in ("", "pruning heads"):
        finding = Finding(corpus, encoder, query, scope)
        listing = finding.papers("relevance", 1)
        assert listing.counts == finding.counts()
        assert listing.counts.topics["field:Efficiency"] == listing.total
        assert listing.counts.venues == {"Findings of Somewhere": listing.total}
        assert sum(listing.counts.years.values()) == listing.total
        assert "field:Summarization" not in listing.counts.topics
    scope = Scope(topics=("field:Efficiency", "metric:F1"))
    facets = {
        facet.kind: facet
        for facet in facets_of(scope, corpus.statistics.topic_counts(scope), corpus.statistics.topic_counts)
    }
    assert {value.key: value.papers for value in facets["field"].values} == {
        "field:Efficiency": 1,
        "field:Summarization": 1,
    }
    assert [(value.name, value.papers) for value in facets["metric"].values] == [("F1", 1)]
    assert [value.key for value in facets["method"].values] == ["method:head pruning"]


def test_chosen_topics_are_always_shown_and_only_some_are_taken_from_an_address() -> None:
    values = tuple(FacetValue(f"task:{name}", name, 9 - place) for place, name in enumerate("abcdef"))
    assert Facet("task", values, ()).first_keys(2) == ("task:a", "task:b")
    assert Facet("task", values, ("task:f",)).first_keys(2) == ("task:a", "task:f")
    assert Facet("task", values, ("task:d", "task:b", "task:f")).first_keys(2) == (
        "task:b",
        "task:d",
        "task:f",
    )
    (facet,) = facets_of(Scope(topics=("task:x",)), {}, lambda _: {})
    assert facet.values == (FacetValue("task:x", "x", 0),)
    keys = [f"task:{number}" for number in range(1000)]
    assert len(known_topics(keys, set(keys))) == 20
    assert topic_label("dataset:SQuAD") == "Data set: SQuAD"
    topics = (Topic("metric", "F1", 1), Topic("field", "NLP", 1), Topic("metric", "BLEU", 0.1))
    assert list(by_kind(topics)) == ["field", "metric"]


@given(some.lists(some.text(max_size=30) | some.sampled_from(["task:a", "field:b", "metric:\u200b"])))
def test_only_topics_of_the_corpus_are_taken_from_an_address(keys: list[str]) -> None:
    vocabulary = {"task:a", "field:b", "metric:\u200b", "no key"}
    assert set(known_topics(keys, vocabulary)) == set(keys) & {"task:a", "field:b"}


def test_a_filter_says_what_it_covers_and_is_kept_to_as_far_as_it_is_left(corpus: Corpus) -> None:
    scope = Scope(topics=("dataset:SciTLDR",))
    assert names_papers(scope) and not names_papers(Scope(collections=("studied",)))
    assert covered(corpus, scope) == (TITLES["summaries"],)
    assert asked_about(corpus, scope) == f"Ask about: {TITLES['summaries']}"
    assert filter_labels(Scope(years=(2019, 2021), topics=("task:parsing",))) == {
        "task:parsing": "Task: parsing",
        "years": "Year: 2019 to 2021",
    }
    assert filter_labels(Scope(topics=("task:parsing",))) == {"task:parsing": "Task: parsing"}
    within = Scope(years=(2019, 2021), topics=("task:parsing",), venues=("ACL",), authors=("Ada Lin",))
    assert with_filters(within, filter_labels(within)) == within
    assert with_filters(within, ["venue:ACL", "task:parsing"]) == Scope(
        venues=("ACL",), topics=("task:parsing",)
    )
    assert format_years((2020, 2020)) == "2020"
    assert format_years((2019, 2022)) == "2019 to 2022"


def test_affiliations_are_named_once_and_aspects_read_in_their_order() -> None:
    assert affiliations((Author("A", "B", ("X", "Y")), Author("C", "D", ("X",)))) == "X · Y"
    assert affiliations((Author("A", "B", tuple("UVWXYZ")),)) == "U · V · W · X and 2 more"
    assert affiliations((Author("A", "B"), Author("C", "D", ("\u200b",)))) == ""
    paper: Paper = replace(
        make_paper("c", "p"), aspects=(Aspect("outcome", "o", 0, 0), Aspect("challenge", "c", 0, 0))
    )
    assert [aspect.name for aspect in ordered_aspects(paper.aspects)] == ["challenge", "outcome"]
