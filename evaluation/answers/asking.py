"""Questions as the product answers them, from a home that was built before."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from assistant.chat import Assistant
from assistant.generators import EXTRACTIVE, open_generator
from assistant.models import ChatModel
from assistant.records import Answered, AskOptions, Retrieved, Turn
from corpus.encoder_choice import open_encoder
from corpus.records import Scope
from corpus.settings import Settings, read_settings
from corpus.store import Corpus
from evaluation.input_files import EvaluationError, home_of


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question's turn, the ids of the papers found for it, best first, and how long all of it took."""

    turn: Turn
    found: tuple[str, ...]
    seconds: float


def open_assistant(
    path: Path,
    generator: str = EXTRACTIVE,
    settings: Settings | None = None,
    through: Callable[[ChatModel], ChatModel] | None = None,
) -> Assistant:
    """Return what answers from a PAPER_TRAIL_HOME, or the corpus folder in it; by default without a model.

    What `through` returns of a model is asked in its place. Raises CorpusError, and AssistantError where
    there is no such generator.
    """
    settings = (settings or read_settings()).model_copy(update={"home": home_of(path)})
    encoder = open_encoder(settings)
    corpus = Corpus.open(settings.corpus_path, encoder)
    return Assistant(corpus, encoder, open_generator(generator, settings, encoder, through=through))


def ask(assistant: Assistant, question: str, history: Sequence[Turn], scope: Scope) -> AskedQuestion:
    """Return a question's turn; raises AssistantError and EvaluationError."""
    clock = time.perf_counter()
    found: tuple[str, ...] = ()
    for event in assistant.ask(question, tuple(history), AskOptions(scope)):
        if isinstance(event, Retrieved):
            found = tuple(hits.paper.id for hits in event.papers)
        if isinstance(event, Answered):
            return AskedQuestion(event.turn, found, time.perf_counter() - clock)
    raise EvaluationError(f"{question!r} came to no end.")
