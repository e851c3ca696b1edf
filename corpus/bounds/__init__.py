"""Bounds of the numbers, texts and lists in foreign records."""
