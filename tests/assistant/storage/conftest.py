from contextlib import ExitStack, closing

import pytest

from tests.postgres_server import PROGRAMS, postgres_server


def pytest_generate_tests(metafunc):
    """Run what uses a store on SQLite and on PostgreSQL; what looks into SQLite's file, on that alone."""
    if "backend" in metafunc.fixturenames:
        backends = ["sqlite"] if "path" in metafunc.fixturenames else ["sqlite", "postgresql"]
        metafunc.parametrize("backend", backends)


@pytest.fixture(scope="session")
def postgres():
    if not PROGRAMS:
        pytest.skip("no PostgreSQL server is installed: apt-get install postgresql")
    with postgres_server() as server:
        yield server


@pytest.fixture
def path(tmp_path):
    return tmp_path / "home" / "conversations.sqlite"


@pytest.fixture
def url(request, backend, tmp_path):
    """Return where a database is that has no tables yet."""
    if backend == "sqlite":
        return tmp_path / "home" / "conversations.sqlite"
    return request.getfixturevalue("postgres").new_database()


@pytest.fixture
def reopened(request, url):
    """Yield a function that opens another `STORE` of the module at the same place."""
    with ExitStack() as stack:
        yield lambda: stack.enter_context(closing(request.module.STORE(url)))


@pytest.fixture
def store(reopened):
    return reopened()
