"""Resources shared by all visitors: settings, encoder, corpus, generators and running questions."""

import hashlib
import logging
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from threading import Lock

import streamlit as st
from cachetools import TTLCache, cached

from assistant.chat import Assistant
from assistant.comparing.choice import open_comparative_generator
from assistant.comparing.compare import Comparer
from assistant.generators.choice import GeneratorChoice, generator_choices, open_generator, searches_again
from assistant.generators.estimate import question_price
from assistant.generators.parameters import default_parameters
from assistant.libraries.keeping import Libraries, LibraryLimits
from assistant.models.metered import OnCost
from assistant.records import AskOptions, AssistantError, Parameters
from assistant.serving.spending import SpendingAccount, check_counted, is_limited, model_of, uncounted_models
from assistant.storage.comparisons import ComparisonStore
from assistant.storage.conversations import ConversationStore
from assistant.storage.libraries import KeptLibrary, LibraryStore
from assistant.storage.owned import Quota
from assistant.storage.rates import RateStore
from assistant.storage.reading import ReadingStore
from assistant.storage.spending import Balance, SpendingLimits, SpendingStore
from corpus.encoder_choice import open_encoder
from corpus.encoders.base import Encoder
from corpus.errors import CorpusError
from corpus.places.address import place_at
from corpus.places.place import Place
from corpus.settings import Settings, read_settings
from corpus.store.corpus import Corpus
from corpus.store.element_cache import ElementStore
from corpus.store.manifest import read_manifest
from explorer.app.owner import OwnerTokens, server_key
from explorer.jobs.comparison import ComparisonJob, comparison_runner
from explorer.jobs.question import QuestionJob, question_runner
from explorer.jobs.rate_limit import EXPORT_COST, Allowed, OwnBuckets, RateLimit, SharedBuckets
from explorer.jobs.runner import JobRunner
from explorer.observing.model_calls import ObservedModel

# Seconds for which the manifest of a corpus in a bucket is cached.
_SECONDS_AS_PUBLISHED = 2

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Library:
    """A published corpus with its settings and encoder, from which everything else is opened.

    For a visitor's own documents `pdf_folder` is the folder of their PDFs, and `kept` the kept library they
    are in, None for the uploads of this visit.
    """

    settings: Settings
    encoder: Encoder
    corpus: Corpus
    pdf_folder: Path | None = None
    kept: KeptLibrary | None = None

    def writers(self) -> tuple[GeneratorChoice, ...]:
        """Return the writers to choose from, without models of unknown price if spending is limited."""
        uncounted = {entry.id for entry in uncounted_models(self.settings)}
        return tuple(writer for writer in generator_choices(self.settings) if writer.name not in uncounted)

    def assistant(
        self,
        writer: str,
        parameters: Parameters | None = None,
        session: str = "",
        on_cost: OnCost | None = None,
    ) -> Assistant:
        """Return the assistant with the named writer; raises AssistantError for an unknown name."""
        check_counted(writer, self.settings)
        arguments = (writer, self.settings, self.encoder, parameters, session)
        generator = open_generator(*arguments, on_cost=on_cost, through=ObservedModel)
        return Assistant(self.corpus, self.encoder, generator)

    def comparer(
        self,
        writer: str,
        parameters: Parameters | None = None,
        session: str = "",
        on_cost: OnCost | None = None,
    ) -> Comparer:
        """Return the comparer with the named writer; raises AssistantError for an unknown name."""
        check_counted(writer, self.settings)
        arguments = (writer, self.settings, self.encoder, parameters, session)
        generator = open_comparative_generator(*arguments, on_cost=on_cost, through=ObservedModel)
        # A kept library may be deleted at any moment; nothing of it may be written after that.
        kept = None if self.kept else ElementStore.open(self.corpus.path)
        return Comparer(self.corpus, self.encoder, generator, kept)

    def account(self, writer: str, owner: str, what: str) -> SpendingAccount:
        """Return the account that counts the cost of a piece of work, if spending is limited.

        Raises SpendingError if the cost has to be counted and cannot be.
        """
        return SpendingAccount(
            owner, what, _spending(self.settings) if is_limited(writer, self.settings) else None
        )

    def balances(self, writer: str, owner: str) -> tuple[Balance, ...]:
        """Return this month's balances, none for a writer that costs nothing; raises AssistantError."""
        return _spending(self.settings).balances(owner) if is_limited(writer, self.settings) else ()

    def question_price(self, writer: str, parameters: Parameters | None, options: AskOptions) -> float:
        """Return an upper bound on the price of a question, in US dollars."""
        entry, usual = model_of(writer, self.settings), self.usual_parameters(writer)
        if entry is None or usual is None:
            return 0.0
        again = searches_again(entry, self.settings)
        return question_price(entry, parameters or usual, options, searches_again=again)

    def usual_parameters(self, writer: str) -> Parameters | None:
        """Return a writer's default parameters, None for one without a model."""
        entry = model_of(writer, self.settings)
        return default_parameters(self.settings, entry) if entry else None

    def conversations(self) -> ConversationStore:
        """Return the store of conversations; raises AssistantError."""
        return _conversations(_place_of_stores(self.settings), self.settings)

    def comparisons(self) -> ComparisonStore:
        """Return the store of comparisons; raises AssistantError."""
        return _comparisons(_place_of_stores(self.settings), self.settings)

    def reading(self) -> ReadingStore:
        """Return the store of notes, reading lists and followed searches; raises AssistantError."""
        return _reading(_place_of_stores(self.settings), self.settings)

    def libraries(self) -> Libraries:
        """Return the kept libraries of all visitors; raises AssistantError."""
        return open_libraries(self.settings)

    def of_kept(self, kept: KeptLibrary) -> "Library":
        """Return this library with a kept library's corpus in place of its own; raises CorpusError."""
        folder = self.libraries().folder(kept.id)
        corpus = _kept_corpus(folder.corpus, _published_manifest(place_at(folder.corpus)), self.encoder)
        return replace(self, corpus=corpus, pdf_folder=folder.pdfs, kept=kept)

    @property
    def is_uploaded(self) -> bool:
        """Return True if these are a visitor's own documents."""
        return self.pdf_folder is not None

    def pdf_path(self, pdf_sha256: str) -> Path | None:
        """Return the local path of the PDF with that hash, None if it is not stored."""
        if not pdf_sha256.isalnum():
            return None
        try:
            return (place_at(self.pdf_folder or self.settings.pdf_path) / f"{pdf_sha256}.pdf").local()
        except FileNotFoundError:
            return None
        except OSError as error:
            logger.warning("a PDF cannot be shown: %s", error)
            return None


