"""Comparisons without a model: sentences are found, grouped, joined by plain connectives and cited."""
