"""GGUF files run in a process of their own, and their weights fetched from a stand-in for the hub."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from assistant.models.gguf.offers import Offer, fetch, needs_of, offers, weights_of
from assistant.models.gguf.process import LlamaModel
from assistant.models.menu import available_models, open_model
from assistant.models.protocol import ModelError, ModelUnavailableError, whole
from assistant.records import AssistantError, Message, Parameters
from corpus.settings import Settings
from tests.demo_home import PROJECT
from tests.served_site import is_running, until
from tests.standin_server import StandinServer

STANDIN = PROJECT / "tests" / "standin_llama.py"
ASKED = (Message("user", "How?"),)
# More than the hub's library writes at once, ten megabytes.
CONTENT = b"GGUF" + bytes(range(256)) * 50_000


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    file = tmp_path / "tiny.gguf"
    file.write_bytes(CONTENT)
    return file


@contextmanager
def running(weights: Path, mode: str) -> Iterator[LlamaModel]:
    with closing(LlamaModel(weights, "Tiny", 2048, (sys.executable, str(STANDIN), mode))) as model:
        yield model


def reply_of(model: LlamaModel) -> str:
    return whole(model.stream(ASKED, Parameters())).text


def pid_of(model: LlamaModel) -> int:
    assert model._process is not None
    return model._process._process.pid


def kill(model: LlamaModel) -> None:
    assert model._process is not None
    os.kill(pid_of(model), signal.SIGKILL)
    model._process._process.wait(10)


def test_it_is_started_when_it_is_asked_and_stays(weights: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOGETHER_API_KEY", "secret")
    with running(weights, "told") as model:
        assert model._process is None
        told = json.loads(reply_of(model))
        first = pid_of(model)
        assert reply_of(model) and pid_of(model) == first
    assert (told["file"], told["context"]) == (str(weights), 2048)
    assert 1 <= told["threads"] <= 8
    assert "TOGETHER_API_KEY" not in told["environment"]
    until(lambda: not is_running(first))


def test_fault_weights_that_llama_cpp_does_not_take_cost_a_message(weights: Path) -> None:
    with running(weights, "refuses") as model, pytest.raises(ModelError, match=r"does not take.*exit code 3"):
        reply_of(model)


def test_one_that_dies_is_started_again_once(weights: Path) -> None:
    with running(weights, "lives") as model:
        assert reply_of(model) == "It ranks documents."
        kill(model)
        assert reply_of(model) == "It ranks documents."
        kill(model)
        with pytest.raises(ModelError, match="ended 2 times"):
            reply_of(model)


def test_one_that_dies_while_it_is_asked_says_so(weights: Path) -> None:
    with running(weights, "dies") as model, pytest.raises(ModelUnavailableError, match="has ended"):
        reply_of(model)


def test_it_ends_with_the_process_that_started_it_even_where_that_is_killed(weights: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from assistant.models.gguf.process import LlamaModel\n"
        "from assistant.models.protocol import whole; from assistant.records import Message, Parameters\n"
        f"model = LlamaModel(Path({str(weights)!r}), 'T', 512, (sys.executable, {str(STANDIN)!r}, 'lives'))\n"
        "whole(model.stream((Message('user', 'How?'),), Parameters()))\n"
        "print(model._process._process.pid, flush=True); sys.stdin.read()"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", program], cwd=PROJECT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        assert is_running(child)
        parent.kill()
    until(lambda: not is_running(child), 30)


def test_files_that_are_no_weights_and_too_large_ones_are_refused_in_words(
    weights: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (weights.parent / "page.gguf").write_text("<html>not found</html>")
    with pytest.raises(ModelError, match="no GGUF file"):
        needs_of(weights.parent / "page.gguf")
    with pytest.raises(ModelError, match="cannot be read"):
        needs_of(weights.parent / "none.gguf")
    monkeypatch.setattr("assistant.models.gguf.process.free_memory", lambda: 10 * 2**20)
    with (
        running(weights, "lives") as model,
        pytest.raises(ModelError, match=r"needs 0.2 GB.*0.0 GB"),
    ):
        reply_of(model)


# Offers, and the hub

OFFER = Offer(
    name="tiny-1b",
    label="Tiny 1B",
    repository="somebody/tiny-GGUF",
    file="tiny-q4.gguf",
    parameters=1.0,
    gigabytes=0.1,
    licence="MIT",
)


STANDINS = {
    "offers": lambda: (OFFER,),
    "offer_named": lambda name: OFFER if name == OFFER.name else None,
    "weights_of": lambda _name, settings: settings.models_folder / OFFER.file,
}


class StandinHub(StandinServer):
    """Serves one file as the hub does: with its size and hash told before, and any range of it.

    It ends after `ends_after` bytes of a reply where that is set, and tells a wrong hash as `digest`.
    """

    def __init__(self, ends_after: int = 0, digest: str = "", status: int = 200) -> None:
        self.ends_after, self.status = ends_after, status
        self.digest = digest or hashlib.sha256(CONTENT).hexdigest()
        self.ranges: list[str] = []
        self.open(_Hub)


class _Hub(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    standin: StandinHub

    def log_message(self, *_: object) -> None:
        pass

    def do_HEAD(self) -> None:
        self._begin(CONTENT, 200)

    def do_GET(self) -> None:
        wanted = self.headers.get("Range", "")
        self.standin.ranges.append(wanted)
        start = int(wanted.removeprefix("bytes=").partition("-")[0] or 0) if wanted else 0
        self._begin(CONTENT[start:], 206 if wanted else 200, start)
        ends_after, self.standin.ends_after = self.standin.ends_after, 0
        if ends_after:
            self.close_connection = True
        self.wfile.write(CONTENT[start : start + ends_after] if ends_after else CONTENT[start:])

    def _begin(self, content: bytes, status: int, start: int = 0) -> None:
        self.send_response(status if self.standin.status == 200 else self.standin.status)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("ETag", f'"{self.standin.digest}"')
        self.send_header("X-Linked-Etag", f'"{self.standin.digest}"')
        self.send_header("X-Linked-Size", str(len(CONTENT)))
        self.send_header("X-Repo-Commit", "0" * 40)
        self.send_header("Accept-Ranges", "bytes")
        if status == 206:
            self.send_header("Content-Range", f"bytes {start}-{len(CONTENT) - 1}/{len(CONTENT)}")
        self.end_headers()


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    # All other tests are to reach no hub.
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    return Settings(home=tmp_path / "home")


def test_weights_are_fetched_checked_and_kept(settings: Settings) -> None:
    with StandinHub() as hub:
        file = fetch(OFFER, settings, hub.address)
        assert file == settings.models_folder / "tiny-q4.gguf"
        assert file.read_bytes() == CONTENT
        asked = len(hub.ranges)
        assert fetch(OFFER, settings, hub.address) == file
        assert len(hub.ranges) == asked, "what is there is not fetched again"
    assert [path.name for path in settings.models_folder.iterdir()] == ["tiny-q4.gguf"]


def test_fault_a_fetch_that_was_cut_off_goes_on_and_is_whole(settings: Settings) -> None:
    with StandinHub(ends_after=11_000_000) as hub:
        try:
            file = fetch(OFFER, settings, hub.address)
        except AssistantError:
            file = fetch(OFFER, settings, hub.address)
        assert file.read_bytes() == CONTENT
        assert any(wanted.startswith("bytes=") for wanted in hub.ranges), "it goes on where it ended"


def test_what_is_not_what_the_hub_says_is_thrown_away(settings: Settings) -> None:
    with StandinHub(digest="0" * 64) as hub, pytest.raises(AssistantError, match="SHA-256"):
        fetch(OFFER, settings, hub.address)
    assert list(settings.models_folder.iterdir()) == []


@pytest.mark.parametrize("status", [404, 401, 500])
def test_a_hub_that_has_it_not_is_told_in_a_sentence_with_what_to_do(settings: Settings, status: int) -> None:
    with StandinHub(status=status) as hub, pytest.raises(AssistantError) as told:
        fetch(OFFER, settings, hub.address)
    assert "Put tiny-q4.gguf of somebody/tiny-GGUF" in str(told.value)
    assert str(settings.models_folder) in str(told.value)


def test_without_a_network_it_says_where_to_put_which_file(settings: Settings) -> None:
    with StandinHub() as gone:
        pass
    begun = time.monotonic()
    with pytest.raises(AssistantError, match=r"cannot be fetched: .*Put tiny-q4\.gguf"):
        fetch(OFFER, settings, gone.address)
    assert time.monotonic() - begun < 60


def test_what_is_fetched_is_offered_as_a_writer(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, standin in STANDINS.items():
        monkeypatch.setattr(f"assistant.models.menu.{name}", standin)
    assert "tiny-1b" not in [entry.id for entry in available_models(settings)]
    named = settings.model_copy(update={"local_model": "tiny-1b"})
    (entry,) = (model for model in available_models(named) if model.id == "tiny-1b")
    assert (entry.label, entry.provider, entry.is_small) == ("Tiny 1B (this machine)", "local", True)
    with pytest.raises(ModelError, match="models get tiny-1b"):
        whole(open_model(entry, named).stream(ASKED, Parameters()))
    settings.models_folder.mkdir(parents=True)
    (settings.models_folder / OFFER.file).write_bytes(CONTENT)
    assert "tiny-1b" in [entry.id for entry in available_models(settings)]


def test_a_gguf_file_is_told_from_a_folder_and_a_name_of_the_hub(settings: Settings) -> None:
    name = offers()[0].name
    assert weights_of(name, settings) == settings.models_folder / offers()[0].file
    assert weights_of("~/models/mine.GGUF", settings) == Path("~/models/mine.GGUF").expanduser()
    assert weights_of("somebody/model", settings) is None
    assert weights_of("/models/folder", settings) is None


@pytest.mark.parametrize("offer", offers(), ids=lambda offer: offer.name)
def test_offers_are_complete(offer: Offer) -> None:
    assert offer.file.endswith(".gguf") and offer.repository.count("/") == 1
    # About four and a half bits a weight, more where the vocabulary is large.
    assert 0.5 <= offer.gigabytes / offer.parameters <= 0.8


def test_commands_list_and_fetch_them(run: Callable[..., object]) -> None:
    listed = json.loads(run("models", "--json").stdout)  # type: ignore[attr-defined]
    assert [row["name"] for row in listed["offers"]] == [offer.name for offer in offers()]
    refused = run("models", "get", "no-such")  # type: ignore[attr-defined]
    assert "There are: " in refused.stderr and offers()[0].name in refused.stderr  # type: ignore[attr-defined]
