"""Markup of titles, abstracts and formulas as plain text."""
