"""One file per kind of collection; each yields `SourcePaper`s."""