def open_libraries(settings: Settings) -> Libraries:
    """Return the kept libraries of all visitors; raises AssistantError."""
    store = _libraries(_place_of_stores(settings), settings)
    return Libraries(settings.libraries_path, store, LibraryLimits.of(settings))


def open_library() -> Library:
    """Return the library as of the last build; raises CorpusError when there is no usable corpus."""
    settings = read_settings()
    return _library(settings, _published_manifest(settings.corpus_path))


@lru_cache(maxsize=4)
def _library(settings: Settings, published: str) -> Library:
    """Return the library of a manifest; cached, as each rerun asks twice and the caches below take 1 ms."""
    path, built_with = settings.corpus_path, ""
    if published:
        manifest = read_manifest(path)
        built_with = f"{manifest.encoder} {manifest.encoder_sha256} {manifest.runtime}"
    encoder = _encoder(f"{settings.encoder} {settings.encoder_runtime} {built_with}", settings)
    return Library(settings, encoder, _corpus(str(path), published, path, encoder))


def has_corpus() -> bool:
    """Return True if there is a corpus; raises CorpusError if its manifest cannot be read."""
    return bool(_published_manifest(read_settings().corpus_path))


@st.cache_resource(show_spinner=False)
def jobs() -> JobRunner[QuestionJob]:
    return question_runner()


def owner_tokens() -> OwnerTokens:
    """Return the issuer and verifier of browser tokens; raises CorpusError."""
    settings = read_settings()
    return OwnerTokens(server_key(settings.server_key_path), partial(_has_stored, settings))


def _has_stored(settings: Settings, owner: str) -> bool:
    """Return True if something of an owner is stored, or if the stores cannot be read."""
    place = _place_of_stores(settings)
    try:
        stores = (_conversations, _comparisons, _libraries, _reading)
        return any(store(place, settings).has_owner(owner) for store in stores)
    except AssistantError:
        return True


def change_owner(settings: Settings, before: str, after: str) -> None:
    """Move all stored items of an API program to another owner; raises AssistantError."""
    place = _place_of_stores(settings)
    _conversations(place, settings).change_owner(before, after)
    _comparisons(place, settings).change_owner(before, after)
    _spending(settings).change_owner(before, after)


def _place_of_stores(settings: Settings) -> str:
    """Return a cache key for the database and the quota, hashed as its address holds a password."""
    place = f"{Quota.of(settings)} "
    place += settings.conversations.get_secret_value() or str(settings.conversations_path)
    return hashlib.sha256(place.encode()).hexdigest()


def questions_limit() -> RateLimit:
    """Return the rate limit of questions; raises CorpusError for invalid settings."""
    settings = read_settings()
    return rate_limit(_allowed(settings, settings.questions_per_ten_minutes))


