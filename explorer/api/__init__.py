"""The corpus for other programs over HTTP, in the process of the app and under its limits."""
