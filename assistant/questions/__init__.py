"""What a question asks: its kind, its subject, and what it means in a conversation."""

from assistant.questions.intent import Asked, names_in, read_question, request_kind, spelt_out
from assistant.questions.phrases import Phrase, Token, is_complete, is_subject, phrases, tokens
from assistant.questions.rewriting import rewrite_from_words
from assistant.questions.vocabulary import content_words, stems, vocabulary

__all__ = [
    "Asked", "Phrase", "Token", "content_words", "is_complete", "is_subject", "names_in", "phrases",
    "read_question", "request_kind", "rewrite_from_words", "spelt_out", "stems", "tokens", "vocabulary"
]  # fmt: skip
