"""Commands of the evaluation that have files of their own."""
