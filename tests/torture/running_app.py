"""The real app in a process of its own, which is killed and started again at the same place."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from deployment.site import free_ports
from tests.demo_home import PROJECT
from tests.served_site import is_ready, until

KEY = "torture-0123456789abcdef"
# States of a comparison that is not finished.
PENDING = ("waiting", "running", "stopping")


@dataclass
class RunningApp:
    """An app on a home, with the settings of its environment; its log goes into `folder`."""

    home: Path
    folder: Path
    port: int
    settings: dict[str, str]
    process: "subprocess.Popen[bytes] | None" = None

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def database(self) -> str:
        return self.settings["PAPER_TRAIL_CONVERSATIONS"]

    @property
    def log(self) -> Path:
        return self.folder / "app.log"

    def start(self) -> None:
        """Return when the app says that it can answer."""
        command = [sys.executable, "-m", "streamlit", "run", "streamlit_app.py"]
        options = [f"--server.port={self.port}", "--server.address=127.0.0.1"]
        with self.log.open("ab") as log:
            environment = {**os.environ, **self.settings}
            self.process = subprocess.Popen(
                [*command, *options], cwd=PROJECT, env=environment, stdout=log, stderr=log
            )
        until(lambda: is_ready(self.address))

    def kill(self) -> None:
        if self.process:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()

    def api(self, seconds: float = 120.0) -> httpx.Client:
        """Return a program's client, with a key of this app."""
        headers = {"authorization": f"Bearer {KEY}"}
        return httpx.Client(base_url=f"{self.address}/api/v1", headers=headers, timeout=seconds)


@contextmanager
def running_app(home: Path, folder: Path, **settings: str) -> Iterator[RunningApp]:
    """Run the app until the end of the block, with a database in the folder and nothing limited."""
    (port,) = free_ports(1)
    usual = {
        "PAPER_TRAIL_HOME": str(home),
        "PAPER_TRAIL_CONVERSATIONS": f"sqlite:///{folder / 'conversations.sqlite'}",
        "PAPER_TRAIL_API_KEYS": f"torture:{KEY}:0",
    }
    app = RunningApp(home, folder, port, {**usual, **settings})
    app.start()
    try:
        yield app
    finally:
        app.kill()


def with_model(folder: Path, url: str) -> dict[str, str]:
    """Return the settings of an app that has the model "standin" at an address."""
    models = folder / "models.toml"
    models.write_text('[[models]]\nid = "standin"\nlabel = "Stand-in"\ncontext = 32768\n')
    return {"PAPER_TRAIL_MODEL_URL": url, "PAPER_TRAIL_MODELS_FILE": str(models)}
