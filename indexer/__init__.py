"""Offline: paper collections in, corpus out."""
