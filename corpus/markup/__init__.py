"""Markup of titles, abstracts and formulas as plain text."""

from corpus.markup.raised import lower_text, raise_text

__all__ = ["lower_text", "raise_text"]
