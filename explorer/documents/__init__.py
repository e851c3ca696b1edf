"""A visitor's own documents: read apart, kept for their visit only, asked like any collection."""
