"""Writers: one file per `Generator`."""

from assistant.generators.best_of import MOST_DRAFTS, SampledGenerator, citation_quality, write_best
from assistant.generators.calls import Price, call_of, no_price, unknown_price
from assistant.generators.choice import (
    GeneratorChoice,
    check_choice,
    generator_choices,
    open_generator,
    searches_again,
)
from assistant.generators.estimate import question_price
from assistant.generators.extractive import (
    ABOUT,
    MOST_READ,
    Asking,
    Compared,
    ExtractiveGenerator,
    answerable_features,
    ask_of,
    cannot_answer,
    compare,
    is_of_rows,
    list_papers_by,
    meant_paper,
    open_parts,
    papers_telling,
    quote_paper,
    read_features,
    with_kind,
)
from assistant.generators.model_evidence import by_rank
from assistant.generators.parameters import RANGES, SAMPLING_TEMPERATURE, default_parameters
from assistant.generators.prompted import PromptedGenerator
from assistant.generators.protocol import ANY_LENGTH, EXTRACTIVE, MOST_SECOND_SEARCHES, Generator
from assistant.generators.recorded import recorded_generators

__all__ = [
    "ABOUT", "ANY_LENGTH", "EXTRACTIVE", "MOST_DRAFTS", "MOST_READ", "MOST_SECOND_SEARCHES", "RANGES",
    "SAMPLING_TEMPERATURE", "Asking", "Compared", "ExtractiveGenerator", "Generator", "GeneratorChoice",
    "Price", "PromptedGenerator", "SampledGenerator", "answerable_features", "ask_of", "by_rank",
    "call_of", "cannot_answer", "check_choice", "citation_quality", "compare", "default_parameters",
    "generator_choices", "is_of_rows", "list_papers_by", "meant_paper", "no_price", "open_generator",
    "open_parts", "papers_telling", "question_price", "quote_paper", "read_features", "recorded_generators",
    "searches_again", "unknown_price", "with_kind", "write_best"
]  # fmt: skip
