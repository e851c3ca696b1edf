"""A reader's own notes on the Paper screen, run by Streamlit without a browser."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from assistant.annotations import Annotation, find_quoted, place_of, quoted_text
from corpus.records import Passage, Sentence
from explorer.app.resources import Library
from explorer.paper.cited_text import Bibliography, blocks, linked_markdown
from explorer.paper.notes.selection import parse_selected
from tests.explorer.asking import open_menu, texts, visitor_of

Screen = Callable[..., AppTest]
BM25 = "field-notes-retrieval/bm25"
HOSTILE = "<script>alert(1)</script> ![x](http://203.0.113.9/a.png) :green-badge[0.99] \u202egnihton"


def write(test: AppTest, note: str, place: int = -1) -> AppTest:
    """Write a note on the paper, or on the sentence at a place of the menu."""
    open_menu(test, f"notes_menu_{visitor_of(test).noted}")
    (menu,) = (box for box in test.selectbox if str(box.key).startswith("note_place_"))
    menu.set_value(place)
    (field,) = (field for field in test.text_area if str(field.key).startswith("note_new_"))
    field.set_value(note)
    return test.button(key="keep_note").click().run()


def press(test: AppTest, beginning: str) -> AppTest:
    (button,) = (button for button in test.button if str(button.key).startswith(beginning))
    return button.click().run()


def owner_of(library: Library) -> str:
    """Return whose the only thing is that is kept."""
    with library.reading()._engine.connect() as connection:
        return str(connection.execute(sa.text("SELECT DISTINCT owner FROM reading")).scalar_one())


def test_a_sentence_is_marked_with_its_note_below(screen: Screen, library: Library) -> None:
    test = write(screen("paper", id=BM25), "Does this hold?", 5)
    assert not test.exception
    (marked,) = (block.value for block in test.markdown if ":yellow-background[" in block.value)
    assert "Does this hold?" in texts(test)
    (kept,) = library.reading().annotations(owner_of(library), BM25)
    assert kept.record.passage_id == f"{BM25}#0" and kept.record.quoted
    assert kept.record.quoted.split()[-1].rstrip(".") in marked
    test = press(press(test, "edit_"), "cancel_edit")
    test = press(test, "edit_")
    test.text_area(key=f"note_text_{kept.id}").set_value("It does.")
    test = press(test, "keep_edited")
    assert "It does." in texts(test) and "Does this hold?" not in texts(test)
    test = press(test, "erase_")
    assert not any(":yellow-background[" in block.value for block in test.markdown)
    test = press(test, "put_back_note")
    assert "It does." in texts(test)


def test_words_of_a_reader_are_shown_as_they_are_to_nobody_else_and_none_are_not_kept(screen: Screen) -> None:
    test = write(screen("paper", id=BM25), HOSTILE)
    assert HOSTILE.replace("\u202e", "") in [text.value for text in test.text]
    assert not any("203.0.113.9/a" in block.value for block in test.markdown)
    write(screen("paper", id=BM25), "for my eyes alone")
    assert "for my eyes alone" not in texts(screen("paper", id=BM25))
    test = write(screen("paper", id=BM25), "  ")
    assert "There is nothing to keep" in texts(test)


def test_words_of_another_tab_are_shown_beside_own_ones(screen: Screen, library: Library) -> None:
    test = press(write(screen("paper", id=BM25), "first"), "edit_")
    owner = owner_of(library)
    (kept,) = library.reading().annotations(owner, BM25)
    library.reading().write_note(owner, kept, "from the other tab")
    test.text_area(key=f"note_text_{kept.id}").set_value("from this tab")
    test = press(test, "keep_edited")
    assert "from the other tab" in texts(test) and "changed in another tab" in texts(test)
    assert test.text_area(key=f"note_text_{kept.id}").value == "from this tab"
    test = press(test, "keep_edited")
    assert [annotation.record.note for annotation in library.reading().annotations(owner, BM25)] == [
        "from this tab"
    ]


def test_a_note_deleted_elsewhere_keeps_own_words(screen: Screen, library: Library) -> None:
    test = press(write(screen("paper", id=BM25), "first"), "edit_")
    owner = owner_of(library)
    (kept,) = library.reading().annotations(owner, BM25)
    library.reading().erase(owner, kept)
    test.text_area(key=f"note_text_{kept.id}").set_value("still here")
    assert "had been deleted in another tab" in texts(press(test, "keep_edited"))
    assert [annotation.record.note for annotation in library.reading().annotations(owner, BM25)] == [
        "still here"
    ]


def test_words_that_are_no_longer_in_the_text_are_shown_as_such(screen: Screen, library: Library) -> None:
    test = write(screen("paper", id=BM25), "whole")
    owner = owner_of(library)
    library.reading().annotate(
        owner, Annotation("", BM25, "BM25", f"{BM25}#3", 0, 0, "Words of an earlier version.", "Mine.")
    )
    test = test.run()
    shown = texts(test)
    assert "no longer in the text" in shown and "Words of an earlier version." in shown and "Mine." in shown


# Where marked words stand


def cut(name: str, sentences: Sequence[str], number: int = 0) -> Passage:
    ends = [0]
    for sentence in sentences:
        ends.append(ends[-1] + len(sentence) + 1)
    spans = tuple(Sentence(*both) for both in pairwise(ends))
    text = "".join(f"{sentence} " for sentence in sentences)
    return Passage(f"{name}#{number}", name, "c", number, "body", (), text, spans)


WORDS = ["It ranks.", "It ranks papers by words.", "It learns nothing.", "So it is fast.", "And it is old."]


def test_marked_and_selected_words_are_found_where_they_are_now() -> None:
    before = cut("p", WORDS)
    note = Annotation("", "p", "P", before.id, 1, 2, quoted_text(before, 1, 2))
    assert place_of(note, [before])[0].first == 1
    after = [cut("p", ["A new first passage."]), cut("p", WORDS[:2], 1), cut("p", WORDS[2:], 2)]
    assert [(place.passage_id, place.first, place.last) for place in place_of(note, after)] == [
        ("p#1", 1, 1),
        ("p#2", 0, 0),
    ]
    assert place_of(note, [cut("p", WORDS[3:])]) == ()
    assert place_of(replace(note, quoted=""), [before]) == ()
    (place,) = find_quoted("papers\n by\u00a0words.It  learns", [cut("p", WORDS)])
    assert (place.first, place.last) == (1, 2)
    selected = parse_selected({"quoted": "x" * 100_000, "section": "abstract", "wantsNote": 1})
    assert selected is not None and len(selected.quoted) == 20_000 and not selected.wants_note
    passages = [cut("p", WORDS, number) for number in range(3)]
    found = list(blocks(passages, Bibliography((), {}), marks={"p#1": frozenset({1})}))
    assert [(section.kind, len(section.passages)) for section in found] == [
        ("plain", 1),
        ("linked", 1),
        ("plain", 1),
    ]
    drawn = linked_markdown(found[1].passages, Bibliography((), {}), {"p#1": frozenset({1})})
    assert ":yellow-background[It ranks papers by words\\.] It learns" in drawn


@given(st.lists(st.text(min_size=1, max_size=30), min_size=1, max_size=6), st.data())
def test_any_run_of_sentences_is_found_again_by_its_words(sentences: list[str], data: st.DataObject) -> None:
    passage = cut("p", sentences)
    first = data.draw(st.integers(0, len(sentences) - 1))
    last = data.draw(st.integers(first, len(sentences) - 1))
    quoted = quoted_text(passage, first, last)
    found = find_quoted(quoted, [passage])
    assert bool(found) == any(letter.isalnum() for letter in quoted)


@pytest.mark.parametrize(
    "reported",
    [None, "x", {}, {"quoted": 3, "section": "abstract"}, {"quoted": " ", "section": ""}, {"quoted": "x"}],
)
def test_what_no_page_of_ours_reports_marks_nothing(reported: object) -> None:
    assert parse_selected(reported) is None
