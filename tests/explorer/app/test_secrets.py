"""Keys and passwords of whoever runs the app: in no screen, file, log, stored conversation or terminal."""

from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest
from typer.testing import CliRunner

from assistant.__main__ import app
from assistant.exports.registry import CONVERSATION_FORMATS
from tests.explorer.asking import QUESTION, ask, choose_the_model, visitor_of
from tests.exported_text import exported_text
from tests.standin_chat import StandinChat, refusal

Screen = Callable[..., AppTest]
Model = Callable[..., StandinChat]
CANARIES = {"TOGETHER_API_KEY": "tgp_canary_77aa01c2", "PAPER_TRAIL_MODEL_API_KEY": "own_canary_93be55d1"}
PASSWORD = "database_canary_1f6c"


@pytest.fixture(autouse=True)
def secrets(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Set every key to a canary, after the fixtures that take keys away."""
    for name, canary in CANARIES.items():
        monkeypatch.setenv(name, canary)


def assert_untold(*texts: str) -> None:
    for canary in (*CANARIES.values(), PASSWORD):
        assert not [text for text in texts if canary in text]


def drawn(test: AppTest) -> str:
    """Return all that a screen has been sent, as far as it is text."""
    return "".join(repr(part) for part in (test.main, test.sidebar))


def test_keys_are_told_to_nobody_but_the_model_server(
    screen: Screen, model: Model, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    server = model()
    test = ask(choose_the_model(screen("ask")), QUESTION)
    sent = {request.headers["Authorization"] for request in server.requests}
    assert sent == {f"Bearer {CANARIES['PAPER_TRAIL_MODEL_API_KEY']}"}
    conversation = visitor_of(test).conversation()
    assert "Not cited" in drawn(test) or "References" in drawn(test), "what is looked at is not the screen"
    server.behaviours.extend(refusal(401, f"bad key {key}") for key in CANARIES.values())
    failed = ask(test, QUESTION)
    assert visitor_of(failed).failure is not None
    files = [exported_text(export.write(conversation)) for export in CONVERSATION_FORMATS]
    others = [drawn(screen(name)) for name in ("collection", "compare", "about")]
    writers = drawn(screen("about", part="Who writes"))
    stored = [file.read_bytes().decode("latin-1") for file in tmp_path.glob("conversations.sqlite*")]
    assert stored
    assert_untold(drawn(test), drawn(failed), repr(visitor_of(failed)), *files, *others, writers, *stored)
    assert_untold(caplog.text)


@pytest.mark.parametrize("status", [200, 401])
def test_the_terminal_tells_no_key(model: Model, tmp_path: Path, status: int) -> None:
    server = model()
    if status == 401:
        server.behaviours.extend(refusal(401, f"bad key {key}") for key in CANARIES.values())
    trail = tmp_path / "trail.json"
    ran = CliRunner().invoke(app, ["ask", QUESTION, "--generator", "standin", "--trail", str(trail)])
    assert (ran.exit_code == 0) is (status == 200), ran.output
    assert server.requests
    assert_untold(ran.output, trail.read_text(encoding="utf-8") if trail.exists() else "")


@pytest.mark.parametrize(
    "database",
    [f"postgresql://somebody:{PASSWORD}@127.0.0.1:9/papers", f"sqlite://somebody:{PASSWORD}@host/papers"],
)
def test_a_database_that_cannot_be_opened_tells_no_password_and_leaves_no_file(
    screen: Screen, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, database: str
) -> None:
    monkeypatch.setenv("PAPER_TRAIL_CONVERSATIONS", database)
    test = screen("ask")
    ran = CliRunner().invoke(app, ["conversations", "list"])
    assert ran.exit_code != 0
    assert_untold(drawn(test), caplog.text, ran.output, repr(ran.exception))
    assert not Path("papers").exists(), "a file was made for an address that is none of a file"
