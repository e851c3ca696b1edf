"""Files to documents, by the parser for their kind."""
