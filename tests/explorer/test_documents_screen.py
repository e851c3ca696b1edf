"""Own documents on the Ask and Paper screens: brought, asked, not stored, and gone."""

import time
from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from assistant.transcript import from_json, to_json
from explorer.documents.own import OwnDocuments
from explorer.documents.wording import NOT_STORED
from explorer.resources import Library
from tests.explorer.asking import ask, finish, reader_of, texts

Screen = Callable[..., AppTest]
NOTES = (
    b"# On xylophonic pages\n\nAda Lovelace\n\nXylophonic pages sing when they are turned by a reader."
    b"\n\n## Results\n\nIn a quiet library 42 readers heard xylophonic pages sing before noon."
)
QUESTION = "How many readers heard xylophonic pages sing?"


def own_of(test: AppTest) -> OwnDocuments:
    own = test.session_state["own_documents"]
    assert isinstance(own, OwnDocuments)
    return own


def bring(test: AppTest, *files: tuple[str, bytes]) -> AppTest:
    """Open the dialog and hand in files; return when all were read."""
    test.button(key="open_documents").click().run()
    uploader = test.file_uploader(key="own_files_0")
    uploader.set_value([(name, content, "application/octet-stream") for name, content in files]).run()
    deadline = time.monotonic() + 60
    while own_of(test).is_reading():
        assert time.monotonic() < deadline, "the documents were not read"
        time.sleep(0.05)
    test.run()
    assert not test.exception
    return test


@pytest.fixture
def brought(screen: Screen) -> AppTest:
    """Return the Ask screen with one document that can be asked, and the choice made to ask it."""
    test = bring(screen("ask"), ("notes.md", NOTES))
    return test.button(key="ask_own").click().run()


def test_there_is_nothing_but_a_quiet_way_in_before_there_are_documents(screen: Screen) -> None:
    test = screen("ask")
    assert test.button(key="open_documents").label == "Your documents"
    assert "own_documents" not in test.session_state
    test.button(key="open_documents").click().run()
    assert "Kept for this visit only" in texts(test)


def test_each_document_says_what_it_gave_or_why_nothing(screen: Screen) -> None:
    test = bring(screen("ask"), ("notes.md", NOTES), ("fake.pdf", b"hello"), ("empty.txt", b""))
    said = texts(test)
    assert "notes\\.md · 3 passages" in said
    assert "The file is called a PDF but is none\\." in said
    assert "The file is empty\\." in said
    assert test.button(key="ask_own").label == "Ask this document"
    test.button(key="own_remove_2").click().run()
    assert "fake" not in texts(test)


def test_a_refused_address_says_why(screen: Screen) -> None:
    test = screen("ask")
    test.button(key="open_documents").click().run()
    test.button(key="read_address").click().run()
    assert "Type the address of a page first" in texts(test)


def test_own_documents_are_asked_and_nothing_of_it_is_stored(brought: AppTest, library: Library) -> None:
    assert "Ask your document" in texts(brought)
    test = ask(brought, QUESTION)
    (turn,) = reader_of(test).turns
    assert turn.answer.refusal is None
    assert {paper.paper.id for paper in turn.evidence.papers} == {"your-documents/notes"}
    assert NOT_STORED in texts(test)
    assert library.conversations().list(reader_of(test).stranger, 10) == ()
    assert not test.query_params.get("conversation")
    assert from_json(to_json(reader_of(test).conversation())).turns == (turn,)


def test_conversations_are_kept_apart_and_one_goes_with_its_documents(brought: AppTest) -> None:
    test = ask(brought, QUESTION)
    test.segmented_control(key="place_1_1").set_value("The collection").run()
    assert reader_of(test).turns == ()
    assert "Ask the papers" in texts(test)
    test.segmented_control(key="place_0_1").set_value("Your documents (1)").run()
    assert [turn.question for turn in reader_of(test).turns] == [QUESTION]
    assert reader_of(test).is_private
    assert not reader_of(test).is_kept
    folder = own_of(test).folder
    test.button(key="open_documents").click().run()
    assert "Removing a document ends the conversation" in texts(test)
    test.button(key="own_remove_1").click().run()
    assert (reader_of(test).turns, reader_of(test).is_private) == ((), False)
    assert list(folder.iterdir()) == []
    assert "Ask the papers" in texts(test)


def test_an_own_paper_opens_for_its_owner_and_for_nobody_else(brought: AppTest, screen: Screen) -> None:
    other = screen("paper", id="your-documents/notes")
    assert "There is no such paper here" in texts(other)
    assert "xylophonic" not in texts(other)
    brought.query_params["id"] = "your-documents/notes"
    test = brought.switch_page("explorer/pages/paper.py").run()
    assert not test.exception
    assert "On xylophonic pages" in texts(test)
    assert "add_to_comparison" not in {button.key for button in test.button}
    assert reader_of(finish(test.switch_page("explorer/pages/ask.py").run())).is_private
