"""The corpus on disk: tables, the manifest that names their versions, and what is kept beside them."""

from corpus.store.corpus import Corpus, FoundPassage, Identifiers
from corpus.store.element_cache import ElementKey, ElementStore
from corpus.store.lexicon import AuthorNames, Lexicon, plain_words
from corpus.store.manifest import (
    SCHEMA_VERSION,
    Manifest,
    check_encoder,
    find_manifest,
    mixed_sizes,
    read_manifest,
)
from corpus.store.passage_index import Match, Similarity
from corpus.store.query_cache import Once
from corpus.store.rows import indexed_text, sentence_texts
from corpus.store.statistics import PaperOrder
from corpus.store.tried_questions import TriedQuestion, TriedQuestions
from corpus.store.writer import CorpusWriter, KnownPaper, known_papers

__all__ = [
    "SCHEMA_VERSION", "AuthorNames", "Corpus", "CorpusWriter", "ElementKey", "ElementStore", "FoundPassage",
    "Identifiers", "KnownPaper", "Lexicon", "Manifest", "Match", "Once", "PaperOrder", "Similarity",
    "TriedQuestion", "TriedQuestions", "check_encoder", "find_manifest", "indexed_text", "known_papers",
    "mixed_sizes", "plain_words", "read_manifest", "sentence_texts"
]  # fmt: skip
