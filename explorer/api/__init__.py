"""The corpus for other programs over HTTP, in the process of the app and under its limits."""

from explorer.api.door import ProgramsDoor

__all__ = ["ProgramsDoor"]