def documents_limit() -> RateLimit:
    """Return the rate limit of the files and web addresses that visitors upload or import."""
    settings = read_settings()
    wording = (
        "document",
        "brought or imported",
        f", the export of a library counts as {EXPORT_COST:.0f}",
        "It can be tried again",
    )
    return rate_limit(_allowed(settings, settings.documents_per_ten_minutes, *wording))


def uploads_limit() -> RateLimit:
    """Return the rate limit of uploads, in megabytes."""
    settings = read_settings()
    wording = ("megabyte", "uploaded", "", "What came after that was not taken; it can be uploaded again")
    return rate_limit(_allowed(settings, settings.upload_megabytes_per_ten_minutes, *wording))


def _allowed(settings: Settings, most: float, *wording: str) -> Allowed:
    return Allowed(most, settings.limit_of_address, settings.limit_of_all, *wording)


@lru_cache(maxsize=64)
def rate_limit(allowed: Allowed) -> RateLimit:
    """Return a rate limit shared by all processes."""
    buckets = SharedBuckets(_rates_in_use, OwnBuckets())
    return RateLimit(allowed, buckets, server_key(read_settings().server_key_path))


def _rates_in_use() -> RateStore:
    settings = read_settings()
    return _rates(_place_of_stores(settings), settings)


@st.cache_resource(show_spinner=False, max_entries=4, on_release=RateStore.close)
def _rates(place: str, _settings: Settings) -> RateStore:  # noqa: ARG001
    return RateStore.open(_settings)


@st.cache_resource(show_spinner=False, max_entries=4, on_release=ConversationStore.close)
def _conversations(place: str, _settings: Settings) -> ConversationStore:  # noqa: ARG001
    return ConversationStore.open(_settings, Quota.of(_settings))


def _spending(settings: Settings) -> SpendingStore:
    """Return the store of visitors' spending; raises SpendingError if the database cannot be used."""
    return _stored_spending(f"{_place_of_stores(settings)} {SpendingLimits.of(settings)}", settings)


@st.cache_resource(show_spinner=False, max_entries=4, on_release=SpendingStore.close)
def _stored_spending(place: str, _settings: Settings) -> SpendingStore:  # noqa: ARG001
    return SpendingStore.open(_settings)


@st.cache_resource(show_spinner=False)
def comparison_jobs() -> JobRunner[ComparisonJob]:
    return comparison_runner()


@st.cache_resource(show_spinner=False, max_entries=4, on_release=ComparisonStore.close)
def _comparisons(place: str, _settings: Settings) -> ComparisonStore:  # noqa: ARG001
    return ComparisonStore.open(_settings, Quota.of(_settings))


@st.cache_resource(show_spinner=False, max_entries=4, on_release=ReadingStore.close)
def _reading(place: str, _settings: Settings) -> ReadingStore:  # noqa: ARG001
    return ReadingStore.open(_settings, Quota.of(_settings))


@st.cache_resource(show_spinner=False, max_entries=4, on_release=LibraryStore.close)
def _libraries(place: str, _settings: Settings) -> LibraryStore:  # noqa: ARG001
    # `Libraries` checks the limits on one person's libraries; guests with the link do not count.
    return LibraryStore.open(_settings, replace(Quota.of(_settings), rows=0, megabytes=0))


@st.cache_resource(show_spinner=False, max_entries=2)
def _encoder(key: str, _settings: Settings) -> Encoder:  # noqa: ARG001
    """Open the encoder; the cache key changes with the configured encoder and that of the build."""
    return open_encoder(_settings)


@st.cache_resource(show_spinner=False, max_entries=4)
def _corpus(address: str, published: str, _path: Place, _encoder_in_use: Encoder) -> Corpus:  # noqa: ARG001
    """Open the corpus; the cache key, its address and manifest, changes with each build."""
    return Corpus.open(_path, _encoder_in_use)


@st.cache_resource(show_spinner=False, max_entries=32)
def _kept_corpus(path: Path, published: str, _encoder_in_use: Encoder) -> Corpus:  # noqa: ARG001
    """Open a kept library's corpus; in a cache of its own, so as not to evict the main corpus."""
    return Corpus.open(path, _encoder_in_use)


def _published_manifest(path: Place) -> str:
    """Return the text of the corpus's manifest, "" if there is none; raises CorpusError."""
    # Cached for buckets: a rerun reads it several times, and each read costs time and money.
    return _recent_manifest(path) if path.is_shared else _manifest_text(path)


@cached(TTLCache(maxsize=4, ttl=_SECONDS_AS_PUBLISHED), key=str, lock=Lock())
def _recent_manifest(path: Place) -> str:
    return _manifest_text(path)


def _manifest_text(path: Place) -> str:
    try:
        return (path / "manifest.json").read_bytes().decode()
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise CorpusError(f"The corpus at {path} cannot be read: {error.strerror}.") from error
