"""Compares our retrieval with other systems; each runs in its own process."""
