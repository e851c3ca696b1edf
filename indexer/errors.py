"""Errors of indexing; their messages go into the build report."""


class ParseError(Exception):
    """A file could not be read; the message gives the reason for the build report."""


class UnreadScanError(ParseError):
    """A file is a scan, and no OCR engine is installed."""


class OutOfTimeError(ParseError):
    """Reading a file exceeded its time limit; a less busy machine may succeed."""


class SourceError(Exception):
    """A collection could not be read at all; the message says what happened and what to do."""
