"""What is known about the papers: records, storage, search, encoding and page images."""
