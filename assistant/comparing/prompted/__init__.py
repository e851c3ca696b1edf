"""Comparisons by a chat model: what it is given, the forms of its replies, and what they cost."""
