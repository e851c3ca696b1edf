"""Stores of conversations, comparisons, libraries, feedback, notes and spending."""
