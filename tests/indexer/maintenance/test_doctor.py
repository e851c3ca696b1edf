"""The doctor: what is there is said to be there, what is not comes with what to do."""

import json
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from huggingface_hub import constants

from corpus.encoders.base import BUNDLED_SHA256, Encoder
from corpus.sandbox.confinement import offered_confinement
from corpus.settings import Settings
from indexer.maintenance.doctor import Finding, examine
from tests.small_corpus import make_paper, write_corpus
from tests.standin_grobid import StandinGrobid


def findings(settings: Settings) -> dict[str, Finding]:
    return {finding.name: finding for finding in examine(settings)}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, encoder: Encoder) -> Path:
    """Return a home with a corpus of two papers."""
    home = tmp_path_factory.mktemp("built") / "home"
    cats, dogs = make_paper("pets", "cats"), make_paper("pets", "dogs", position=1)
    write_corpus(home / "corpus", encoder, {cats: ["Cats sleep."], dogs: ["Dogs run."]})
    return home


def test_a_fresh_install_is_well_but_for_its_corpus(tmp_path: Path) -> None:
    found = findings(Settings(home=tmp_path / "new" / "home"))
    assert {name: finding.state for name, finding in found.items()} == {
        "folder": "ok",
        "disk": found["disk"].state,
        "visitors": "ok",
        "corpus": "warning",
        "encoder": "ok",
        "grobid": "off",
        "scans": "ok" if found["scans"].facts["engine"] else "off",
        "sandbox": "ok" if offered_confinement() else "warning",
        "models": "off",
    }
    assert "paper-trail index demo" in found["corpus"].text
    assert "PAPER_TRAIL_GROBID_URL=http://127.0.0.1:8070" in found["grobid"].text
    assert not (tmp_path / "new").exists()


def test_a_corpus_is_described_and_so_is_one_of_another_encoder(built: Path) -> None:
    found = findings(Settings(home=built))["corpus"]
    assert found.state == "ok"
    assert found.text == "The corpus holds 2 papers; its encoder is all-MiniLM-L6-v2."
    assert (found.facts["papers"], found.facts["collections"]) == (2, 1)
    assert found.facts["encoder"] == "all-MiniLM-L6-v2"
    for finding in examine(Settings(home=built)):
        assert json.loads(json.dumps(dict(finding.facts))) == finding.facts
        assert finding.text.isprintable()
    found = findings(Settings(home=built, encoder="someone/some-model"))["corpus"]
    assert found.state == "problem"
    assert "Set PAPER_TRAIL_ENCODER=all-MiniLM-L6-v2" in found.text


def test_a_corpus_of_other_weights_or_without_its_tables_is_a_problem(built: Path, tmp_path: Path) -> None:
    home = Path(shutil.copytree(built, tmp_path / "home"))
    manifest = home / "corpus" / "manifest.json"
    manifest.write_text(manifest.read_text().replace(BUNDLED_SHA256, "0" * 64))
    found = findings(Settings(home=home))["corpus"]
    assert found.state == "problem"
    assert "other weights" in found.text
    shutil.rmtree(home / "corpus" / "papers.lance")
    assert findings(Settings(home=home))["corpus"].state == "problem"


@pytest.mark.parametrize("content", ["", "{", "[]", '{"schema": 0}', '{"schema": 1}'])
def test_a_damaged_manifest_is_a_problem(tmp_path: Path, content: str) -> None:
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "manifest.json").write_text(content)
    found = findings(Settings(home=tmp_path))["corpus"]
    assert (found.state, found.facts["present"]) == ("problem", True)


def test_a_folder_or_a_file_of_models_that_is_none_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("in the way")
    found = findings(Settings(home=tmp_path / "home" / "deeper"))["folder"]
    assert found.state == "problem"
    assert "is not a folder" in found.text
    # A file of models that is not there failed every question unnoticed.
    found = findings(Settings(home=tmp_path, models_file=tmp_path / "absent.toml"))["models"]
    assert found.state == "problem"
    assert "PAPER_TRAIL_MODELS_FILE" in found.text


@pytest.mark.skipif(os.geteuid() == 0, reason="everything can be written by root")
def test_a_folder_that_cannot_be_written_is_a_problem(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o500)
    assert findings(Settings(home=home))["folder"].state == "problem"


