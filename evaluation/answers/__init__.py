"""How good answers are: evidence, attribution, refusal, rewriting, and marks by a judge."""
