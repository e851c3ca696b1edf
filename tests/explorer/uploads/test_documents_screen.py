"""Own documents on the Ask and Paper screens: brought, asked, not stored, and gone."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from assistant.trail.transcript import from_json, to_json
from corpus.records import PassageSize
from explorer.app.resources import Library
from explorer.app.visitor.session import VisitorSession
from explorer.uploads.wording import NOT_STORED
from indexer.uploads.sandbox import Limits
from indexer.uploads.session import UploadSession
from tests.explorer.asking import ask, finish, open_menu, texts, visitor_of
from tests.small_pdf import write_endless_pdf
from tests.standin_chat import StandinChat

Screen = Callable[..., AppTest]
NOTES = (
    b"# On xylophonic pages\n\nAda Lovelace\n\nXylophonic pages sing when they are turned by a reader."
    b"\n\n## Results\n\nIn a quiet library 42 readers heard xylophonic pages sing before noon."
)
QUESTION = "How many readers heard xylophonic pages sing?"


def uploads_of(test: AppTest) -> UploadSession:
    uploads = test.session_state["own_documents"]
    assert isinstance(uploads, UploadSession)
    return uploads


def bring(test: AppTest, *files: tuple[str, bytes]) -> AppTest:
    """Open the dialog and hand in files; return when all were read."""
    test.button(key="open_documents").click().run()
    hand_in(test, *files)
    return wait_until_read(test)


def hand_in(test: AppTest, *files: tuple[str, bytes]) -> None:
    uploader = test.file_uploader(key="own_files")
    uploader.set_value([(name, content, "application/octet-stream") for name, content in files]).run()


def wait_until_read(test: AppTest) -> AppTest:
    deadline = time.monotonic() + 180
    while uploads_of(test).is_reading():
        assert time.monotonic() < deadline, "the documents were not read"
        time.sleep(0.05)
    test.run()
    assert not test.exception
    return test


def test_each_document_says_what_it_gave_or_why_nothing(screen: Screen) -> None:
    test = bring(screen("ask"), ("notes.md", NOTES), ("fake.pdf", b"hello"), ("empty.txt", b""))
    said = texts(test)
    assert "notes.md · 3 passages" in said
    assert "The file is called a PDF but is none." in said
    assert "The file is empty." in said
    assert test.button(key="ask_own").label == "Ask this document"
    test.button(key="own_remove_2").click().run()
    assert "fake" not in texts(test)


def test_the_size_of_passages_is_chosen_before_documents_come_and_kept_in_the_trail(screen: Screen) -> None:
    test = screen("ask")
    test.button(key="open_documents").click().run()
    test.slider(key="own_passage_words").set_value(120).run()
    test.slider(key="own_passage_overlap_120").set_value(20).run()
    hand_in(test, ("notes.md", NOTES))
    wait_until_read(test)
    assert test.slider(key="own_passage_words").disabled
    test.button(key="ask_own").click().run()
    ask(test, "What sings?")
    assert visitor_of(test).turns[0].provenance.passages == (PassageSize(120, 20),)


def test_a_document_is_summed_up_by_its_own_sentences(screen: Screen) -> None:
    paper = (
        b"# Xylophonic pages\n\nAda Lovelace\n\n## Abstract\n\nReaders often fail to hear pages, which is a "
        b"problem for libraries. We propose a method that lets pages sing by means of xylophones. Our "
        b"results show that the method outperforms silent pages by 12% in three libraries.\n\n"
        b"## Introduction\n\nLibraries are quiet.\n"
    )
    test = bring(screen("ask"), ("pages.md", paper))
    (document,) = uploads_of(test).documents()
    assert [aspect.name for aspect in document.aspects] == ["challenge", "approach", "outcome"]
    (folded,) = (expander for expander in test.expander if expander.label == "In short")
    links = folded.get("page_link")
    assert len(links) == 3
    assert "**Approach:** We propose a method" in links[1].proto.label
    assert "passage=0&sentence=1" in links[1].proto.query_string


def test_without_documents_there_is_a_way_in_unless_uploads_are_off(
    screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    test = screen("ask")
    assert test.button(key="open_documents").label == "Your documents"
    assert "own_documents" not in test.session_state
    test.button(key="open_documents").click().run()
    assert "Kept for this visit only" in texts(test)
    test.button(key="read_address").click().run()
    assert "Type the address of a page first" in texts(test)
    test.text_input(key="own_address").set_value("http://[::1]:9/page")
    test.button(key="read_address").click().run()
    assert "http://[::1]:9/page" in texts(wait_until_read(test))

    def ways_in() -> tuple[bool, bool]:
        test = open_menu(screen("ask"), "import_menu")
        keys = [button.key for button in test.button]
        return "open_documents" in keys, bool(test.get("file_uploader"))

    assert ways_in() == (True, True)
    monkeypatch.setenv("PAPER_TRAIL_UPLOADS", "false")
    assert ways_in() == (False, False)


def test_own_documents_are_asked_and_neither_stored_nor_shared(screen: Screen, library: Library) -> None:
    test = bring(screen("ask"), ("notes.md", NOTES)).button(key="ask_own").click().run()
    assert "Ask your document" in texts(test)
    ask(test, QUESTION)
    (turn,) = visitor_of(test).turns
    assert turn.answer.refusal is None
    assert {paper.paper.id for paper in turn.evidence.papers} == {"your-documents/notes"}
    assert NOT_STORED in texts(test)
    assert library.conversations().list(visitor_of(test).stranger, 10) == ()
    assert not test.query_params.get("conversation")
    assert from_json(to_json(visitor_of(test).conversation())).turns == (turn,)
    _an_own_paper_opens_for_its_owner_and_for_nobody_else(test, screen)
    _conversations_are_kept_apart_and_one_goes_with_its_documents(test)


def _an_own_paper_opens_for_its_owner_and_for_nobody_else(test: AppTest, screen: Screen) -> None:
    other = screen("paper", id="your-documents/notes")
    assert "There is no such paper here" in texts(other)
    assert "xylophonic" not in texts(other)
    test.query_params["id"] = "your-documents/notes"
    test.switch_page("explorer/pages/paper.py").run()
    assert not test.exception
    assert "On xylophonic pages" in texts(test)
    assert "add_to_comparison" not in {button.key for button in test.button}
    assert visitor_of(finish(test.switch_page("explorer/pages/ask.py").run())).is_private


def _conversations_are_kept_apart_and_one_goes_with_its_documents(test: AppTest) -> None:
    test.segmented_control(key="place_1_1").set_value("The collection").run()
    assert visitor_of(test).turns == ()
    assert "Ask the papers" in texts(test)
    test.segmented_control(key="place_0_1").set_value("Your documents (1)").run()
    assert [turn.question for turn in visitor_of(test).turns] == [QUESTION]
    assert visitor_of(test).is_private
    assert not visitor_of(test).is_kept
    folder = uploads_of(test).folder
    test.button(key="open_documents").click().run()
    test.button(key="own_remove_1").click().run()
    assert "Remove “notes.md” and the conversation about it?" in texts(test).replace("\\", "")
    test.button(key="own_remove_not").click().run()
    assert "and the conversation about" not in texts(test)
    assert [turn.question for turn in visitor_of(test).turns] == [QUESTION]
    test.button(key="own_remove_1").click().run()
    test.button(key="own_remove_surely").click().run()
    assert (visitor_of(test).turns, visitor_of(test).is_private) == ((), False)
    assert list(folder.iterdir()) == []
    assert "Ask the papers" in texts(test)


def test_documents_that_became_ready_after_the_dialog_was_left_are_what_is_asked(screen: Screen) -> None:
    test = screen("ask")
    test.button(key="open_documents").click().run()
    hand_in(
        test, *((f"{number}.md", b"# Note %d\n\nWords of note %d." % (number, number)) for number in range(3))
    )
    test.session_state["visitor"].update(VisitorSession.close_documents)
    test = wait_until_read(test)
    assert visitor_of(test).is_private
    assert "Ask your documents" in texts(test)
    assert "papers_wanted" not in {slider.key for slider in test.slider}
    slider = test.slider(key="documents_wanted_3")
    assert (slider.label, slider.value, slider.max) == ("Documents to read", 3, 3)
    test.segmented_control(key="place_1_3").set_value("The collection").run()
    assert not visitor_of(test.run()).is_private
    test.button(key="open_documents").click().run()
    test.button(key="own_remove_all").click().run()
    assert uploads_of(test).documents() == ()


def test_a_refusal_from_the_collection_says_that_own_documents_were_not_searched(screen: Screen) -> None:
    test = ask(screen("ask"), QUESTION)
    assert "Not answered" in texts(test)
    assert "Not searched" not in texts(test)
    test = bring(test, ("notes.md", NOTES))
    assert not visitor_of(test).is_private, "the conversation that was begun is not left"
    assert "Not searched: 1 document of your own." in texts(test)
    test = finish(test.button(key="ask_own_1").click().run())
    (turn,) = visitor_of(test).turns
    assert (turn.question, turn.answer.refusal, visitor_of(test).is_private) == (QUESTION, None, True)


def test_files_of_a_second_upload_are_not_lost_nor_those_of_the_first_read_twice(screen: Screen) -> None:
    test = screen("ask")
    test.button(key="open_documents").click().run()
    hand_in(test, ("notes.md", NOTES))
    hand_in(test, ("copy.md", NOTES), ("empty.txt", b""))
    test = wait_until_read(test)
    assert [document.name for document in uploads_of(test).documents()] == ["notes.md", "empty.txt"]
    assert "copy.md is here already, called notes.md. It was taken once." in texts(test)
    test.run()
    assert len(uploads_of(test).documents()) == 2


def test_a_slow_page_is_a_message(screen: Screen, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("explorer.components.page_image.DRAWING_LIMITS", Limits(seconds=1))
    endless = write_endless_pdf(tmp_path / "endless.pdf", depth=5).read_bytes()
    test = bring(screen("ask"), ("endless.pdf", endless))
    test.query_params["id"] = "your-documents/endless"
    test = test.switch_page("explorer/pages/paper.py").run()
    assert not test.exception
    assert "Drawing it took more than 1 seconds, the most that is given to one." in texts(test)


def test_the_dialog_names_the_model_server(screen: Screen, model: Callable[..., StandinChat]) -> None:
    """Regression: it said that documents are seen by nobody else, also where a hosted model is sent them."""
    model()
    test = screen("ask")
    test.button(key="open_documents").click().run()
    assert "nothing of your documents leaves this server" in texts(test)
    assert "may be sent to the server 127.0.0.1" in texts(test).replace("\\", "")
    test.selectbox(key="writer").select("standin").run()
    assert "found for them in your documents are sent to the server 127.0.0.1" in texts(test).replace(
        "\\", ""
    )
    assert "seen by nobody else" not in texts(test)
