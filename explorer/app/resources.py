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

# So long a corpus in a bucket is taken to be as it was published when it was last asked.
_SECONDS_AS_PUBLISHED = 2

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Library:
    """The corpus as it was last published, and what reads and answers from it.

    Of a visitor's own documents `pdf_folder` is where their PDFs are; those of the corpus are where they are.
    `kept` says which of their libraries these are, None for those of the visit.
    """

    settings: Settings
    encoder: Encoder
    corpus: Corpus
    pdf_folder: Path | None = None
    kept: KeptLibrary | None = None

    def writers(self) -> tuple[GeneratorChoice, ...]:
        """Return who can write, but for models that cost nobody knows what where spending is limited."""
        uncounted = {entry.id for entry in uncounted_models(self.settings)}
        return tuple(one for one in generator_choices(self.settings) if one.name not in uncounted)

    def assistant(
        self,
        writer: str,
        parameters: Parameters | None = None,
        session: str = "",
        on_cost: OnCost | None = None,
    ) -> Assistant:
        """Return the assistant with the writer of that name; raises AssistantError when there is none."""
        check_counted(writer, self.settings)
        asked = (writer, self.settings, self.encoder, parameters, session)
        generator = open_generator(*asked, on_cost=on_cost, through=ObservedModel)
        return Assistant(self.corpus, self.encoder, generator)

    def comparer(
        self,
        writer: str,
        parameters: Parameters | None = None,
        session: str = "",
        on_cost: OnCost | None = None,
    ) -> Comparer:
        """Open a comparer with the writer `writer`; raises AssistantError for an unknown name."""
        check_counted(writer, self.settings)
        asked = (writer, self.settings, self.encoder, parameters, session)
        generator = open_comparative_generator(*asked, on_cost=on_cost, through=ObservedModel)
        # A kept library can be deleted at any moment, and nothing of it is to be written after that.
        kept = None if self.kept else ElementStore.open(self.corpus.path)
        return Comparer(self.corpus, self.encoder, generator, kept)

    def account(self, writer: str, owner: str, what: str) -> SpendingAccount:
        """Open the account that counts the cost of a piece of work, if spending is limited.

        Raises SpendingError where it has to be counted and cannot be.
        """
        return SpendingAccount(
            owner, what, _spending(self.settings) if is_limited(writer, self.settings) else None
        )

    def balances(self, writer: str, owner: str) -> tuple[Balance, ...]:
        """Return this month's balances, none for a writer that costs nothing.

        Raises AssistantError where that cannot be read.
        """
        return _spending(self.settings).balances(owner) if is_limited(writer, self.settings) else ()

    def question_price(self, writer: str, parameters: Parameters | None, options: AskOptions) -> float:
        """Return the greatest price of a question in US dollars, estimated from above."""
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
        """Return the store of conversations; raises AssistantError when it cannot be used."""
        return _conversations(_place_of_stores(self.settings), self.settings)

    def comparisons(self) -> ComparisonStore:
        """Return the store of comparisons; raises AssistantError when it cannot be used."""
        return _comparisons(_place_of_stores(self.settings), self.settings)

    def reading(self) -> ReadingStore:
        """Return the store of what readers keep of papers; raises AssistantError when it cannot be used."""
        return _reading(_place_of_stores(self.settings), self.settings)

    def libraries(self) -> Libraries:
        """Return the kept libraries of all visitors; raises AssistantError when they cannot be used."""
        return open_libraries(self.settings)

    def of_kept(self, kept: KeptLibrary) -> "Library":
        """Open this library on a kept library's corpus; raises CorpusError where it cannot be read."""
        folder = self.libraries().folder(kept.id)
        corpus = _kept_corpus(folder.corpus, _published(place_at(folder.corpus)), self.encoder)
        return replace(self, corpus=corpus, pdf_folder=folder.pdfs, kept=kept)

    @property
    def is_uploaded(self) -> bool:
        """Return True if this is a visitor's own documents."""
        return self.pdf_folder is not None

    def pdf_path(self, pdf_sha256: str) -> Path | None:
        """Return where the PDF with that hash is kept, None when it is not."""
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
    """Return the kept libraries of all visitors; raises AssistantError when they cannot be used."""
    store = _libraries(_place_of_stores(settings), settings)
    return Libraries(settings.libraries_path, store, LibraryLimits.of(settings))


def open_library() -> Library:
    """Return the library as of the last build; raises CorpusError when there is no usable corpus."""
    settings = read_settings()
    return _library(settings, _published(settings.corpus_path))


@lru_cache(maxsize=4)
def _library(settings: Settings, published: str) -> Library:
    """Return the library of a manifest; each rerun asks twice, and finding it below takes a millisecond."""
    built_with = _built_with(settings.corpus_path) if published else ""
    encoder = _encoder(f"{settings.encoder} {settings.encoder_runtime} {built_with}", settings)
    path = settings.corpus_path
    return Library(settings, encoder, _corpus(str(path), published, path, encoder))


