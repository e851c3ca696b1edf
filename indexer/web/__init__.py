"""What is fetched: downloads, pages, and which addresses may be asked."""

from indexer.web.downloads import USER_AGENT, DownloadError, Downloads

__all__ = ["USER_AGENT", "DownloadError", "Downloads"]
