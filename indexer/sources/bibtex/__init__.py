"""BibTeX and biblatex files: entries with their inherited fields, names and files."""
