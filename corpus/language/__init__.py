"""The language of papers and questions: which it is; English words, their stems, and BM25 by them."""

from corpus.language.bm25 import Bm25, terms_of
from corpus.language.identified import ENGLISH, UNTOLD, foreign_language, language_of_text
from corpus.language.names import language_code, language_name
from corpus.language.stemming import holds, spelt_as, stem, stop_words

__all__ = [
    "ENGLISH", "UNTOLD", "Bm25", "foreign_language", "holds", "language_code", "language_name",
    "language_of_text", "spelt_as", "stem", "stop_words", "terms_of"
]  # fmt: skip
