"""The reading list and what is followed, on the Collection, Paper and Reading screens, without a browser."""

from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from assistant.storage.reading import Followed, PaperSet
from corpus.records import Scope
from explorer.app.resources import Library
from explorer.presenters.arrivals import arrivals, paper_set
from explorer.reading.screen import address_of
from tests.explorer.asking import links, texts, visitor_of

Screen = Callable[..., AppTest]
BM25 = "field-notes-retrieval/bm25"


def keys(test: AppTest) -> set[str]:
    return {str(button.key) for button in test.button}


def go_on(test: AppTest, page: str, **query: str) -> AppTest:
    """Show another screen to the same visitor."""
    test.switch_page(f"explorer/pages/{page}.py")
    for name in list(test.query_params):
        del test.query_params[name]
    for name, value in query.items():
        test.query_params[name] = value
    return test.run()


def test_papers_are_put_on_the_list_marked_as_read_exported_and_taken_off(screen: Screen) -> None:
    test = screen("paper", id=BM25)
    test.button(key="list_paper").click().run()
    assert "unlist_paper" in keys(test)
    test = go_on(test, "reading")
    assert not test.exception
    (listed,) = (label for label in links(test) if label.startswith("BM25"))
    assert links(test)[listed].endswith("id=field-notes-retrieval%2Fbm25")
    assert {"list_bib", "list_ris", "list_csl"} <= {button.key for button in test.get("download_button")}
    test.button(key=f"read_{BM25}").click().run()
    assert "Read" in [caption.value for caption in test.caption]
    test.button(key=f"unlist_{BM25}").click().run()
    assert "Nothing yet" in texts(test)
    test = screen("collection")
    test.button(key="select_listed").click().run()
    test.button(key="list_these").click().run()
    assert sum(key.startswith("read_") for key in keys(go_on(test, "reading"))) == 16


def test_a_whole_collection_is_not_followed_and_a_search_is_until_it_is_not(screen: Screen) -> None:
    test = screen("collection")
    assert "follow" not in keys(test)
    test = screen("collection", q="rank fusion")
    test.button(key="follow").click().run()
    assert "unfollow" in keys(test) and "follow" not in keys(test)
    test = go_on(test, "reading")
    assert "“rank fusion”" in texts(test).replace("\\", "") + "".join(links(test)).replace("\\", "")
    assert "nothing new" in [caption.value for caption in test.caption]
    (stop,) = (button for button in test.button if str(button.key).startswith("unfollow_"))
    stop.click().run()
    assert "Nothing yet" in texts(test)


@pytest.fixture
def followed_before(screen: Screen, library: Library) -> AppTest:
    """Return a visit of one who followed things when a paper was not there yet."""
    test = screen("collection")
    owner = visitor_of(test).stranger
    there = PaperSet.of(paper.id for paper in library.corpus.papers() if paper.id != BM25)
    author = library.corpus.paper(BM25).authors[0].name
    library.reading().follow(owner, Followed("An author", "", Scope(authors=(author,))), there)
    library.reading().follow(owner, Followed("“BM25”", "BM25", Scope()), there)
    library.reading().follow(owner, Followed("Elsewhere", "BM25", Scope(years=(1990, 1999))), there)
    return test


def test_new_papers_are_announced_until_they_are_seen(followed_before: AppTest) -> None:
    test = followed_before.run()
    (news,) = (label for label in links(test) if "what you follow" in label)
    assert news.startswith("**1 new paper**") and "Elsewhere" not in news
    test = go_on(test, "reading")
    assert sum(caption.value == "**1 new paper**" for caption in test.caption) == 2
    assert any(label.startswith("BM25") for label in links(test))
    test.button(key="see_all").click().run()
    assert sum(caption.value == "nothing new" for caption in test.caption) == 3
    assert not any("what you follow" in label for label in links(go_on(test, "collection")))


def test_what_is_followed_leads_to_its_list_and_what_was_there_is_not_new(library: Library) -> None:
    store = library.reading()
    store.follow("me", Followed("x", "BM25", Scope()), paper_set(library.corpus))
    assert [arrival.papers for arrival in arrivals(store, library.corpus, library.encoder, "me")] == [()]
    scope = Scope(collections=("c",), authors=("Ana Lin",), years=(2019, 2021))
    store.follow("you", Followed("x", "fusion", scope), paper_set(library.corpus))
    (found,) = arrivals(store, library.corpus, library.encoder, "you")
    assert address_of(found) == {
        "q": ["fusion"],
        "collection": ["c"],
        "author": ["Ana Lin"],
        "years": ["2019", "2021"],
    }


def test_hostile_titles_are_shown_as_they_are(screen: Screen, library: Library, home: Path) -> None:
    test = screen("reading")
    owner = visitor_of(test).stranger
    library.reading().list_paper(owner, "gone/1", "![x](http://203.0.113.9/a.png) :green-badge[1]")
    test = test.run()
    shown = texts(test)
    assert "not in this corpus any more" in shown and "![x](" not in shown and ":green-badge[" not in shown
