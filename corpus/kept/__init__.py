"""Libraries of visitors that are kept on disk: tables, PDFs and files in a private folder each."""
