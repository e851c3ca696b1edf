"""The English of papers and questions: words, their stems, and those that carry no subject."""

from corpus.language.stemming import holds, spelt_as, stem, stop_words

__all__ = ["holds", "spelt_as", "stem", "stop_words"]
