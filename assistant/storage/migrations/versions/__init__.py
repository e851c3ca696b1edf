"""The steps, each in a file that is never changed again."""
