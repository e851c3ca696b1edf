"""Comparative literature summaries: ChatCite's key elements, incremental comparison and reflection."""
