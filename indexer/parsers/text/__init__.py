"""Word, HTML, Markdown and plain text to a document."""
