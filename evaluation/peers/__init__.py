"""Retrieval by other systems beside ours: each runs as a process of its own, and ours judges them all."""
