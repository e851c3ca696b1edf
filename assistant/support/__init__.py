"""How well evidence carries a claim: a calibrated score, and what it says of an answer's citations."""
