"""The meaning of a question: its kind, its subject, and its words in a conversation."""
