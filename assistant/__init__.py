"""Questions in, cited answers out."""
