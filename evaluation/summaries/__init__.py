"""Measures the quality of comparative summaries."""
