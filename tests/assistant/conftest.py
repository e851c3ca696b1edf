from collections.abc import Callable
from functools import cache

import pytest

from assistant.chat import Assistant
from assistant.generators.extractive import ExtractiveGenerator
from assistant.records import Answered, AskOptions, Turn
from corpus.encoder import SentenceEncoder
from corpus.records import Scope
from corpus.store import Corpus


@pytest.fixture(scope="session")
def extractive_assistant(demo_corpus: Corpus, encoder: SentenceEncoder) -> Assistant:
    return Assistant(demo_corpus, encoder, ExtractiveGenerator(encoder))


@pytest.fixture(scope="session")
def ask_demo(extractive_assistant: Assistant) -> Callable[..., Turn]:
    """Return what asks the demonstration collection with the extractive generator, each question once."""

    @cache
    def ask(question: str, collection: str | None = None, papers: int = 10) -> Turn:
        options = AskOptions(Scope(collections=(collection,) if collection else ()), papers)
        *_, last = extractive_assistant.ask(question, (), options)
        assert isinstance(last, Answered)
        return last.turn

    return ask
