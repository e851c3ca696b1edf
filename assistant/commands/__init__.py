"""The commands of the assistant's command line: one file per group."""
