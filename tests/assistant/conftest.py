from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from assistant.__main__ import app
from assistant.chat import Assistant
from assistant.comparing.compare import Comparer
from assistant.generators.extractive.generator import ExtractiveGenerator
from assistant.generators.prompted import PromptedGenerator
from assistant.models.together import Patience, TogetherModel
from assistant.records import Answered, AskOptions, Conversation, Turn
from corpus.encoders.base import Encoder
from corpus.records import Scope
from corpus.store.corpus import Corpus
from tests.assistant.asked_questions import NOT_ANSWERED, QUESTION
from tests.assistant.comparing.compared_papers import comparer_over, open_compared_corpus
from tests.standin_chat import KEY_CANARY, StandinChat


@pytest.fixture(scope="session")
def extractive_assistant(demo_corpus: Corpus, encoder: Encoder) -> Assistant:
    return Assistant(demo_corpus, encoder, ExtractiveGenerator(encoder))


@pytest.fixture(scope="session")
def ask_demo(extractive_assistant: Assistant) -> Callable[..., Turn]:
    """Return a function that asks the demonstration collection with the extractive generator, cached."""

    @cache
    def ask(question: str, collection: str | None = None, papers: int = 10) -> Turn:
        options = AskOptions(Scope(collections=(collection,) if collection else ()), papers)
        *_, last = extractive_assistant.ask(question, (), options)
        assert isinstance(last, Answered)
        return last.turn

    return ask


@pytest.fixture(scope="session")
def conversation(ask_demo: Callable[..., Turn]) -> Conversation:
    """Return a conversation of a question that is answered and one that is refused."""
    answered = ask_demo(QUESTION, "field-notes-retrieval")
    return Conversation("c1", "Ranking", (answered, ask_demo(NOT_ANSWERED)))


@pytest.fixture
def home(demo_home: Path) -> Path:
    """Return the home of commands; a module with a corpus of its own has another one."""
    return demo_home


@pytest.fixture
def run(
    monkeypatch: pytest.MonkeyPatch, home: Path, encoder: Encoder, tmp_path: Path
) -> Callable[..., Result]:
    """Return a function that runs a command in this process, with the encoder that is already loaded."""
    monkeypatch.setenv("PAPER_TRAIL_HOME", str(home))
    monkeypatch.setenv("PAPER_TRAIL_CONVERSATIONS", f"sqlite:///{tmp_path / 'conversations.sqlite'}")
    monkeypatch.setattr("assistant.commands.opening.open_encoder", lambda settings: encoder)
    return lambda *arguments, answer=None: CliRunner().invoke(app, arguments, input=answer)


@pytest.fixture
def own_model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[StandinChat], None]:
    """Return a function that puts a server behind the model "own"."""

    def start(server: StandinChat) -> None:
        models = tmp_path / "models.toml"
        prices = "price_in = 1.0\nprice_out = 2.0"
        models.write_text(
            f'[[models]]\nid = "own"\ncontext = 32768\n{prices}\n# a key of somebody: {KEY_CANARY}',
            encoding="utf-8",
        )
        monkeypatch.setenv("PAPER_TRAIL_MODELS_FILE", str(models))
        monkeypatch.setenv("PAPER_TRAIL_MODEL_URL", server.url)
        monkeypatch.setenv("PAPER_TRAIL_MODEL_API_KEY", KEY_CANARY)

    return start


@pytest.fixture(scope="session")
def shelf_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("shelf")


@pytest.fixture(scope="session")
def shelf(shelf_home: Path, encoder: Encoder) -> Corpus:
    """Return the corpus of papers to compare."""
    return open_compared_corpus(shelf_home / "corpus", encoder)


@pytest.fixture(scope="session")
def comparing(
    shelf: Corpus, encoder: Encoder
) -> Callable[..., AbstractContextManager[tuple[StandinChat, Comparer]]]:
    """Return a function that opens a server that answers as `model` does, and a comparer that uses it."""

    @contextmanager
    def opened(
        model: Any = None, corpus: Corpus = shelf, **changes: Any
    ) -> Iterator[tuple[StandinChat, Comparer]]:
        with (
            StandinChat(default=model) as server,
            comparer_over(server, corpus, encoder, **changes) as comparer,
        ):
            yield server, comparer

    return opened


@pytest.fixture
def assistant_over(demo_corpus: Corpus, encoder: Encoder) -> Iterator[Callable[..., Assistant]]:
    """Yield a function that makes an assistant whose model is at a server's address."""
    with ExitStack() as stack:

        def make(
            server: StandinChat, timeout: float = 1.0, corpus: Corpus = demo_corpus, **changes: Any
        ) -> Assistant:
            model = TogetherModel(
                "m",
                "Model",
                api_key=KEY_CANARY,
                base_url=server.url,
                patience=Patience(timeout, timeout),
                first_wait=0.01,
            )
            stack.enter_context(closing(model))
            return Assistant(corpus, encoder, PromptedGenerator(model, **changes))

        yield make
