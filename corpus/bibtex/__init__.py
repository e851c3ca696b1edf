"""BibTeX: files read, entries made, and LaTeX as text."""

from corpus.bibtex.entry import (
    BibtexEntry,
    bibtex,
    citation_key,
    is_safe,
    is_safe_key,
    make_entry,
    own_entry,
    read_entry,
)
from corpus.bibtex.latex import latex_to_text, typed_text
from corpus.bibtex.syntax import BrokenEntry, ParsedEntry, ParsedFile, parse_bibtex

__all__ = [
    "BibtexEntry", "BrokenEntry", "ParsedEntry", "ParsedFile", "bibtex", "citation_key", "is_safe",
    "is_safe_key", "latex_to_text", "make_entry", "own_entry", "parse_bibtex", "read_entry", "typed_text",
]  # fmt: skip
