"""Downloads and web pages, and the addresses that may be fetched."""

from indexer.web.downloads import USER_AGENT, DownloadError, Downloads

__all__ = ["USER_AGENT", "DownloadError", "Downloads"]
