"""Kept libraries on the screens: kept, asked, compared, shared, deleted, and seen by nobody else."""

from collections.abc import Callable
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from assistant.libraries.keeping import Libraries
from assistant.storage.libraries import LibrarySummary
from corpus.records import library_collection
from explorer.app.resources import Library
from explorer.uploads.kept import GONE, NOT_YOURS
from tests.explorer.asking import ask, texts, visitor_of
from tests.explorer.uploads.test_documents_screen import (
    NOTES,
    QUESTION,
    bring,
    hand_in,
    uploads_of,
    wait_until_read,
)

Screen = Callable[..., AppTest]
MARKER = "xylophonic"
OTHER_NOTES = NOTES.replace(b"42 readers", b"7 sailors").replace(b"pages", b"ropes")


@pytest.fixture
def libraries(library: Library) -> Libraries:
    return library.libraries()


def as_same_visitor(test: AppTest, other: AppTest) -> AppTest:
    """Have another session be of the same person, as it is where a browser has its cookie."""
    other.session_state["visitor"] = type(test.session_state["visitor"])(
        visitor_of(other).__class__(stranger=visitor_of(test).stranger)
    )
    return other


def keep(test: AppTest, title: str = "My reading") -> AppTest:
    test.button(key="keep_own").click().run()
    test.text_input(key="keep_title").set_value(title).run()
    test.button(key="keep_surely").click().run()
    assert not test.exception
    return test


def own(libraries: Libraries, test: AppTest) -> LibrarySummary:
    (library,) = libraries.store.list(visitor_of(test).stranger)
    return library


def go_to(test: AppTest, page: str, **query: str) -> AppTest:
    for name, value in query.items():
        test.query_params[name] = value
    test.switch_page(f"explorer/pages/{page}.py").run()
    assert not test.exception
    return test


def close_dialog(test: AppTest) -> AppTest:
    visitor = test.session_state["visitor"]
    visitor.update(type(visitor.now).close_documents)
    return test.run()


def test_documents_are_kept_and_opened(screen: Screen, libraries: Libraries, library: Library) -> None:
    test = bring(screen("ask"), ("notes.md", NOTES))
    test.button(key="ask_own").click().run()
    ask(test, QUESTION)
    test.button(key="open_documents").click().run()
    keep(test)
    summary = own(libraries, test)
    assert summary.title == "My reading"
    assert "1 document kept in “My reading”." in texts(test)
    assert uploads_of(test).documents() == ()
    # The conversation about the visit's documents goes on over the library.
    now = visitor_of(test)
    assert (now.library_id, now.is_private, now.is_kept) == (summary.id, False, True)
    (turn,) = now.turns
    identifier = f"{library_collection(summary.id)}/notes"
    assert {paper.paper.id for paper in turn.evidence.papers} == {identifier}
    ask(close_dialog(test), "What else did readers hear?")
    assert {paper.paper.id for paper in visitor_of(test).turns[1].evidence.papers} == {identifier}

    reopened = as_same_visitor(test, screen("ask"))
    reopened.query_params["conversation"] = now.conversation_id
    reopened.run()
    assert (visitor_of(reopened).library_id, len(visitor_of(reopened).turns)) == (summary.id, 2)
    assert "In the library “My reading”" in texts(reopened)
    ask(reopened, QUESTION)
    assert len(visitor_of(reopened).turns) == 3
    store = library.conversations()
    assert [conversation.turns for conversation in store.list(now.stranger)] == [3]

    _papers_are_browsed_and_read(test, summary)
    _others_see_nothing(screen, summary, now.conversation_id)
    _deleting_says_what_goes_and_what_has_gone(reopened, libraries, summary)
    assert store.list(now.stranger) == ()
    _the_open_conversation_says_that_the_library_is_gone(test)


def _papers_are_browsed_and_read(test: AppTest, summary: LibrarySummary) -> None:
    go_to(test, "collection", collection=library_collection(summary.id))
    assert "On xylophonic pages" in texts(test) + str(test.main)
    assert [box.value for box in test.header][:1] == ["My reading"]
    go_to(test, "paper", id=f"{library_collection(summary.id)}/notes")
    assert "On xylophonic pages" in texts(test)
    assert "42 readers heard" in texts(test)


