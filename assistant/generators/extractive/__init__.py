"""The generator without a model: kinds of questions, each with its way of composing."""

from assistant.generators.extractive.candidates import is_of_rows
from assistant.generators.extractive.features import (
    Asking,
    answerable_features,
    ask_of,
    read_features,
    with_kind,
)
from assistant.generators.extractive.found import cannot_answer, find_sentences, open_parts
from assistant.generators.extractive.generator import ExtractiveGenerator, papers_telling
from assistant.generators.extractive.listing import list_papers_by
from assistant.generators.extractive.one_paper import ABOUT, meant_paper, tell_part
from assistant.generators.extractive.quoting import quote_paper
from assistant.generators.extractive.ranking import MOST_READ, Compared, compare

__all__ = [
    "ABOUT", "MOST_READ", "Asking", "Compared", "ExtractiveGenerator", "answerable_features", "ask_of",
    "cannot_answer", "compare", "find_sentences", "is_of_rows", "list_papers_by", "meant_paper",
    "open_parts", "papers_telling", "quote_paper", "read_features", "tell_part", "with_kind"
]  # fmt: skip
