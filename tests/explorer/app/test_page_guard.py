"""Headers, score bars, and what a failed screen says."""

import hashlib
import re
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.types import ASGIApp
from streamlit import net_util

from explorer.app.navigation import DARK_STYLE, STYLE
from explorer.app.owner import HOST_COOKIE, OWNER_COOKIE, OwnerTokens, owner_of, server_key
from explorer.app.resources import Library, owner_tokens
from explorer.app.security import HSTS, OwnerCookie, SameOrigin, SecurityHeaders, content_security_policy
from explorer.components.score_bar import meaning, score_bars, support_bar
from tests.explorer.app.asgi import replied

STAYS_HTTPS = "strict-transport-security"


def reply_of(
    guard: Callable[[ASGIApp], ASGIApp], headers: dict[str, str] | None = None, **scope: Any
) -> dict[str, str]:
    """Return the headers of a reply that passes through a middleware."""
    start = replied(guard, headers or {}, **scope)[0]
    return {name.decode(): value.decode() for name, value in start["headers"]}


def test_every_reply_carries_a_policy_that_lets_no_foreign_host_and_no_inline_script_in() -> None:
    headers = reply_of(SecurityHeaders)
    assert headers["content-security-policy"] == content_security_policy()
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    scripts = re.search(r"script-src ([^;]*)", content_security_policy())
    assert scripts is not None
    assert "unsafe-inline" not in scripts[1]
    assert "'unsafe-eval'" not in scripts[1]
    assert "sha256-" in scripts[1]
    assert "http" not in content_security_policy()
    assert replied(SameOrigin, {"host": "a.example"}, type="websocket")[0]["type"] != "websocket.close"
    for sheet in (STYLE, DARK_STYLE):
        assert not re.search(r"url\(|@import", sheet.read_text(encoding="utf-8"))


def cookie_of_reply(scheme: str = "http", *, client: str = "203.0.113.7", **headers: str) -> str:
    return reply_of(OwnerCookie, headers, scheme=scheme, client=(client, 1234)).get("set-cookie", "")


def test_a_browser_gets_a_token_with_its_first_page_that_tells_its_owner(home: Path) -> None:
    cookie = cookie_of_reply(accept="text/html,*/*")
    value, *attributes = cookie.removeprefix(f"{OWNER_COOKIE}=").split("; ")
    assert owner_tokens().of({OWNER_COOKIE: value}, is_https=False) == value
    assert {"HttpOnly", "SameSite=Lax", "Path=/"} <= set(attributes)
    assert "Secure" not in attributes
    assert cookie_of_reply(accept="text/html") != cookie
    assert cookie_of_reply(accept="text/html", cookie=f"a=b; {OWNER_COOKIE}={value}") == ""
    assert cookie_of_reply(accept="*/*") == ""
    assert cookie_of_reply() == ""
    first, second = owner_tokens().new(), owner_tokens().new()
    assert owner_of(first) == owner_of(first) != owner_of(second)
    assert first not in owner_of(first)
    assert len(owner_of(first)) <= 255


