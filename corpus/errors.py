"""The errors of the corpus; readers and operators see their messages."""


class CorpusError(Exception):
    """The corpus cannot be used as asked; the message says what happened and what to do."""
