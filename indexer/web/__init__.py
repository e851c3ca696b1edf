"""Downloads and web pages, and the addresses that may be fetched."""
