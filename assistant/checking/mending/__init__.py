"""Drafts mended: citations found, lines in one form, and claims taken out that no paper carries."""
