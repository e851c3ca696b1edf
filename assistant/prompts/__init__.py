"""The prompts, one text file per model call, and what fills them in."""
