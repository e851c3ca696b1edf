"""The product installed as a package, outside its checkout."""

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from subprocess import PIPE, CompletedProcess

import httpx
import pytest

from deployment.requirements import requirements

CLIENT = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}


@dataclass(frozen=True)
class Installed:
    """Packages in a folder of their own, and what commands run with."""

    folder: Path
    environment: dict[str, str]

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, str(self.folder / "bin" / "paper-trail"), *arguments]

    def run(self, *arguments: str, given: str | None = None) -> CompletedProcess[str]:
        return subprocess.run(
            self.command(*arguments),
            cwd=self.folder,
            env=self.environment,
            input=given,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )


@pytest.fixture(scope="module")
def installed(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """Return the product as pip installs it, without what it depends on, which is here already."""
    base = tmp_path_factory.mktemp("installed")
    folder = base / "packages"
    pip = [sys.executable, "-m", "pip", "install", "--no-deps", "--quiet", "--disable-pip-version-check"]
    done = subprocess.run(
        [*pip, "--target", str(folder), str(root)], capture_output=True, text=True, check=False, timeout=600
    )
    if "No matching distribution found for hatchling" in done.stderr:
        pytest.skip("hatchling, which builds the package, cannot be downloaded")
    assert done.returncode == 0, done.stderr
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(base), "PYTHONPATH": str(folder)}
    return Installed(folder, environment)


@pytest.fixture(scope="module")
def demonstration(installed: Installed) -> Path:
    """Return where the demonstration collection is kept, for somebody who sets nothing."""
    assert installed.run("index", "demo").returncode == 0
    return Path(installed.environment["HOME"], ".local", "share", "paper-trail")


def test_papers_are_kept_in_the_users_data_folder(installed: Installed, demonstration: Path) -> None:
    assert (demonstration / "corpus" / "manifest.json").exists()
    assert not (installed.folder / "home").exists()


@pytest.mark.usefixtures("demonstration")
def test_a_question_is_answered_with_citations(installed: Installed) -> None:
    done = installed.run("ask", "What is BM25?", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["sentences"][0]["citations"]


@pytest.mark.usefixtures("demonstration")
def test_programs_are_served_without_a_path_to_the_code(installed: Installed) -> None:
    asked = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": CLIENT}
    done = installed.run("mcp", given=json.dumps(asked) + "\n")
    assert json.loads(done.stdout.splitlines()[0])["result"]["serverInfo"]["name"]


@pytest.fixture
def address(installed: Installed, demonstration: Path) -> Iterator[str]:
    """Start the screens as a user does, and return their address."""
    with closing(socket.create_server(("127.0.0.1", 0))) as probe:
        port = probe.getsockname()[1]
    command = installed.command("app", "--port", str(port))
    with subprocess.Popen(
        command, cwd=demonstration, env=installed.environment, stdout=PIPE, stderr=PIPE
    ) as process:
        yield f"http://127.0.0.1:{port}"
        process.terminate()


def test_the_screens_start_with_the_settings_of_the_product(address: str) -> None:
    def answers() -> bool:
        try:
            return httpx.get(f"{address}/readyz", timeout=30).status_code == 200
        except httpx.TransportError:
            return False

    end = time.monotonic() + 120
    while not answers():
        assert time.monotonic() < end, "the screens do not start"
        time.sleep(0.2)
    upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
    upgrade |= {"Sec-WebSocket-Key": "x3JJHMbDL1EzLkh9GBhXDw==", "Origin": "http://evil.example"}
    refused = httpx.get(f"{address}/_stcore/stream", headers={**upgrade, "Host": "evil.example"})
    assert refused.status_code == 403, "allowedHosts of .streamlit/config.toml is not in force"


def test_requirements_are_those_of_the_package(root: Path) -> None:
    written = (root / "requirements.txt").read_text(encoding="utf-8").splitlines()
    assert [line for line in written if not line.startswith("#")] == requirements(), "run make lock"
