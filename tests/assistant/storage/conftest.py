from contextlib import ExitStack, closing

import pytest


@pytest.fixture
def path(tmp_path):
    return tmp_path / "home" / "conversations.sqlite"


@pytest.fixture
def reopened(request, path):
    """Return what opens another `STORE` of the module at the same place."""
    with ExitStack() as stack:
        yield lambda: stack.enter_context(closing(request.module.STORE(path)))


@pytest.fixture
def store(reopened):
    return reopened()
