"""Formats of reference managers, read one by one."""
