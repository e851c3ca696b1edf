"""The dialog of documents that a visitor brings."""
