"""Generation parameters of models: defaults and bounds."""

from assistant.models.menu import ModelEntry
from assistant.records import AssistantError, Parameters
from corpus.settings import Settings

# At lower temperatures, drafts, samples and votes hardly differ.
SAMPLING_TEMPERATURE = 0.7
# The range of each parameter, first and last included.
RANGES: dict[str, tuple[float, float]] = {
    "temperature": (0.0, 2.0),
    "top_p": (0.01, 1.0),
    "top_k": (1, 1000),
    "max_tokens": (50, 32_000),
    "repetition_penalty": (0.5, 2.0),
}
_NAMES = {
    "temperature": "The temperature",
    "top_p": "Top-p",
    "top_k": "Top-k",
    "max_tokens": "The number of tokens of a reply",
    "repetition_penalty": "The repetition penalty",
}


def default_parameters(settings: Settings, entry: ModelEntry) -> Parameters:
    """Return the default generation parameters of a model; a reply gets at most a quarter of the context."""
    return Parameters(
        temperature=settings.temperature,
        top_p=settings.top_p,
        max_tokens=settings.max_tokens or min(entry.max_tokens, entry.context // 4),
        top_k=settings.top_k,
        repetition_penalty=settings.repetition_penalty,
    )


def check_parameters(parameters: Parameters, context: int) -> None:
    """Raise AssistantError if a parameter is out of range, or a reply would fill over half of the context."""
    for name, (low, high) in RANGES.items():
        value = getattr(parameters, name)
        # Written so that NaN is out of range too.
        if value is not None and not low <= value <= high:
            raise AssistantError(f"{_NAMES[name]} must be from {low:g} to {high:g}, not {value:g}.")
    if parameters.max_tokens > context // 2:
        raise AssistantError(
            f"{_NAMES['max_tokens']} must be at most {context // 2:,}, half of what this model takes in,"
            f" not {parameters.max_tokens:,}."
        )
