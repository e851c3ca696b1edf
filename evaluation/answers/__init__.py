"""How good answers are: attribution, refusal, rewriting."""