def _others_see_nothing(screen: Screen, summary: LibrarySummary, conversation: str) -> None:
    place = library_collection(summary.id)
    for other in (
        screen("collection", collection=place),
        screen("paper", id=f"{place}/notes"),
        screen("compare", papers=f"{place}/notes,{place}/other"),
        screen("ask", collection=place),
        screen("ask", paper=f"{place}/notes"),
        screen("ask", library=summary.id),
        screen("about"),
    ):
        assert not other.exception
        assert MARKER not in texts(other) + str(other.main)
        assert "My reading" not in str(other.main) + str(other.sidebar)
        assert visitor_of(other).library_id == ""
    # Regression: the address of a conversation, which the page of its owner has, led to what it quotes.
    reader = screen("ask", conversation=conversation)
    assert NOT_YOURS[:40] in texts(reader)
    assert visitor_of(reader).turns == ()
    assert MARKER not in texts(reader) + str(reader.main)


def _deleting_says_what_goes_and_what_has_gone(
    test: AppTest, libraries: Libraries, summary: LibrarySummary
) -> None:
    test.button(key="open_documents").click().run()
    test.button(key="delete_library").click().run()
    assert "This deletes 1 document with its file, and 1 conversation about them" in texts(test).replace(
        "\\", ""
    )
    test.button(key="delete_library_not").click().run()
    assert libraries.store.get(summary.id)
    test.button(key="delete_library").click().run()
    test.button(key="delete_library_surely").click().run()
    assert not test.exception
    assert "“My reading” has been deleted: 1 document, 1 conversation." in texts(test)
    assert not libraries.folder(summary.id).path.exists()
    assert (visitor_of(test).library_id, visitor_of(test).turns) == ("", ())


def _the_open_conversation_says_that_the_library_is_gone(test: AppTest) -> None:
    go_to(test, "ask")
    assert GONE[:40] in texts(test)
    ask(test, QUESTION)
    failure = visitor_of(test).failure
    assert failure is not None
    assert failure.message == GONE
    go_to(test, "collection")
    go_to(test, "compare")


def test_fault_a_renaming_locked_out_pages_that_had_the_library_open(
    screen: Screen, libraries: Libraries, library: Library
) -> None:
    test = bring(screen("ask"), ("notes.md", NOTES))
    keep(test)
    close_dialog(test)
    summary = own(libraries, test)
    libraries.rename(summary.id, None, summary.title, "Called otherwise")
    ask(test, QUESTION)
    now = visitor_of(test)
    assert (now.library_id, len(now.turns)) == (summary.id, 1)
    assert GONE not in texts(test)


def test_an_address_opens_a_library_for_those_who_may_read_it(screen: Screen, libraries: Libraries) -> None:
    """Regression: the address did not name a kept library, and a page that was loaded anew had left it."""
    test = keep(bring(screen("ask"), ("notes.md", NOTES)))
    (link,) = [button for button in test.get("link_button") if button.proto.label == "Export"]
    assert link.proto.url.startswith("library-export/")
    summary = own(libraries, test)
    again = as_same_visitor(test, screen("ask"))
    again.query_params["library"] = summary.id
    assert visitor_of(again.run()).library_id == summary.id
    stranger = screen("ask", library=summary.id)
    assert visitor_of(stranger).library_id == ""
    assert "This link leads to no library" in texts(stranger)


def test_a_library_is_changed_in_two_tabs(screen: Screen, libraries: Libraries) -> None:
    test = keep(bring(screen("ask"), ("notes.md", NOTES)))
    summary = own(libraries, test)
    other_tab = as_same_visitor(test, screen("ask"))
    other_tab.run()
    other_tab.button(key="open_documents").click().run()
    other_tab.button(key="open_library_1").click().run()

    test.button(key="grow_library").click().run()
    bring_more(test, ("notes.md", NOTES), ("other.md", OTHER_NOTES))
    assert test.selectbox(key="keep_place").value == summary.id
    test.button(key="keep_surely").click().run()
    assert "1 document kept in “My reading”. 1 document was there already." in texts(test)

    rename(test, "In one tab")
    assert own(libraries, test).title == "In one tab"
    rename(other_tab, "In the other")
    assert "It has been renamed elsewhere meanwhile, to “In one tab”." in texts(other_tab)
    assert own(libraries, test).title == "In one tab"

    for tab in (test, other_tab):
        tab.button(key="library_remove_1").click().run()
    test.button(key="library_out_1_surely").click().run()
    other_tab.button(key="library_out_1_surely").click().run()
    assert "It had been removed already, in another tab perhaps." in texts(other_tab)
    assert libraries.count_documents(summary.id) == 1
    libraries.delete(summary.id, None)
    test.button(key="share_library").click().run()
    assert "This library has been deleted" in texts(test)


