"""Processes that read foreign files, kept by the system from what they have no need of."""
