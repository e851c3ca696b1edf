"""Widgets of ours."""
