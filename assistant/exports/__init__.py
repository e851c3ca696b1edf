"""Conversations and the papers they cite in other formats: formatting only."""

from assistant.exports.escaping import escaped
from assistant.exports.markdown import comparison_to_markdown, to_markdown
from assistant.exports.references import papers_as_bibtex
from assistant.exports.registry import (
    COMPARISON_FORMATS,
    CONVERSATION_FORMATS,
    PAPER_FORMATS,
    REFERENCE_FORMATS,
    Exported,
    Format,
    OptionName,
    ReferenceName,
    ConversationFormatName,
    comparison_text,
)

__all__ = [
    "COMPARISON_FORMATS",
    "CONVERSATION_FORMATS",
    "PAPER_FORMATS",
    "REFERENCE_FORMATS",
    "ConversationFormatName",
    "Exported",
    "Format",
    "OptionName",
    "ReferenceName",
    "comparison_text",
    "comparison_to_markdown",
    "escaped",
    "papers_as_bibtex",
    "to_markdown"
]  # fmt: skip
