"""Enrichment of papers: aspects, one sentence on each, topics, fields of study."""
