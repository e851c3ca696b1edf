"""Phrases of a claim that its evidence does not say."""

from assistant.checking.phrases.naming import UnsaidPhrase, find_unsaid_phrases

__all__ = ["UnsaidPhrase", "find_unsaid_phrases"]
