"""Questions as the product answers them, from homes that were built before."""

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
    """A question's turn, the ids of the papers found for it, best first, and its time."""

    turn: Turn
    found: tuple[str, ...]
    seconds: float

    @property
    def is_refused(self) -> bool:
        return self.turn.answer.refusal is not None


class _OfCorpus(Protocol):
    @property
    def corpus(self) -> str: ...


Row = TypeVar("Row", bound=_OfCorpus)


def open_assistant(
    path: Path,
    generator: str = EXTRACTIVE,
    settings: Settings | None = None,
    through: Callable[[ChatModel], ChatModel] | None = None,
) -> Assistant:
    """Open a PAPER_TRAIL_HOME, or the corpus folder in it, to ask it questions; by default without a model.

    `through` may wrap the model. Raises CorpusError, and AssistantError for an unknown generator.
    """
    settings, encoder, corpus = open_home(path, settings)
    return Assistant(corpus, encoder, open_generator(generator, settings, encoder, through=through))


def open_homes(rows: Sequence[Row], homes: Mapping[str, Path]) -> list[tuple[Row, Assistant]]:
    """Pair the rows whose corpora have a home with their assistants; raises EvaluationError."""
    chosen = [row for row in rows if row.corpus in homes]
    if not chosen:
        raise EvaluationError("None of the questions is of a corpus that is named: --home NAME=FOLDER.")
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

    What a model writes is measured as it stands or, `as_shown`, with what the check finds and takes out.
    """
    clock = time.perf_counter()
    found: tuple[str, ...] = ()
    careful = None if as_shown else False
    options = AskOptions(scope or Scope(), finds_citations=as_shown, careful=careful)
    for event in assistant.ask(question, tuple(history), options):
        if isinstance(event, Retrieved):
            found = tuple(hits.paper.id for hits in event.papers)
        if isinstance(event, Answered):
            return AskedQuestion(event.turn, found, time.perf_counter() - clock)
    raise EvaluationError(f"{question!r} came to no end.")
