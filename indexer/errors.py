"""Errors of indexing, in words for the build report."""


class ParseError(Exception):
    """A file could not be read; the message says what is wrong with it in words for the build report."""


class UnreadScanError(ParseError):
    """A file is a scan, and nothing is installed that reads scans."""


class OutOfTimeError(ParseError):
    """Reading a file took longer than it may, which on another day it need not."""


class SourceError(Exception):
    """A collection could not be read at all; the message says what happened and what to do."""
