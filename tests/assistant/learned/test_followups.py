"""The follow-ups part through its door: what a question leaves out, and parts that do not fit."""

import json
import shutil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.learned.followups import FOLLOW_UPS, FollowUps, open_follow_ups, read_follow_ups, said_before
from assistant.learned.parts import SHIPPED, LearnedError
from assistant.questions.rewriting import rewrite_from_words
from tests.assistant.questions.test_rewrite import conversation


@pytest.fixture(scope="module")
def shipped() -> FollowUps:
    return read_follow_ups(SHIPPED)


def test_a_pronoun_is_filled_with_what_was_asked_about(shipped: FollowUps) -> None:
    (filling,) = (
        filling
        for filling in shipped.fillings("How does it work?", [("What is late interaction?", "")])
        if shipped.surety.is_placed(filling)
    )
    assert (filling.start, filling.end, filling.words) == (9, 11, "late interaction")
    assert filling.turn == 0


def test_the_newest_of_what_was_said_is_read_first_and_all_of_it_in_bounds() -> None:
    said = said_before([("First?", "An answer. " * 400), ("Second?", ""), ("Third?", "Yes.")])
    assert said.text.startswith("Third? | Yes. | Second? | First?")
    assert len(said_before([("How long is this question?", "word " * 300)] * 500).text) < 1500
    assert {word.turn for word in said.words} == {0, 1, 2}
    assert all(said.text[word.start : word.end] == word.text for word in said.words)


@settings(max_examples=30)
@given(st.text(max_size=400), st.lists(st.tuples(st.text(max_size=90), st.text(max_size=300)), max_size=4))
def test_whatever_is_said_and_asked_the_places_lie_in_the_question(
    question: str, history: list[tuple[str, str]]
) -> None:
    reader = read_follow_ups(SHIPPED)
    for filling in (open_follow_ups() or reader).fillings(question, history):
        assert 0 <= filling.start <= filling.end <= len(question)
        assert filling.words.strip() and 0 <= filling.surety <= 1
        assert 0 <= filling.turn < len(history)


def test_without_the_part_the_last_subject_follows_in_brackets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    history = conversation("What is rank fusion?")
    (tmp_path / f"{FOLLOW_UPS}.json").write_text("{}", encoding="utf-8")
    monkeypatch.setenv("PAPER_TRAIL_LEARNED", str(tmp_path))
    assert open_follow_ups() is None
    assert "follow-ups are read without" in caplog.text
    assert rewrite_from_words("Is it fast?", history).search_query == "Is it fast (rank fusion)?"
    assert rewrite_from_words("What is BM25?", history).search_query == "What is BM25?"


def test_a_card_that_does_not_say_how_sure_is_enough_is_refused(tmp_path: Path) -> None:
    card = json.loads((SHIPPED / f"{FOLLOW_UPS}.json").read_text(encoding="utf-8")) | {"scales": {}}
    (tmp_path / f"{FOLLOW_UPS}.json").write_text(json.dumps(card), encoding="utf-8")
    shutil.copy(SHIPPED / f"{FOLLOW_UPS}.safetensors", tmp_path)
    with pytest.raises(LearnedError, match="how sure"):
        read_follow_ups(tmp_path)
