"""A PostgreSQL server of the tests' own, from what the system has installed; each test has a database."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from pwd import getpwall
from typing import Any

import sqlalchemy as sa

from deployment.site import free_ports

_NEWEST_FIRST = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
_ON_PATH = [Path(found).parent for found in [shutil.which("initdb")] if found]
# Where the programs of a server are, None where none is installed.
PROGRAMS = next(iter([*_NEWEST_FIRST, *_ON_PATH]), None)
# Durability is not under test, and costs a second for each database.
_CONFIGURATION = """
fsync = off
full_page_writes = off
synchronous_commit = off
max_connections = 60
"""


@dataclass(frozen=True, slots=True)
class PostgresServer:
    """A server that runs, at a port of its own."""

    folder: Path
    port: int
    _numbers: Any

    def url(self, database: str = "postgres", user: str = "tester", password: str = "secret") -> str:
        return f"postgresql://{user}:{password}@127.0.0.1:{self.port}/{database}"

    def new_database(self) -> str:
        """Return the URL of a new, empty database."""
        name = f"test_{next(self._numbers)}"
        self.run(f"CREATE DATABASE {name}")
        return self.url(name)

    def run(self, statement: str, database: str = "postgres") -> list[tuple[Any, ...]]:
        """Run a statement outside of transactions, as the administrator; return its rows."""
        url = sa.make_url(self.url(database)).set(drivername="postgresql+pg8000")
        engine = sa.create_engine(url, isolation_level="AUTOCOMMIT")
        try:
            with engine.connect() as connection:
                result = connection.exec_driver_sql(statement)
                return [tuple(row) for row in result] if result.returns_rows else []
        finally:
            engine.dispose()

    def stop(self) -> None:
        self._control("stop", "-m", "fast")

    def start(self) -> None:
        log = str(self.folder / "log")
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={self.folder}"
        self._control("start", "-l", log, "-o", options)

    def _control(self, *arguments: str) -> None:
        call("pg_ctl", "-D", str(self.folder / "data"), "-w", *arguments)


@contextmanager
def postgres_server() -> Iterator[PostgresServer]:
    """Run a server in a folder of its own, as a user that is not root: PostgreSQL refuses to be."""
    # Not below pytest's folders, which other users may not enter.
    with tempfile.TemporaryDirectory(prefix="paper-trail-postgres-") as name:
        folder = Path(name)
        if user := _user():
            shutil.chown(folder, user)
        secret = folder / "secret"
        secret.write_text("secret")
        secret.chmod(0o644)
        data = folder / "data"
        call("initdb", "-D", str(data), "-U", "tester", "-A", "scram-sha-256", f"--pwfile={secret}", "-N")
        with (data / "postgresql.conf").open("a") as configuration:
            configuration.write(_CONFIGURATION)
        server = PostgresServer(folder, free_ports(1)[0], count(1))
        server.start()
        try:
            yield server
        finally:
            server.stop()


def call(program: str, *arguments: str) -> None:
    assert PROGRAMS, "no PostgreSQL server is installed"
    # Not a pipe: the server, which outlives pg_ctl, would hold it open.
    with tempfile.TemporaryFile() as output:
        done = subprocess.run(
            [PROGRAMS / program, *arguments],
            stdout=output,
            stderr=output,
            user=_user(),
            cwd="/",
            check=False,
        )
        output.seek(0)
        assert done.returncode == 0, output.read().decode()


def _user() -> str | None:
    """Return who runs the server where these tests are run by root, None where they are not."""
    if os.geteuid() != 0:
        return None
    names = {user.pw_name for user in getpwall()}
    return "postgres" if "postgres" in names else "nobody"
