"""One file per kind of collection; each yields `SourcePaper`s and is loaded by the command that wants it."""
