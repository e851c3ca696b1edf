"""How good comparative summaries are."""
