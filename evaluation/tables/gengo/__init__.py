"""GenGO Ultra's tables: encoders, summaries, instructions followed, the whole system."""