@pytest.mark.parametrize(
    ("free", "state"), [(2 * 1024**3, "ok"), (2 * 1024**3 - 1, "warning"), (0, "warning")]
)
def test_little_room_is_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: int, state: str
) -> None:
    usage = shutil.disk_usage(tmp_path)._replace(free=free)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    found = findings(Settings(home=tmp_path))["disk"]
    assert (found.state, found.facts["free_bytes"]) == (state, free)


def test_the_bundled_encoder_is_found_without_loading_it() -> None:
    script = (
        "import sys; from corpus.settings import Settings; from indexer.maintenance.doctor import examine;"
        "assert {f.name: f.state for f in examine(Settings())}['encoder'] == 'ok';"
        "assert not {'torch', 'sentence_transformers'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=120)


def test_local_and_cached_encoders_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings(home=tmp_path, encoder=str(tmp_path))
    assert findings(settings)["encoder"].state == "problem"
    (tmp_path / "modules.json").write_text("[]")
    assert findings(settings)["encoder"].state == "ok"
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    model = tmp_path / "hub" / "models--sentence-transformers--some-model"
    for file, content in (("refs/main", "abc"), ("snapshots/abc/modules.json", "[]")):
        (model / file).parent.mkdir(parents=True)
        (model / file).write_text(content)
    assert findings(Settings(home=tmp_path, encoder="some-model"))["encoder"].state == "ok"


@pytest.mark.parametrize("name", ["/no/such/folder", "two words", "a/b/c", ""])
def test_an_encoder_that_cannot_be_had(tmp_path: Path, name: str) -> None:
    found = findings(Settings(home=tmp_path, encoder=name))["encoder"]
    assert found.state == "problem"
    assert "PAPER_TRAIL_ENCODER" in found.text


@pytest.mark.parametrize(("offline", "state"), [(True, "problem"), (False, "warning")])
def test_an_encoder_of_the_hub(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, offline: bool, state: str
) -> None:
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", offline)
    found = findings(Settings(home=tmp_path, encoder="some-model"))["encoder"]
    assert found.state == state
    assert found.text.startswith("The encoder some-model is not on this machine")


def test_a_server_that_is_ready_still_loads_or_is_not_there(tmp_path: Path) -> None:
    with StandinGrobid(engines=7) as standin:
        found = findings(Settings(home=tmp_path, grobid_url=standin.url))["grobid"]
    assert found.state == "ok"
    assert found.text == f"GROBID 0.9.1 at {standin.url} is ready; it is given 7 papers at once."
    assert (found.facts["version"], found.facts["pool"], found.facts["ready"]) == ("0.9.1", 7, True)
    with StandinGrobid(ready=False) as standin:
        found = findings(Settings(home=tmp_path, grobid_url=standin.url))["grobid"]
    assert (found.state, found.facts["reachable"]) == ("problem", True)
    assert "cannot be used: it is not ready" in found.text
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    found = findings(Settings(home=tmp_path, grobid_url=url))["grobid"]
    assert (found.state, found.facts["reachable"]) == ("problem", False)
    assert "docker compose up" in found.text
    found = findings(Settings(home=tmp_path, grobid_url="http://ada:canary@"))["grobid"]
    assert found.state == "problem"
    assert "canary" not in f"{found}"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"model_url": "http://127.0.0.1:8000/v1"}, "by PAPER_TRAIL_MODEL_URL"),
        ({"TOGETHER_API_KEY": "tgp_canary"}, "by TOGETHER_API_KEY"),
    ],
)
def test_a_model_is_only_said_to_be_set(tmp_path: Path, changes, words: str) -> None:
    found = findings(Settings(home=tmp_path, **changes))["models"]
    assert found.state == "ok"
    assert words in found.text
    assert "canary" not in f"{found}"


def test_it_was_not_said_that_nothing_of_visitors_is_stored_any_more(tmp_path: Path) -> None:
    library = tmp_path / "libraries" / "kept"
    library.mkdir(parents=True)
    (library / "file").write_bytes(bytes(1_950_000))
    found = findings(Settings(home=tmp_path))["visitors"]
    assert found.state == "ok" and found.text.startswith("Visitors' files take 2 MB")
    nearly = findings(Settings(home=tmp_path, files_megabytes_of_all=2))["visitors"]
    assert nearly.state == "warning" and "PAPER_TRAIL_FILES_MEGABYTES_OF_ALL" in nearly.text
    full = findings(Settings(home=tmp_path, free_disk_megabytes=10**12))["visitors"]
    assert full.state == "problem" and "PAPER_TRAIL_FREE_DISK_MEGABYTES" in full.text
