"""Signing in at an identity provider, where the operator has set one up."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import opening, serving, settled
from tests.standin_chat import StandinChat
from tests.standin_oidc import CLIENT, SECRET, StandinProvider

OpenPage = Callable[..., Any]
ADA = {"sub": "ada-1", "name": "Ada ![x](http://203.0.113.9/a.png)", "email": "ada@example.org"}


@pytest.fixture
def provider() -> Iterator[StandinProvider]:
    with StandinProvider(ADA) as server:
        yield server


@pytest.fixture
def guarded(
    demo_home: Path,
    model: StandinChat,
    provider: StandinProvider,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[str]:
    """Start the app with a provider in its secrets, on a home of its own; return its address."""
    home = tmp_path_factory.mktemp("guarded")
    # Without what is remembered of signing in, which is not for the tests that share the demonstration.
    for part in ("corpus", "pdf", "encoder"):
        (home / part).symlink_to(demo_home / part)

    def secrets(address: str) -> str:
        return (
            f'[auth]\nredirect_uri = "{address}/oauth2callback"\ncookie_secret = "{"c" * 40}"\n'
            f'client_id = "{CLIENT}"\nclient_secret = "{SECRET}"\n'
            f'server_metadata_url = "{provider.address}/.well-known/openid-configuration"\n'
        )

    with serving(home, model.url, tmp_path_factory, secrets=secrets) as address:
        yield address


def test_papers_are_read_after_signing_in(chromium: Any, guarded: str, provider: StandinProvider) -> None:
    with opening(chromium, guarded) as open_page:
        page = open_page("/ask")
        assert page.get_by_text("Sign in to read").is_visible()
        assert page.get_by_test_id("stChatInputTextArea").count() == 0
        provider.person = None
        _sign_in(page)
        page.get_by_text("Sign in to read").wait_for()
        provider.person = ADA
        _sign_in(page)
        page.get_by_role("link", name="Collection").first.wait_for()
        page.get_by_role("link", name="About").first.click()
        page.get_by_text("Signed in as Ada").wait_for()
        assert page.locator("img[src*='203.0.113']").count() == 0
        page.get_by_role("button", name="Sign out").click()
        page.get_by_text("Sign in to read").wait_for()


def _sign_in(page: Any) -> None:
    """Go to the provider and come back from it, with a person or without."""
    settled(page)
    with page.expect_response(lambda reply: "/oauth2callback" in reply.url):
        page.get_by_role("button", name="Sign in", exact=True).click()
    page.wait_for_load_state()
    settled(page)
