"""Phrases of claims that their evidence does not say."""

from assistant.checking.phrases.naming import UnsaidPhrase, find_unsaid_phrases
from assistant.checking.phrases.sentences import with_unsaid

__all__ = ["UnsaidPhrase", "find_unsaid_phrases", "with_unsaid"]
