"""Measures the quality of answers: evidence, attribution, refusal, rewriting, and marks by a judge."""
