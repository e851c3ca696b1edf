"""What all visitors share: settings, encoder, corpus, generators and the questions being answered."""

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import streamlit as st

from assistant.chat import Assistant
from assistant.compare import Comparer
from assistant.comparing.choice import open_comparative_generator
from assistant.comparing.store import ComparisonStore, open_comparisons
from assistant.conversations import ConversationStore, open_conversations
from assistant.generators.choice import GeneratorChoice, generator_choices, open_generator
from assistant.generators.parameters import default_parameters
from assistant.models.menu import available_models
from assistant.records import Parameters
from corpus.elements import ElementStore
from corpus.encoder import Encoder
from corpus.encoder_choice import open_encoder
from corpus.errors import CorpusError
from corpus.manifest import read_manifest
from corpus.settings import Settings, read_settings
from corpus.store import Corpus
from explorer.comparing.jobs import ComparisonJobs
from explorer.parts.allowance import Allowance
from explorer.parts.jobs import JobStore


@dataclass(frozen=True, slots=True)
class Library:
    """The corpus as it was last published, and what reads and answers from it.

    Of a visitor's own documents `pdf_folder` is where their PDFs are; those of the corpus are where they are.
    """

    settings: Settings
    encoder: Encoder
    corpus: Corpus
    pdf_folder: Path | None = None

    def writers(self) -> tuple[GeneratorChoice, ...]:
        return generator_choices(self.settings)

    def assistant(self, writer: str, parameters: Parameters | None = None, session: str = "") -> Assistant:
        """Return the assistant with the writer of that name; raises AssistantError when there is none."""
        generator = open_generator(writer, self.settings, self.encoder, parameters, session)
        return Assistant(self.corpus, self.encoder, generator)

    def comparer(self, writer: str, parameters: Parameters | None = None, session: str = "") -> Comparer:
        """Return what compares papers with the writer of that name; raises AssistantError for none."""
        generator = open_comparative_generator(writer, self.settings, self.encoder, parameters, session)
        kept = ElementStore.open(self.corpus.path)
        return Comparer(self.corpus, self.encoder, generator, kept)

    def usual_parameters(self, writer: str) -> Parameters | None:
        """Return how a writer generates where nobody asks for anything else, None for one without a model."""
        entries = {entry.id: entry for entry in available_models(self.settings)}
        return default_parameters(self.settings, entries[writer]) if writer in entries else None

    def conversations(self) -> ConversationStore:
        """Return the store of conversations; raises AssistantError when it cannot be used."""
        return _conversations(self._place_of_stores(), self.settings)

    def comparisons(self) -> ComparisonStore:
        """Return the store of comparisons; raises AssistantError when it cannot be used."""
        return _comparisons(self._place_of_stores(), self.settings)

    def _place_of_stores(self) -> str:
        """Return a name for the database that tells nothing of the password in its address."""
        place = self.settings.conversations.get_secret_value() or str(self.settings.conversations_path)
        return hashlib.sha256(place.encode()).hexdigest()

    @property
    def is_own(self) -> bool:
        """Tell whether this is a visitor's own documents."""
        return self.pdf_folder is not None

    def pdf_path(self, pdf_sha256: str) -> Path | None:
        """Return where the PDF with that hash is kept, None when it is not."""
        path = (self.pdf_folder or self.settings.pdf_path) / f"{pdf_sha256}.pdf"
        return path if pdf_sha256.isalnum() and path.is_file() else None


def open_library() -> Library:
    """Return the library as of the last build; raises CorpusError when there is no usable corpus."""
    settings = read_settings()
    return _library(settings, _published(settings.corpus_path))


@lru_cache(maxsize=4)
def _library(settings: Settings, published: str) -> Library:
    """Return the library of a manifest; each rerun asks twice, and finding it below takes a millisecond."""
    built_with = _built_with(settings.corpus_path) if published else ""
    encoder = _encoder(f"{settings.encoder} {settings.encoder_runtime} {built_with}", settings)
    return Library(settings, encoder, _corpus(settings.corpus_path, published, encoder))


def has_corpus() -> bool:
    return (read_settings().corpus_path / "manifest.json").is_file()


@st.cache_resource(show_spinner=False)
def jobs() -> JobStore:
    return JobStore()


def allowance(settings: Settings) -> Allowance:
    """Return what counts how much each visitor asks."""
    return _allowance(settings.questions_per_ten_minutes)


@st.cache_resource(show_spinner=False, max_entries=2)
def _allowance(questions: int) -> Allowance:
    return Allowance(questions)


@st.cache_resource(show_spinner=False, max_entries=4, on_release=ConversationStore.close)
def _conversations(place: str, _settings: Settings) -> ConversationStore:  # noqa: ARG001
    return open_conversations(_settings)


@st.cache_resource(show_spinner=False)
def comparison_jobs() -> ComparisonJobs:
    return ComparisonJobs()


@st.cache_resource(show_spinner=False, max_entries=4, on_release=ComparisonStore.close)
def _comparisons(place: str, _settings: Settings) -> ComparisonStore:  # noqa: ARG001
    return open_comparisons(_settings)


@st.cache_resource(show_spinner=False, max_entries=2)
def _encoder(wanted: str, _settings: Settings) -> Encoder:  # noqa: ARG001
    """Open the encoder anew whenever another is wanted or was built with: `wanted` is only a key."""
    return open_encoder(_settings)


@st.cache_resource(show_spinner=False, max_entries=4)
def _corpus(path: Path, published: str, _encoder_in_use: Encoder) -> Corpus:  # noqa: ARG001
    """Open the corpus anew whenever a build has replaced its manifest: `published` is only a key."""
    return Corpus.open(path, _encoder_in_use)


def _built_with(path: Path) -> str:
    manifest = read_manifest(path)
    return f"{manifest.encoder} {manifest.encoder_sha256} {manifest.runtime}"


def _published(path: Path) -> str:
    try:
        return (path / "manifest.json").read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise CorpusError(f"The corpus at {path} cannot be read: {error.strerror}.") from error
