"""Tables of the whole system: questions asked of built corpora, in their conversations, by each generator."""
