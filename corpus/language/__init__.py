"""The English of papers and questions: words, their stems, those that carry no subject, and BM25 by them."""

from corpus.language.bm25 import Bm25, terms_of
from corpus.language.stemming import holds, spelt_as, stem, stop_words

__all__ = ["Bm25", "holds", "spelt_as", "stem", "stop_words", "terms_of"]
