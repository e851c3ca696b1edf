"""PDF to document without a server."""
