"""Records as files that read back equal, and doing them again."""
