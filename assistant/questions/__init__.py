"""The meaning of a question: its kind, its subject, and its words in a conversation."""

from assistant.questions.abbreviations import abbreviations_of, spelt_out, with_forms
from assistant.questions.comparisons import compared, is_open_comparison, says_side
from assistant.questions.intent import (
    Asked,
    asked_in_parts,
    is_yes_or_no,
    read_question,
    request_kind,
)
from assistant.questions.listing import asked_as_list
from assistant.questions.missing import missing_phrases
from assistant.questions.names import asks_who, is_named, names_in, parts_of_name, says_name, squashed
from assistant.questions.parts import AskedPart, PartName, asked_part, meant_title, part_cues
from assistant.questions.perspective import (
    Perspective,
    in_plain_words,
    perspective_of,
    without_perspective,
)
from assistant.questions.phrases import Phrase, Token, is_complete, is_subject, phrases, tokens
from assistant.questions.rewriting import query_from_part, rewrite_from_words
from assistant.questions.subject import asks_of_unnamed_paper, subject_stems, word_weights
from assistant.questions.vocabulary import content_words, stems, vocabulary

__all__ = [
    "Asked", "AskedPart", "PartName", "Perspective", "Phrase", "Token", "abbreviations_of", "asked_as_list",
    "asked_in_parts", "asked_part", "asks_of_unnamed_paper", "asks_who", "compared", "content_words",
    "in_plain_words", "is_complete", "is_named", "is_open_comparison", "is_subject", "is_yes_or_no",
    "meant_title", "missing_phrases", "names_in", "part_cues", "parts_of_name", "perspective_of", "phrases",
    "query_from_part", "read_question", "request_kind", "rewrite_from_words", "says_name", "says_side",
    "spelt_out", "squashed", "stems", "subject_stems", "tokens", "vocabulary", "with_forms",
    "without_perspective", "word_weights"
]  # fmt: skip
