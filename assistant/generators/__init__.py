"""What writes: one file per `Generator`."""

from assistant.generators.best_of import MOST_DRAFTS, SampledGenerator, citation_quality, write_best
from assistant.generators.calls import Price, call_of, no_price, unknown_price
from assistant.generators.choice import GeneratorChoice, check_choice, generator_choices, open_generator
from assistant.generators.extractive import ExtractiveGenerator
from assistant.generators.parameters import RANGES, SAMPLING_TEMPERATURE, default_parameters
from assistant.generators.prompted import PromptedGenerator
from assistant.generators.protocol import ANY_LENGTH, EXTRACTIVE, Generator
from assistant.generators.recorded import recorded_generators
from assistant.generators.sentence_rewriting import brackets, plain, short_title, subject_of, told
from assistant.generators.standing_alone import (
    can_stand_alone,
    has_no_antecedent,
    is_back_matter,
    leans,
    points_away,
)

__all__ = [
    "ANY_LENGTH", "EXTRACTIVE", "MOST_DRAFTS", "RANGES", "SAMPLING_TEMPERATURE", "ExtractiveGenerator",
    "Generator", "GeneratorChoice", "Price", "PromptedGenerator", "SampledGenerator", "brackets",
    "call_of", "can_stand_alone", "check_choice", "citation_quality", "default_parameters",
    "generator_choices", "has_no_antecedent", "is_back_matter", "leans", "no_price", "open_generator",
    "plain", "points_away", "recorded_generators", "short_title", "subject_of", "told", "unknown_price",
    "write_best"
]  # fmt: skip
