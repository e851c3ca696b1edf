"""Asks questions of existing corpora as the product does, and returns the answers with their times."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

from assistant.chat import Assistant
from assistant.generators.choice import open_generator
from assistant.generators.protocol import EXTRACTIVE
from assistant.models.protocol import ChatModel
from assistant.records import Answered, AskOptions, Retrieved, Turn
from corpus.records import Scope
from corpus.settings import Settings
from evaluation.homes import open_home
from evaluation.input_files import EvaluationError


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question's turn, the ids of the retrieved papers, best first, and the time that it took."""

    turn: Turn
    retrieved: tuple[str, ...]
    seconds: float

    @property
    def is_refused(self) -> bool:
        return self.turn.answer.refusal is not None


class _HasCorpus(Protocol):
    @property
    def corpus(self) -> str: ...


Row = TypeVar("Row", bound=_HasCorpus)


def open_assistant(
    path: Path,
    generator: str = EXTRACTIVE,
    settings: Settings | None = None,
    wrap: Callable[[ChatModel], ChatModel] | None = None,
) -> Assistant:
    """Open an assistant on a PAPER_TRAIL_HOME or the corpus folder in it; by default without a model.

    `wrap` may wrap the model, as in a cache. Raises CorpusError, and AssistantError for an unknown generator.
    """
    settings, encoder, corpus = open_home(path, settings)
    return Assistant(corpus, encoder, open_generator(generator, settings, encoder, through=wrap))


def open_homes(rows: Sequence[Row], homes: Mapping[str, Path]) -> list[tuple[Row, Assistant]]:
    """Pair each row whose corpus has a home with an assistant on it; raises EvaluationError for none."""
    chosen = [row for row in rows if row.corpus in homes]
    if not chosen:
        raise EvaluationError("No question is for a corpus that --home NAME=FOLDER names.")
    assistants = {name: open_assistant(homes[name]) for name in {row.corpus for row in chosen}}
    return [(row, assistants[row.corpus]) for row in chosen]


def ask(
    assistant: Assistant,
    question: str,
    history: Sequence[Turn] = (),
    scope: Scope | None = None,
    *,
    as_shown: bool = False,
) -> AskedQuestion:
    """Ask a question; raises AssistantError and EvaluationError.

    By default a model's text is not corrected. With `as_shown` the check adds citations and removes
    unsupported sentences, as for a reader.
    """
    clock = time.perf_counter()
    retrieved: tuple[str, ...] = ()
    careful = None if as_shown else False
    options = AskOptions(scope or Scope(), finds_citations=as_shown, careful=careful)
    for event in assistant.ask(question, tuple(history), options):
        if isinstance(event, Retrieved):
            retrieved = tuple(hits.paper.id for hits in event.papers)
        if isinstance(event, Answered):
            return AskedQuestion(event.turn, retrieved, time.perf_counter() - clock)
    raise EvaluationError(f"{question!r} got no answer.")