def test_over_https_the_cookie_is_of_this_host_alone(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAPER_TRAIL_TRUSTED_PROXIES", "10.0.0.0/8, fd00::/8")
    proxied = {"accept": "text/html", "x_forwarded_proto": "https"}
    for cookie in (
        cookie_of_reply("https", accept="text/html"),
        cookie_of_reply(client="10.1.2.3", **proxied),
    ):
        assert cookie.startswith(f"{HOST_COOKIE}=") and cookie.endswith("; Secure")
    claimed = cookie_of_reply(client="203.0.113.7", **proxied)
    assert claimed.startswith(f"{OWNER_COOKIE}="), "anyone may claim to come by HTTPS"
    value = cookie.partition(";")[0].partition("=")[2]
    assert cookie_of_reply("https", accept="text/html", cookie=f"{HOST_COOKIE}={value}") == ""
    assert owner_tokens().of({HOST_COOKIE: value}, is_https=True) == value


def test_fault_a_cookie_that_a_sibling_host_had_set_became_the_visitor_s_own(library: Library) -> None:
    planted = owner_tokens().new()
    library.conversations().start(owner_of(planted), "Of who planted it")
    cookies = {OWNER_COOKIE: planted}
    given = cookie_of_reply("https", accept="text/html", cookie=f"{OWNER_COOKIE}={planted}")
    assert given.startswith(f"{HOST_COOKIE}=") and planted not in given
    assert owner_tokens().of(cookies, is_https=True) == ""
    assert owner_tokens().of(cookies, is_https=False) == planted
    assert owner_tokens().has_stored_over_http(cookies)
    assert not owner_tokens().has_stored_over_http({OWNER_COOKIE: owner_tokens().new()})


def test_fault_over_https_browsers_were_not_told_to_stay_there(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PAPER_TRAIL_TRUSTED_PROXIES", "10.0.0.0/8")
    by_proxy = {"x_forwarded_proto": "https"}
    assert reply_of(SecurityHeaders, scheme="https")[STAYS_HTTPS] == HSTS
    assert reply_of(SecurityHeaders, by_proxy, scheme="http", client=("10.1.2.3", 1))[STAYS_HTTPS] == HSTS
    for headers, client in (({}, "10.1.2.3"), (by_proxy, "203.0.113.7")):
        assert STAYS_HTTPS not in reply_of(SecurityHeaders, headers, scheme="http", client=(client, 1))


@pytest.mark.parametrize(
    "value",
    [
        "",
        "short",
        "x" * 44,
        "../../../../../../../../../../../../../../etc/pa",
        "x" * 43,
        f"{'x' * 43}.{'0' * 64}",
    ],
)
def test_an_invented_cookie_is_replaced_and_owns_nothing(home: Path, value: str) -> None:
    """Each invented one had a limit of its own: 2,000 questions went through a limit of 20."""
    assert cookie_of_reply(accept="text/html", cookie=f"{OWNER_COOKIE}={value}")
    assert owner_tokens().of({OWNER_COOKIE: value}, is_https=False) == ""
    assert owner_of("") == ""


def test_a_cookie_from_before_signatures_keeps_what_its_browser_has_stored(library: Library) -> None:
    old = secrets.token_urlsafe(32)
    owner = f"browser-{hashlib.sha256(old.encode()).hexdigest()}"
    assert owner_tokens().of({OWNER_COOKIE: old}, is_https=False) == ""
    library.conversations().start(owner, "Before")
    signed = owner_tokens().of({OWNER_COOKIE: old}, is_https=False)
    assert owner_of(signed) == owner and signed.startswith(f"{old}.")
    cookie = cookie_of_reply(accept="text/html", cookie=f"{OWNER_COOKIE}={old}")
    assert cookie.startswith(f"{OWNER_COOKIE}={signed};"), "from now on it is signed"


def test_who_lost_the_key_loses_no_conversation(library: Library, tmp_path: Path) -> None:
    value = owner_tokens().new()
    library.conversations().start(owner_of(value), "Before")
    others = OwnerTokens(server_key(tmp_path / "another.key"), lambda owner: owner == owner_of(value))
    assert owner_of(others.of({OWNER_COOKIE: value}, is_https=False)) == owner_of(value)
    assert others.of({OWNER_COOKIE: owner_tokens().new()}, is_https=False) == ""


def test_the_key_is_kept_for_its_owner_alone_and_is_made_once(tmp_path: Path) -> None:
    path = tmp_path / "home" / "server.key"
    key = server_key(path)
    assert path.stat().st_mode & 0o777 == 0o600 and path.read_bytes() == key
    server_key.cache_clear()
    assert server_key(path) == key
    path.write_bytes(b"torn")
    server_key.cache_clear()
    assert server_key(path) == path.read_bytes() != key
    assert [part.name for part in path.parent.iterdir()] == ["server.key"]


@pytest.mark.parametrize(
    ("origin", "is_open"),
    [
        ("http://papers.example.org:8501", True),
        ("https://Papers.example.org:8501", True),
        ("http://papers.example.org:9000", False),
        ("http://papers.example.org", False),
        ("http://evil.example", False),
        ("http://127.0.0.1:8501", False),
        ("http://papers.example.org:8501@evil.example", False),
        ("null", False),
        ("", False),
        ("https://intranet.example.org", True),
        ("https://intranet.example.org:444", False),
    ],
)
def test_fault_a_page_of_another_port_could_connect_and_one_of_another_host_held_the_event_loop(
    monkeypatch: pytest.MonkeyPatch, origin: str, is_open: bool
) -> None:
    monkeypatch.setattr("explorer.app.security.allowlisted_origins", lambda: {"https://intranet.example.org"})
    headers = {"host": "papers.example.org:8501", "origin": origin}
    passed = replied(SameOrigin, headers, type="websocket")
    assert (passed[0]["type"] != "websocket.close") == is_open
    assert net_util.get_external_ip() is not None, "Streamlit would ask a public server for it"


@pytest.mark.parametrize(("score", "word"), [(0.349, "weak"), (0.35, "partial"), (0.65, "strong")])
def test_support_has_levels_of_its_own(score: float, word: str) -> None:
    assert f"{word}</span>" in support_bar(score)


@pytest.mark.parametrize(
    ("score", "shown"),
    [
        (0.0, "0.00 weak"),
        (0.299, "0.29 weak"),
        (0.3, "0.30 partial"),
        (0.65, "0.65 strong"),
        (1.0, "1.00 strong"),
    ],
)
def test_bars_say_number_and_word(score: float, shown: str) -> None:
    bar = score_bars(score, None)
    number, word = shown.split()
    assert shown in bar
    assert f'aria-label="Overlap with the passage: {number}, {word}"' in bar
    assert f"pt-{word}" in bar


def test_bars_say_what_is_measured_and_never_a_zero_for_what_is_not() -> None:
    assert "weak below 0.30, partial below 0.65, strong from there on" in meaning()
    assert "of the passage, not of the marked sentence alone" in meaning()
    assert "no score" in score_bars(0.5, None)
    assert "0.00" not in score_bars(0.5, None)
    assert score_bars(None, None).count("no score") == 2 and "0.00" not in score_bars(None, None)
    assert 'aria-label="Support: 0.91, strong"' in score_bars(0.5, 0.91)
    assert re.fullmatch(r'[\w\s<>/="\-:.,%]*', score_bars(0.5, 0.91))
