"""The Ask screen."""

from explorer.ask.choices import WORDS, draw_parameters, draw_writer
from explorer.ask.scope import ask_about, ask_within
from explorer.ask.screen import draw_examples, render_ask
from explorer.ask.trail import STEP_NAMES, draw_sent

__all__ = [
    "STEP_NAMES", "WORDS", "ask_about", "ask_within", "draw_examples", "draw_parameters", "draw_sent",
    "draw_writer", "render_ask"
]  # fmt: skip
