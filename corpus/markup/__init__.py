"""Markup of titles, abstracts and formulas as plain text."""

from corpus.markup.formulas import FORMULA_ELEMENTS, linear_formula
from corpus.markup.prose import plain_markup
from corpus.markup.raised import lower_text, plain_figures, raise_text, tex_figures

__all__ = [
    "FORMULA_ELEMENTS", "linear_formula", "lower_text", "plain_figures", "plain_markup", "raise_text",
    "tex_figures"
]  # fmt: skip
