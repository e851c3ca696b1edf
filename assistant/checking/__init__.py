"""From a draft to a checked answer: citations, claims, scores and refusals."""
