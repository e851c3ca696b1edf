"""GROBID's TEI to a document."""
