"""BibTeX: files read, entries made, and LaTeX as text."""
