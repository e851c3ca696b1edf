"""Errors of the corpus; their messages are for readers and operators."""


class CorpusError(Exception):
    """The corpus cannot be used as asked; the message says what happened and what to do."""
