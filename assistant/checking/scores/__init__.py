"""The scores of an answer, one file for each kind, and their registry."""
