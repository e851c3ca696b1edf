"""Hybrid search for queries and the names in them, and similarity by vectors."""
