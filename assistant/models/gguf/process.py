"""A GGUF file run by llama.cpp in a process of its own, which ends with this one."""

import contextlib
import os
import secrets
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from queue import Empty, Queue
from weakref import finalize

from assistant.models.gguf.offers import free_memory, needs_of
from assistant.models.protocol import (
    Completion,
    Enough,
    Exchange,
    ModelError,
    ModelUnavailableError,
    OnPiece,
    Schema,
)
from assistant.models.together import Patience, TogetherModel
from assistant.records import Message, Parameters

# Tokens that it takes in, prompt and reply together.
CONTEXT = 8192
LOADS_WITHIN_SECONDS = 300.0
# A process that ends while it is in use is restarted once.
MOST_STARTS = 2
_LOOK_SECONDS = 0.2
_KEY = "PAPER_TRAIL_LLAMA_KEY"  # as server.py reads it, which cannot be imported without xllamacpp


class LlamaModel:
    """A GGUF file as a chat model; its process starts at the first call.

    Calls raise ModelError if llama.cpp is not installed, memory is short, or the file cannot be run.
    """

    def __init__(self, file: Path, label: str, context: int = CONTEXT, command: Sequence[str] = ()) -> None:
        self.id = str(file)
        self.label = label
        self._file = file
        self._context = context
        self._command = command or (sys.executable, "-m", "assistant.models.gguf.server")
        self._starting = threading.Lock()
        self._process: _Process | None = None
        self._starts = 0

    def stream(
        self, messages: Sequence[Message], parameters: Parameters, enough: Enough | None = None
    ) -> Generator[str, None, Completion]:
        served = self._served()
        try:
            completion = yield from served.stream(messages, parameters, enough)
        except ModelUnavailableError as error:
            raise self._explained(error) from None
        return completion

    def reply(
        self,
        messages: Sequence[Message],
        parameters: Parameters,
        schema: type[Schema],
        on_exchange: Callable[[Exchange], None] | None = None,
        on_piece: OnPiece | None = None,
    ) -> Schema:
        served = self._served()
        try:
            return served.reply(messages, parameters, schema, on_exchange, on_piece)
        except ModelUnavailableError as error:
            raise self._explained(error) from None

    def close(self) -> None:
        """End its process."""
        with self._starting:
            if self._process:
                self._process.end()
                self._process = None

    def _served(self) -> TogetherModel:
        """Return the model of its process, started if need be; raises ModelError."""
        with self._starting:
            if self._process and self._process.is_alive:
                return self._process.model
            if self._starts >= MOST_STARTS:
                raise ModelError(
                    f"{self.label} ended {self._starts} times while it was asked, and is not started again "
                    "before Paper Trail is. Choose another writer, or fetch its weights again."
                )
            self._starts += 1
            self._process = _Process(self._file, self.label, self._context, self._command)
            return self._process.model

    def _explained(self, error: ModelUnavailableError) -> ModelError:
        """Return the error, or one that says that the process has ended."""
        if self._process is None or self._process.is_alive:
            return error
        return ModelUnavailableError(
            f"{self.label} has ended ({self._process.exit_reason}). It is started again when it is asked."
        )


class _Process:
    """A started llama.cpp server, and the model at its address; raises ModelError if it does not start."""

    def __init__(self, file: Path, label: str, context: int, command: Sequence[str]) -> None:
        if find_spec("xllamacpp") is None and command[-1] == "assistant.models.gguf.server":
            raise ModelError("GGUF files need llama.cpp: pip install 'paper-trail[local]'.")
        needs = needs_of(file)
        free = free_memory()
        if free is not None and needs.memory > free:
            raise ModelError(
                f"{label} needs {needs}, and {free / 1e9:.1f} GB are free. Choose a smaller model."
            )
        key = secrets.token_urlsafe(32)
        environment = {name: value for name, value in os.environ.items() if "KEY" not in name}
        self._process = subprocess.Popen(  # noqa: S603 - our own program
            [*command, str(file), str(context), str(needs.threads)],
            env={**environment, _KEY: key},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self.end = finalize(self, partial(_end, self._process))
        address = self._address(label)
        self.model = TogetherModel(
            str(file),
            label,
            api_key=key,
            base_url=address,
            patience=Patience(LOADS_WITHIN_SECONDS, LOADS_WITHIN_SECONDS),
            structured=True,
        )

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    @property
    def exit_reason(self) -> str:
        return f"exit code {self._process.poll()}"

    def _address(self, label: str) -> str:
        """Return the address that the process prints when its weights are loaded; raises ModelError."""
        lines: Queue[bytes] = Queue()
        assert self._process.stdout is not None
        # If nothing is printed, the thread ends with the process.
        threading.Thread(
            target=lambda out: lines.put(out.readline()), args=(self._process.stdout,), daemon=True
        ).start()
        deadline = time.monotonic() + LOADS_WITHIN_SECONDS
        line = b""
        while not line and self.is_alive and time.monotonic() < deadline:
            with contextlib.suppress(Empty):
                line = lines.get(timeout=_LOOK_SECONDS)
                if not line:
                    self._process.wait(_LOOK_SECONDS * 50)
        if line.startswith(b"http://127.0.0.1:"):
            return line.decode().strip()
        self.end()
        raise ModelError(
            f"{label} cannot be run: llama.cpp does not take its weights ({self.exit_reason}). They may be "
            "incomplete, or of a kind that it does not know. Fetch them again, or choose another model."
        )


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Kill a process, which has no state to save."""
    if process.stdin:
        process.stdin.close()
    process.kill()
    process.wait()
    if process.stdout:
        process.stdout.close()