def rename(test: AppTest, title: str) -> None:
    field = next(field for field in test.text_input if str(field.key).startswith("library_title_"))
    field.set_value(title)
    test.button(key="rename_library").click().run()


def bring_more(test: AppTest, *files: tuple[str, bytes]) -> AppTest:
    hand_in(test, *files)
    return wait_until_read(test)


def test_a_shared_library_is_read_by_its_link_alone(screen: Screen, libraries: Libraries) -> None:
    test = keep(bring(screen("ask"), ("notes.md", NOTES), ("other.md", OTHER_NOTES)))
    summary = own(libraries, test)
    test.button(key="share_library").click().run()
    link = own(libraries, test).link
    assert link
    assert f"?library={link}" in str(test.code[0].value)

    reader = screen("ask", library=link)
    assert visitor_of(reader).library_id == summary.id
    assert "Ask “My reading”" in texts(reader)
    ask(reader, QUESTION)
    assert len(visitor_of(reader).turns) == 1
    reader.button(key="open_documents").click().run()
    keys = {button.key for button in reader.button}
    assert "ask_library" in keys
    assert not keys & {
        "library_remove_1",
        "grow_library",
        "rename_library",
        "delete_library",
        "share_library",
    }

    test.button(key="unshare_library").click().run()
    close_dialog(reader)
    assert GONE[:40] in texts(reader)
    ask(reader, QUESTION)
    assert visitor_of(reader).failure is not None
    again = as_same_visitor(reader, screen("ask"))
    again.query_params["conversation"] = visitor_of(reader).conversation_id
    assert NOT_YOURS[:40] in texts(again.run())
    assert visitor_of(again).turns == ()
    late = screen("ask", library=link)
    assert "This link leads to no library" in texts(late)
    assert visitor_of(late).library_id == ""


def test_library_papers_are_compared(screen: Screen, libraries: Libraries, library: Library) -> None:
    test = keep(bring(screen("ask"), ("notes.md", NOTES), ("other.md", OTHER_NOTES)))
    summary = own(libraries, test)
    place = library_collection(summary.id)
    go_to(test, "compare", papers=f"{place}/notes,{place}/other")
    assert "In the library “My reading”" in texts(test)
    session: Any = test.session_state["comparison"]
    assert session.now.papers == (f"{place}/notes", f"{place}/other")
    key = f"about_{session.now.opened}"
    test.text_area(key=key).set_value(
        "How xylophonic pages and ropes are heard by readers and sailors."
    ).run()
    test.button(key="compare").click().run()
    for _ in range(600):
        if session.now.comparison:
            break
        test.run()
    assert session.now.comparison, session.now.failure
    identifier = session.now.identifier
    assert library.comparisons().library_of(identifier) == summary.id

    again = as_same_visitor(test, screen("compare"))
    again.query_params["comparison"] = identifier
    again.run()
    assert "In the library “My reading”" in texts(again)
    stranger = screen("compare", comparison=identifier)
    assert NOT_YOURS[:40] in texts(stranger)
    assert MARKER not in texts(stranger) + str(stranger.main)
    libraries.delete(summary.id, None)
    again.run()
    assert not again.exception
    assert GONE[:40] in texts(again)
    assert library.comparisons().get(identifier) is None


def test_what_a_person_may_keep_is_said_where_it_is_reached(
    screen: Screen, libraries: Libraries, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PAPER_TRAIL_DOCUMENTS_PER_LIBRARY", "1")
    test = bring(screen("ask"), ("notes.md", NOTES), ("other.md", OTHER_NOTES))
    keep(test)
    assert "A library holds 1 documents at most; this would be 2." in texts(test)
    assert len(uploads_of(test).ready()) == 2
    assert libraries.store.list(visitor_of(test).stranger) == ()
