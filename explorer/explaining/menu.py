"""Who can write, where each is asked and what it costs, as plain values. No Streamlit."""

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from assistant.generators.parameters import RANGES, default_parameters
from assistant.models.menu import ModelEntry, available_models, load_models
from corpus.settings import Settings
from explorer.asking.choices import WORDS
from explorer.parts.safe_text import one_line

# What has to be set for the models of a provider to be offered.
SET_BY = {"together": "TOGETHER_API_KEY", "openai-compatible": "PAPER_TRAIL_MODEL_URL"}


@dataclass(frozen=True, slots=True)
class Writer:
    """A model on the menu as readers are told of it: where it runs, what it takes in, what it costs."""

    label: str
    place: str
    facts: tuple[str, ...]


def offered(settings: Settings) -> tuple[Writer, ...]:
    """Return the models that can be chosen here; raises AssistantError for a broken file of models."""
    return tuple(_writer(entry, settings) for entry in available_models(settings))


def not_offered(settings: Settings) -> dict[str, tuple[str, ...]]:
    """Return the models that a setting would add, by the setting's name."""
    here = {entry.id for entry in available_models(settings)}
    others = [one for one in load_models(settings.models_file) if not one.retired and one.id not in here]
    return {
        setting: labels
        for provider, setting in SET_BY.items()
        if (labels := tuple(one_line(one.label) for one in others if one.provider == provider))
    }


def parameter_rows(settings: Settings) -> list[dict[str, str]]:
    """Return each parameter of a model with what it does, what it may be, and what it is by default."""
    entries = available_models(settings) or load_models(settings.models_file)
    usual = default_parameters(settings, entries[0])
    rows = []
    for name, (low, high) in RANGES.items():
        title, meaning, _ = WORDS[name]
        default = getattr(usual, name)
        rows.append(
            {
                "Parameter": title,
                "What it does": meaning,
                "May be": f"{low:g} to {high:,g}",
                "Here": "not sent" if default is None else f"{default:g}",
            }
        )
    return rows


def _writer(entry: ModelEntry, settings: Settings) -> Writer:
    return Writer(one_line(entry.label), _place(entry, settings), tuple(_facts(entry)))


def _place(entry: ModelEntry, settings: Settings) -> str:
    """Return where the question and the passages go; of a server's address only its host."""
    if entry.provider == "together":
        return "Questions and passages go to Together AI, over the internet."
    if entry.provider == "local":
        return "Questions and passages stay on this machine, which runs it."
    host = one_line(_host(settings.model_url)) or "that is set here"
    return f"Questions and passages go to the server {host}."


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def _facts(entry: ModelEntry) -> Iterator[str]:
    yield f"takes in {entry.context:,} tokens"
    yield f"writes {entry.max_tokens:,} at most"
    if entry.price_in is not None and entry.price_out is not None:
        yield f"${entry.price_in:.2f} for a million tokens read, ${entry.price_out:.2f} written"
    elif entry.provider != "local":
        yield "price not known here"
    if entry.note:
        yield one_line(entry.note).rstrip(".")
