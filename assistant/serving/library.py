"""The currently published corpus, opened again after each build."""

import logging
import threading
from dataclasses import dataclass
from functools import lru_cache

from assistant.chat import Assistant
from assistant.comparing.choice import open_comparative_generator
from assistant.comparing.compare import Comparer
from assistant.generators.choice import generator_choices, open_generator, searches_again
from assistant.generators.estimate import question_price
from assistant.generators.parameters import default_parameters
from assistant.generators.protocol import EXTRACTIVE
from assistant.models.metered import OnCost
from assistant.records import AskOptions
from assistant.serving.operations import check_writer
from assistant.serving.spending import SpendingAccount, check_counted, is_limited, model_of
from assistant.storage.spending import SpendingStore
from corpus.encoder_choice import open_encoder
from corpus.encoders.base import Encoder
from corpus.errors import CorpusError
from corpus.settings import Settings, read_settings
from corpus.store.corpus import Corpus
from corpus.store.element_cache import ElementStore
from corpus.store.manifest import Manifest, read_manifest

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class OpenLibrary:
    """A published corpus with its encoder, from which assistants and comparers are opened."""

    settings: Settings
    encoder: Encoder
    corpus: Corpus

    def assistant(self, writer: str = EXTRACTIVE, on_cost: OnCost | None = None) -> Assistant:
        """Return the assistant with the writer of that name; raises AssistantError when there is none."""
        generator = open_generator(writer, self.settings, self.encoder, on_cost=on_cost)
        return Assistant(self.corpus, self.encoder, generator)

    def comparer(self, writer: str = EXTRACTIVE, on_cost: OnCost | None = None) -> Comparer:
        """Open a comparer with the writer `writer`; raises AssistantError for an unknown name."""
        generator = open_comparative_generator(writer, self.settings, self.encoder, on_cost=on_cost)
        return Comparer(self.corpus, self.encoder, generator, ElementStore.open(self.corpus.path))

    def account(self, writer: str, owner: str, what: str) -> SpendingAccount:
        """Open the account that counts the cost of a request; raises AssistantError if it cannot."""
        check_writer(generator_choices(self.settings), writer)
        check_counted(writer, self.settings)
        counts = is_limited(writer, self.settings)
        return SpendingAccount(owner, what, _spending(self.settings) if counts else None)

    def question_price(self, writer: str, options: AskOptions) -> float:
        """Return an upper estimate of a question's price in US dollars."""
        entry = model_of(writer, self.settings)
        if entry is None:
            return 0.0
        again = searches_again(entry, self.settings)
        return question_price(entry, default_parameters(self.settings, entry), options, searches_again=again)


@lru_cache(maxsize=1)
def _spending(settings: Settings) -> SpendingStore:
    return SpendingStore.open(settings)


class PublishedLibrary:
    """Returns the library of the currently published corpus; safe for several threads."""

    def __init__(self, settings: Settings | None = None) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._opened: tuple[Manifest, OpenLibrary] | None = None

    def now(self) -> OpenLibrary:
        """Return the library as of the last build; raises CorpusError when there is no usable corpus."""
        settings = self._settings or read_settings()
        with self._lock:
            manifest = read_manifest(settings.corpus_path)
            if self._opened is None or self._opened[0] != manifest:
                encoder = self._encoder_for(manifest, settings)
                corpus = Corpus.open(settings.corpus_path, encoder)
                threading.Thread(target=_load, args=(corpus,), name="load", daemon=True).start()
                encoder.load()
                self._opened = manifest, OpenLibrary(settings, encoder, corpus)
            return self._opened[1]

    def _encoder_for(self, manifest: Manifest, settings: Settings) -> Encoder:
        """Return the open encoder if it built the corpus, else open one, which takes seconds."""
        if self._opened and _built_with(self._opened[0]) == _built_with(manifest):
            return self._opened[1].encoder
        return open_encoder(settings)


def _load(corpus: Corpus) -> None:
    """Load the data that searches need before the first search."""
    try:
        corpus.load()
    except CorpusError as error:
        # A search raises it again.
        logger.warning("%s", error)


def _built_with(manifest: Manifest) -> tuple[str, str, str]:
    return manifest.encoder, manifest.encoder_sha256, manifest.runtime
