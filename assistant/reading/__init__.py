"""Sentences of papers read on their own: their part in the paper, and their retelling."""
