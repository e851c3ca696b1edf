"""A build: sources to staged rows to a published corpus."""
