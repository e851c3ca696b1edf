"""Questions to go on with, below the latest answer; each is asked with one click."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from assistant.follow_up import follow_up_questions
from assistant.records import Turn
from corpus.errors import CorpusError
from explorer.parts.safe_text import escaped
from explorer.reader import FollowUps, Reader
from explorer.resources import Library


def draw_follow_ups(library: Library, reader: Reader, place: DeltaGenerator) -> None:
    """Draw in `place` what could be asked next, after all else: to find it takes a search for each."""
    if reader.failure:
        return
    questions = _remembered(library, reader, reader.turns[-1])
    if not questions:
        return
    with place, st.container(key="follow_ups", gap="xxsmall"):
        st.caption("You could also ask:")
        for number, question in enumerate(questions, start=1):
            st.button(
                escaped(question),
                key=f"follow_up_{number}",
                icon=":material/arrow_forward:",
                type="tertiary",
                on_click=reader.ask,
                args=(question,),
            )


def _remembered(library: Library, reader: Reader, turn: Turn) -> tuple[str, ...]:
    """Return what could be asked after a turn; it is looked for once, as long as the turn is the latest."""
    known = reader.follow_ups
    if known is None or not known.turn.is_same_as(turn) or known.count != len(reader.turns):
        known = FollowUps(turn, len(reader.turns), _found(library, reader, turn))
        reader.follow_ups = known
    return known.questions


def _found(library: Library, reader: Reader, turn: Turn) -> tuple[str, ...]:
    try:
        return follow_up_questions(turn, reader.turns[:-1], library.corpus, library.encoder)
    except (CorpusError, ValueError):
        # What an imported turn was asked of may be nothing that this corpus knows.
        return ()
