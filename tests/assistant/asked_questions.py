"""Questions to the demonstration collection: one that it answers and one that it does not."""

QUESTION = "When is reciprocal rank fusion a better choice than a weighted sum of scores?"
NOT_ANSWERED = "How do graph neural networks predict the toxicity of molecules?"
