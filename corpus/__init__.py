"""What is known about the papers: records, storage, search, encoding and page images."""

VERSION = "0.1.0"
"""The product's, as transcripts and the About page name it."""
