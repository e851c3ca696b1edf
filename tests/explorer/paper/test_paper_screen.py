"""The Paper screen in all its states, run by Streamlit without a browser."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from corpus.encoders.base import Encoder
from corpus.records import Author
from tests.explorer.asking import INLINE_LINK, finish, links, open_menu, texts, visitor_of
from tests.explorer.studied_corpus import HOSTILE, MODEL, TITLES
from tests.small_corpus import make_paper, write_corpus

Screen = Callable[..., AppTest]
BM25 = "field-notes-retrieval/bm25"
SUMMARIES = "studied/summaries"


@pytest.fixture(scope="module")
def odd_home(tmp_path_factory: pytest.TempPathFactory, encoder: Encoder) -> Path:
    """Return a home with a paper of which little is known, and one with a very long text."""
    home = tmp_path_factory.mktemp("odd-home")
    bare = replace(
        make_paper("odd", "bare"),
        authors=tuple(Author(f"Ada {number}", "Author") for number in range(40)),
    )
    write_corpus(
        home / "corpus", encoder, {bare: [], make_paper("odd", "long"): ["A passage of text."] * 300}
    )
    return home


@pytest.fixture
def odd(screen: Screen, odd_home: Path, monkeypatch: pytest.MonkeyPatch) -> Screen:
    monkeypatch.setenv("PAPER_TRAIL_HOME", str(odd_home))
    return screen


def keys(test: AppTest) -> set[str]:
    return {str(button.key) for button in test.button}


# The page of a paper


def test_a_paper_is_shown_with_its_text_at_the_passage_that_is_named(screen: Screen) -> None:
    test = screen("paper", id=BM25)
    assert not test.exception
    assert "BM25" in test.title[0].value
    assert "Similar papers" in texts(test)
    assert len(test.text) > 5
    test = screen("paper", id=BM25, passage="8", sentence="1")
    assert "The passage you came for" in texts(test)
    assert not test.exception


def test_a_paper_says_that_its_pdf_holds_text_that_cannot_be_seen(
    screen: Screen, tmp_path: Path, encoder: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    hiding = replace(make_paper("odd", "hiding"), hidden_text=1204, hidden_pages=(2, 5))
    write_corpus(tmp_path / "corpus", encoder, {hiding: ["Seen."], make_paper("odd", "open"): ["Seen."]})
    monkeypatch.setenv("PAPER_TRAIL_HOME", str(tmp_path))
    said = (
        "This PDF holds text that cannot be seen on its pages (1,204 characters, pages 2 and 5). "
        "It is not searched or cited."
    )
    assert any(said in caption.value for caption in screen("paper", id="odd/hiding").caption)
    assert not any("cannot be seen" in caption.value for caption in screen("paper", id="odd/open").caption)


def test_many_authors_stand_in_a_menu_and_what_is_missing_is_said_or_left_out(odd: Screen) -> None:
    test = odd("paper", id="odd/bare")
    assert "and 28 more" in [popover.proto.popover.label for popover in test.get("popover")]
    assert "Ada 39 Author" in links(test)
    assert not test.exception
    assert "This paper came without an abstract." in texts(test)
    assert "Only title and abstract are indexed" in texts(test)
    assert "Similar papers" not in texts(test)
    assert not test.expander
    assert not keys(test) & {"open_viewer", "next_page"}
    test = odd("paper", id="odd/long")
    assert not test.exception
    assert sum("A passage of text." in text.value for text in test.text) == 1


def test_a_paper_says_who_wrote_it_how_to_cite_it_what_it_found_and_what_is_similar(studied: Screen) -> None:
    test = open_menu(studied("paper", id="studied/tokens"), "cite")
    assert not test.exception
    found = links(test)
    assert found["Ana Lin"].endswith("collection?author=Ana+Lin")
    assert found["Papers That Were Studied"].endswith("collection?collection=studied")
    line, entry = (block.value for block in test.code)
    assert line.startswith(f"Ana Lin and Bo Ruan. 2019. {TITLES['tokens']}. ")
    assert entry.startswith("@") and "{lin-2019-dropping," in entry
    offered = {button.key for button in test.get("download_button")}
    assert {"cite_bib", "cite_ris", "cite_csl"} <= offered
    aspects = ("**Challenge**", "**Approach**", "**Outcome**")
    assert tuple(block.value for block in test.markdown if block.value in aspects) == aspects
    assert "It runs twice as fast\\.\n\n[Where it says so](" in texts(test)
    assert "passage=0&sentence=2" in found["Where it says so"]
    assert f"Written by {MODEL}, checked:" in texts(test).replace("\\", "")
    bars = [
        str(block.proto.body) for block in test.get("html") if 'class="pt-score"' in str(block.proto.body)
    ]
    assert len(bars) == 1
    assert "0.62 partial" in bars[0]
    assert "[Similar papers](#similar-papers)" in texts(test)
    (heads,) = (label for label in found if label.startswith(TITLES["heads"]))
    assert found[heads].endswith("id=studied%2Fheads")
    assert "](paper?id=studied%2Fheads) :gray[cites this paper]" in texts(test)


def test_links_to_the_list_keep_its_view_and_order(studied: Screen) -> None:
    test = studied("paper", id="studied/tokens")
    for view, order, said in (
        ("Table", "position", ""),
        ("Cards", "position", "&view=Cards"),
        ("Cards", "newest", "&view=Cards&order=Newest"),
    ):
        test.session_state["view"], test.session_state["order"] = view, order
        found = links(test.run())
        assert found["Ana Lin"] == f"collection?author=Ana+Lin{said}"
        assert found["token pruning"] == f"collection?topic=method%3Atoken+pruning{said}"


def test_a_paper_has_its_topics_its_chapters_and_its_references(studied: Screen) -> None:
    test = studied("paper", id=SUMMARIES)
    kinds = re.findall(r"^- :gray\[(.+?)\] \[", texts(test), re.MULTILINE)
    assert kinds == ["Field", "Task", "Data set", "Metric"]
    found = links(test)
    assert found["SciTLDR"].endswith("topic=dataset%3ASciTLDR")
    chapters, sections = (
        [element.value.replace("\\", "") for element in level] for level in (test.header, test.subheader)
    )
    assert chapters[:3] == ["Abstract", "1 Introduction", "2 Method"]
    assert sections[1] == "2.2 Choice"
    contents = next(block.value for block in test.markdown if "(#section-1)" in block.value)
    assert "[2 Method](#section-2-chapter)" in contents.replace("\\", "")
    assert "#section-3" in contents
    (text,) = (block.value for block in test.markdown if "Many tokens" in block.value)
    assert text.count("](#cite-") == 2
    assert "](#cite-3-1)" in text and "](#cite-2-1)" in text
    assert [expander.label for expander in test.expander if expander.label.startswith("Ref")] == [
        "References (3, 2 in this corpus)"
    ]
    assert found[f"2. Lin. {TITLES['heads']}. 2020."].endswith("id=studied%2Fheads")
    assert found[f"3. Lin. {TITLES['tokens']}. 2020."].endswith("id=studied%2Ftokens")
    assert not [label for label in found if label.startswith("1.")]


# Actions


def test_a_summary_is_asked_at_once_and_a_paper_put_into_the_comparison_once(studied: Screen) -> None:
    test = studied("paper", id="studied/tokens")
    test.button(key="add_to_comparison").click().run()
    assert "add_to_comparison" not in keys(test)
    assert "In the comparison: 1 paper" in links(test)
    test.button(key="summarise").click().run()
    finish(test.switch_page("explorer/pages/ask.py").run())
    (turn,) = visitor_of(test).turns
    assert turn.rewrite.kind == "summary"
    assert turn.scope.papers == ("studied/tokens",)
    assert TITLES["tokens"] in turn.question
    test = studied("paper", id="studied/tokens", passage="1", sentence="1")
    assert "The passage you came for" in texts(test)
    assert "It is dropped once its score is low." in [text.value for text in test.text]


# Its text


def test_an_entry_leads_to_its_paper_or_says_that_it_is_absent(studied: Screen) -> None:
    test = studied("paper", id=SUMMARIES)

    def look_at(*shown: object) -> None:
        test.session_state["reference_shown"] = shown
        test.run()
        assert not test.exception

    look_at(SUMMARIES, 2)
    assert links(test)["Open paper"].endswith("id=studied%2Ftokens")
    assert "Cited in: 1 Introduction" in texts(test)
    look_at(SUMMARIES, 0)
    assert "This work is not in this corpus." in texts(test)
    assert "Open paper" not in links(test)
    for shown in (("studied/tokens", 0), (SUMMARIES, 3), (SUMMARIES, -1)):
        look_at(*shown)
        assert "Cited in:" not in texts(test)


# The passage that the address names


@pytest.mark.parametrize("query", [{"passage": "999"}, {"passage": "x"}, {"passage": "8", "sentence": "²"}])
def test_a_wrong_passage_shows_the_paper(screen: Screen, query: dict[str, str]) -> None:
    test = screen("paper", id=BM25, **query)
    assert not test.exception
    assert "BM25" in test.title[0].value
    assert ("not in this paper" in texts(test)) == (query["passage"] != "8")


@pytest.mark.parametrize("identifier", ["", "nothing", "' OR 1=1 --", "../../etc/passwd"])
def test_an_unknown_paper_leads_back(screen: Screen, identifier: str) -> None:
    test = screen("paper", id=identifier)
    assert test.title[0].value == "There is no such paper here"
    assert "to_collection" in keys(test)


# Its pages


def test_pages_are_turned_zoomed_and_viewed(screen: Screen, monkeypatch: pytest.MonkeyPatch) -> None:
    test = screen("paper", id=BM25)
    assert test.number_input(key="page_wanted").value == 1
    assert "of 2" in texts(test)
    test.button(key="next_page").click().run()
    assert test.number_input(key="page_wanted").value == 2
    assert test.button(key="next_page").disabled
    test.number_input(key="page_wanted").set_value(1).run()
    assert test.button(key="previous_page").disabled
    test.button(key="page_zoom").click().run()
    assert test.button(key="page_zoom").label == "Whole page"
    assert not test.get("component_instance")
    test.button(key="open_viewer").click().run()
    assert not test.exception
    assert len(test.get("component_instance")) == 1
    test.button(key="next_page").click().run()
    assert len(test.get("component_instance")) == 1
    test.button(key="close_viewer").click().run()
    assert not test.get("component_instance")
    monkeypatch.setattr("explorer.paper.pdf_in_page.LARGEST_MB", 0)
    assert screen("paper", id=BM25).button(key="open_viewer").disabled


# Its place among others


@pytest.mark.parametrize(
    ("key", "expected"),
    [("tokens", ["Cited here by 3 papers"]), ("heads", ["Cited here by 1 paper"]), ("plain", [])],
)
def test_a_paper_names_those_that_cite_it(studied: Screen, key: str, expected: list[str]) -> None:
    test = studied("paper", id=f"studied/{key}")
    assert [expander.label for expander in test.expander if expander.label.startswith("Cited")] == expected


# Missing and hostile content


def test_what_is_hostile_on_a_paper_is_only_text(studied: Screen) -> None:
    for key in ("hostile", "summaries"):
        test = studied("paper", id=f"studied/{key}")
        assert not test.exception
        drawn = [
            element.value
            for element in (*test.markdown, *test.caption, *test.title, *test.header, *test.subheader)
        ]
        drawn += [link.proto.label for link in test.get("page_link")]
        own = [INLINE_LINK.sub(r"\1", text).replace("](#", "") for text in drawn]
        assert not [text for text in own if "![" in text or "](" in text or "<b>" in text]
        assert not [text for text in own if HOSTILE in text]
        weak = "0.10 weak" in "".join(str(block.proto.body) for block in test.get("html"))
        assert weak == (key == "hostile"), "a weak aspect is said to be"
