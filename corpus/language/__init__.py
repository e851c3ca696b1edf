"""The language of papers and questions: which it is; English words, their stems, and BM25 by them."""

from corpus.language.abbreviations import Abbreviations, Form, agreed_abbreviations, find_abbreviations
from corpus.language.bm25 import Bm25, terms_of
from corpus.language.identified import UNTOLD, foreign_language, language_of_text
from corpus.language.names import language_code, language_name, language_names
from corpus.language.stemming import ENGLISH, function_words, holds, spelt_as, stem, stop_words

__all__ = [
    "ENGLISH", "UNTOLD", "Abbreviations", "Bm25", "Form", "agreed_abbreviations", "find_abbreviations",
    "foreign_language", "function_words", "holds", "language_code", "language_name", "language_names",
    "language_of_text", "spelt_as", "stem", "stop_words", "terms_of"
]  # fmt: skip