def has_corpus() -> bool:
    """Return True if there is a corpus; raises CorpusError where that cannot be told."""
    return bool(_published(read_settings().corpus_path))


@st.cache_resource(show_spinner=False)
def jobs() -> JobRunner[QuestionJob]:
    return question_runner()


def owner_tokens() -> OwnerTokens:
    """Return the issuer and verifier of browser tokens; raises CorpusError."""
    settings = read_settings()
    return OwnerTokens(server_key(settings.server_key_path), partial(_has_stored, settings))


def _has_stored(settings: Settings, owner: str) -> bool:
    """Return True if something is stored of an owner; also where that cannot be known for now."""
    place = _place_of_stores(settings)
    try:
        stores = (_conversations, _comparisons, _libraries, _reading)
        return any(store(place, settings).has_owner(owner) for store in stores)
    except AssistantError:
        return True


def change_owner(settings: Settings, before: str, after: str) -> None:
    """Give all that is stored of a program to another owner; raises AssistantError."""
    place = _place_of_stores(settings)
    _conversations(place, settings).change_owner(before, after)
    _comparisons(place, settings).change_owner(before, after)
    _spending(settings).change_owner(before, after)


def _place_of_stores(settings: Settings) -> str:
    """Return a name for the database and the quota that tells nothing of the password in its address."""
    place = f"{Quota.of(settings)} "
    place += settings.conversations.get_secret_value() or str(settings.conversations_path)
    return hashlib.sha256(place.encode()).hexdigest()


def questions_limit() -> RateLimit:
    """Return the rate limit of questions; raises CorpusError for settings that cannot be used."""
    settings = read_settings()
    return rate_limit(_allowed(settings, settings.questions_per_ten_minutes))


def documents_limit() -> RateLimit:
    """Return the rate limit of the files and web addresses that visitors bring or import."""
    settings = read_settings()
    said = (
        "document",
        "brought or imported",
        f", the export of a library counts as {EXPORT_COST:.0f}",
        "It can be tried again",
    )
    return rate_limit(_allowed(settings, settings.documents_per_ten_minutes, *said))


def uploads_limit() -> RateLimit:
    """Return the rate limit of uploads, in megabytes."""
    settings = read_settings()
    said = ("megabyte", "uploaded", "", "What came after that was not taken; it can be uploaded again")
    return rate_limit(_allowed(settings, settings.upload_megabytes_per_ten_minutes, *said))


def _allowed(settings: Settings, most: float, *said: str) -> Allowed:
    return Allowed(most, settings.limit_of_address, settings.limit_of_all, *said)


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
    """Open the store of visitors' spending; raises SpendingError where the database cannot be used."""
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
    # Limits on one person's libraries are checked where they are kept; guests with the link do not count.
    return LibraryStore.open(_settings, replace(Quota.of(_settings), rows=0, megabytes=0))


@st.cache_resource(show_spinner=False, max_entries=2)
def _encoder(wanted: str, _settings: Settings) -> Encoder:  # noqa: ARG001
    """Open the encoder anew whenever another is wanted or was built with: `wanted` is only a key."""
    return open_encoder(_settings)


@st.cache_resource(show_spinner=False, max_entries=4)
def _corpus(address: str, published: str, _path: Place, _encoder_in_use: Encoder) -> Corpus:  # noqa: ARG001
    """Open the corpus anew whenever a build has replaced its manifest: the first two are only keys."""
    return Corpus.open(_path, _encoder_in_use)


@st.cache_resource(show_spinner=False, max_entries=32)
def _kept_corpus(path: Path, published: str, _encoder_in_use: Encoder) -> Corpus:  # noqa: ARG001
    """Open a kept library anew whenever it has changed; apart from the corpus, which is not to make way."""
    return Corpus.open(path, _encoder_in_use)


def _built_with(path: Place) -> str:
    manifest = read_manifest(path)
    return f"{manifest.encoder} {manifest.encoder_sha256} {manifest.runtime}"


def _published(path: Place) -> str:
    """Return the manifest of the corpus as it is written, "" where there is none."""
    # A rerun asks several times; a bucket takes its time and is paid for each.
    return _published_of_late(path) if path.is_shared else _written_manifest(path)


@cached(TTLCache(maxsize=4, ttl=_SECONDS_AS_PUBLISHED), key=str, lock=Lock())
def _published_of_late(path: Place) -> str:
    return _written_manifest(path)


def _written_manifest(path: Place) -> str:
    try:
        return (path / "manifest.json").read_bytes().decode()
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Place, error: OSError) -> CorpusError:
    return CorpusError(f"The corpus at {path} cannot be read: {error.strerror}.")
