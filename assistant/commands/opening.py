"""Resources that commands open (corpus, encoder, files, stores), and the options of models."""

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from assistant.commands.printing import say
from assistant.comparing.records import Comparison
from assistant.records import AssistantError, Conversation
from assistant.storage.comparisons import ComparisonStore
from assistant.storage.conversations import ConversationStore
from assistant.storage.reading import ReadingStore, with_notes
from assistant.trail.comparison_file import trail_from_json
from assistant.trail.transcript import from_json
from corpus.encoder_choice import open_encoder
from corpus.encoders.base import Encoder
from corpus.settings import Settings, read_settings
from corpus.store.corpus import Corpus

Trail = TypeVar("Trail", Conversation, Comparison)

LARGEST_FILE = 256 * 2**20
# The owner of the command line's records.
OWNER = "terminal"


Temperature = Annotated[float | None, typer.Option(help="How freely a model writes.")]
TopP = Annotated[float | None, typer.Option(help="From how much of the likely words.")]
TopK = Annotated[int | None, typer.Option(help="From how many of the likely words.")]
MaxTokens = Annotated[int | None, typer.Option(help="The longest reply.")]
RepetitionPenalty = Annotated[float | None, typer.Option(help="1 for none.")]

Chosen = dict[str, Any]
"""The generation parameters by name, None for those not chosen."""


@dataclass(frozen=True, slots=True)
class Library:
    """The opened corpus and encoder; `loading` is the seconds it took."""

    settings: Settings
    encoder: Encoder
    corpus: Corpus
    loading: float


def open_library() -> Library:
    settings = read_settings()
    clock = time.perf_counter()
    encoder = open_encoder(settings)
    corpus = Corpus.open(settings.corpus_path, encoder)
    encoder.load()
    return Library(settings, encoder, corpus, time.perf_counter() - clock)


def corpus_at(library: Library) -> Callable[[Mapping[str, int]], Corpus]:
    """Return a cached function that opens the corpus at table versions; it raises CorpusError."""

    @cache
    def opened(versions: tuple[tuple[str, int], ...]) -> Corpus:
        if dict(versions) == dict(library.corpus.manifest.versions):
            return library.corpus
        return Corpus.open_at(library.settings.corpus_path, library.encoder, dict(versions))

    return lambda versions: opened(tuple(sorted(versions.items())))


@contextmanager
def opened_conversations() -> Iterator[ConversationStore]:
    """Open the stored conversations; the database is created if there is none."""
    with closing(ConversationStore.open(read_settings())) as store:
        yield store


@contextmanager
def opened_comparisons() -> Iterator[ComparisonStore]:
    """Open the stored comparisons."""
    with closing(ComparisonStore.open(read_settings())) as store:
        yield store


@contextmanager
def opened_reading() -> Iterator[ReadingStore]:
    """Open the readers' notes and lists."""
    with closing(ReadingStore.open(read_settings())) as store:
        yield store


def find_trail(source: str) -> Conversation | Comparison:
    """Return the conversation or comparison of a file or a stored id; raises AssistantError."""
    if os.path.isfile(source):  # noqa: PTH113 - of a name no file can have, Path.is_file raises
        return read_trail(Path(source))
    if trail := stored_conversation(source) or stored_comparison(source):
        return trail
    raise AssistantError(
        f"There is no file {source!r}, and no stored conversation or comparison of that id. List them with: "
        "paper-trail conversations list, and: paper-trail comparisons list"
    )


def with_stored_notes(found: Trail, store: ConversationStore | ComparisonStore, identifier: str) -> Trail:
    """Add the owner's notes on the cited papers to a trail, if they can be read."""
    try:
        with opened_reading() as reading:
            return with_notes(reading, store.owner_of(identifier) or OWNER, found)
    except AssistantError as error:
        say(f"The notes on its papers are left out. {error}")
        return found


def stored_comparison(identifier: str) -> Comparison | None:
    """Return a stored comparison, None if there is none; raises AssistantError if it is unfinished."""
    with opened_comparisons() as store:
        stored = store.get(identifier)
        comparison = stored.comparison if stored else None
        found = with_stored_notes(comparison, store, identifier) if comparison else None
    if stored and stored.comparison is None:
        raise AssistantError(
            f"The comparison {identifier!r} is not finished. Go on with it: paper-trail compare "
            f"--resume {identifier}"
        )
    return found


def stored_conversation(identifier: str) -> Conversation | None:
    """Return a stored conversation and print its faults; None if there is none."""
    with opened_conversations() as store:
        stored = store.read(identifier)
        if stored is None:
            return None
        for fault in stored.faults:
            say(fault)
        return with_stored_notes(stored.conversation, store, identifier)


def read_trail(path: Path) -> Conversation | Comparison:
    """Read a conversation or a comparison from a file; raises AssistantError."""
    return trail_from_json(_read_file(path))


def read_conversation(path: Path) -> Conversation:
    """Return the conversation of a transcript; raises AssistantError."""
    return from_json(_read_file(path))


def _read_file(path: Path) -> str:
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise AssistantError(f"The file {path} is too large for a transcript.")
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise AssistantError(f"The file {path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise AssistantError(f"The file {path} is no text, so it is no transcript.") from error


def check_writable(path: Path) -> None:
    """Raise AssistantError if a file cannot be written."""
    if path.is_dir() or not path.parent.is_dir():
        raise AssistantError(f"Nothing can be written to {path}: give a file in a folder that exists.")
    is_there = os.access(path, os.F_OK)
    if not os.access(path if is_there else path.parent, os.W_OK):
        what = "the file" if is_there else "its folder"
        raise AssistantError(
            f"Nothing can be written to {path}: you may not change {what}. Give a file elsewhere."
        )


def write_file(path: Path, written: str | bytes) -> None:
    try:
        path.write_bytes(written.encode() if isinstance(written, str) else written)
    except OSError as error:
        raise AssistantError(f"The file {path} cannot be written: {error.strerror}.") from error


def chosen_of(
    temperature: float | None,
    top_p: float | None,
    top_k: int | None,
    max_tokens: int | None,
    penalty: float | None,
) -> Chosen:
    """Collect the options for generation parameters."""
    return {
        "temperature": temperature,
        "top_p": top_p,
        "top_k": top_k,
        "max_tokens": max_tokens,
        "repetition_penalty": penalty,
    }
