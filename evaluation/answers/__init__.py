"""How good answers are: evidence, attribution, refusal, rewriting."""
