"""BibTeX and biblatex files: entries with their inherited fields, names and files."""

from indexer.sources.bibtex.reader import broken_bibtex, read_bibtex

__all__ = ["broken_bibtex", "read_bibtex"]
