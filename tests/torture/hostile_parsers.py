"""Files that have taken over the process that reads them, and try whatever a process can do."""

import os
import random
import socket
import tempfile
from pathlib import Path

from corpus.sandbox.confinement import offered_confinement
from indexer.errors import ParseError
from indexer.parsers.sandbox import IsolatedProcesses
from tests.hostile_parser import attempt, calls_not_refused, random_calls
from tests.torture.counts import Counts

_CALLS_AT_ONCE = 50
_SECRET = "hostile-parsers-secret"


def hostile_parsers(seed: int, attempts: int) -> Counts:
    """Have confined processes try to read, reach or change what they may not."""
    counts, drawn = Counts("hostile parsers"), random.Random(seed)
    if not offered_confinement():
        return counts
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as server:
        secret = Path(folder, "server.key")
        secret.write_text(_SECRET)
        server.bind(str(Path(folder, "socket")))
        server.listen()
        trial = _Trial(counts, secret, IsolatedProcesses(attempt, 1, seconds=20))
        targets = _targets(secret)
        for _ in range(attempts):
            trial.attempt(*drawn.choice(targets))
        trial.make_calls(drawn, attempts)
        if secret.read_text() != _SECRET or secret.stat().st_mode & 0o077:
            counts.note("corrupted", "a file that no process was given")
    return counts


class _Trial:
    def __init__(self, counts: Counts, secret: Path, parsers: IsolatedProcesses[str]) -> None:
        secret.chmod(0o600)
        self.counts, self.secret, self.parsers = counts, secret, parsers

    def attempt(self, way: str, target: str) -> None:
        self.counts.tried += 1
        try:
            outcome = self.parsers.run(way, target)
        except ParseError:
            self.counts.told += 1
            return
        if outcome == "refused":
            self.counts.told += 1
        else:
            self.counts.note("leaked", f"{way} {target}: {outcome}")

    def make_calls(self, drawn: random.Random, attempts: int) -> None:
        """Make all calls that are listed as refused, then calls by chance with arguments by chance."""
        listed = IsolatedProcesses(calls_not_refused, 1)
        for name, outcome in listed.run().items():
            self.counts.note("leaked", f"the system call {name}: {outcome}")
        listed.close()
        callers = IsolatedProcesses(random_calls, 1, seconds=5, patience=2)
        for _ in range(max(1, attempts // 10)):
            self.counts.tried += 1
            try:
                callers.run(drawn.randrange(2**32), _CALLS_AT_ONCE, str(self.secret))
            except ParseError:
                # Such a process mostly ends itself.
                self.counts.told += 1
        callers.close()
        self.parsers.close()


def _targets(secret: Path) -> list[tuple[str, str]]:
    process, unix_socket = str(os.getpid()), str(secret.with_name("socket"))
    return [
        *((way, str(secret)) for way in ("read_file", "write_file", "change_mode", "cut_off")),
        *((way, "/etc/passwd") for way in ("read_file", "list_folder")),
        *((way, str(secret.parent)) for way in ("list_folder", "leave_daemon")),
        *((way, process) for way in ("read_environment", "read_memory", "copy_memory")),
        *((way, process) for way in ("take_descriptor", "attach", "send_signal")),
        *((way, unix_socket) for way in ("connect_to_unix_socket", "connect_half_of_pair")),
        *((way, "") for way in ("leave_session", "raise_limit", "overwrite_reply")),
        *((way, "9") for way in ("connect", "connect_from_thread", "send_datagram")),
    ]
