"""Headers, score bars, and what a failed screen says."""

import re
from typing import Any

import pytest
from starlette.types import Message

from explorer.parts.owner import OWNER_COOKIE, is_token, new_token, owner_of
from explorer.parts.score_bar import meaning, overlap_bar, score_bars, support_bar
from explorer.parts.style import STYLE
from explorer.security import OwnerCookie, SecurityHeaders, content_security_policy


def reply_of(guard: type[SecurityHeaders | OwnerCookie], request: dict[str, Any]) -> dict[str, str]:
    """Return the headers of a reply that passes through a middleware."""
    sent: list[Message] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {"type": "http.request"}

    # Driven by hand: where Playwright runs in the same process, an event loop is running already.
    with pytest.raises(StopIteration):
        guard(app)(request, receive, send).send(None)
    return {name.decode(): value.decode() for name, value in sent[0]["headers"]}


def test_every_reply_carries_the_policy() -> None:
    headers = reply_of(SecurityHeaders, {"type": "http"})
    assert headers["content-security-policy"] == content_security_policy()
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"


def cookie_of_reply(scheme: str = "http", **headers: str) -> str:
    request: dict[str, Any] = {
        "type": "http",
        "scheme": scheme,
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }
    return reply_of(OwnerCookie, request).get("set-cookie", "")


def test_a_browser_gets_a_token_with_its_first_page() -> None:
    cookie = cookie_of_reply(accept="text/html,*/*")
    value, *attributes = cookie.removeprefix(f"{OWNER_COOKIE}=").split("; ")
    assert is_token(value)
    assert {"HttpOnly", "SameSite=Lax", "Path=/"} <= set(attributes)
    assert "Secure" not in attributes
    assert cookie_of_reply(accept="text/html") != cookie
    assert cookie_of_reply(accept="text/html", cookie=f"a=b; {OWNER_COOKIE}={value}") == ""
    assert cookie_of_reply("https", accept="text/html").endswith("; Secure")


@pytest.mark.parametrize("value", ["", "short", "x" * 44, "../../../../../../../../../../../../../../etc/pa"])
def test_a_cookie_that_was_not_given_out_here_is_replaced_and_owns_nothing(value: str) -> None:
    assert cookie_of_reply(accept="text/html", cookie=f"{OWNER_COOKIE}={value}")
    assert owner_of(value) == ""


def test_what_a_page_loads_brings_no_token() -> None:
    assert cookie_of_reply(accept="*/*") == ""
    assert cookie_of_reply() == ""


def test_an_owner_is_told_by_the_token_but_does_not_tell_it() -> None:
    first, second = new_token(), new_token()
    assert owner_of(first) == owner_of(first) != owner_of(second)
    assert first not in owner_of(first)
    assert len(owner_of(first)) <= 255


def test_the_policy_lets_no_foreign_host_and_no_inline_script_in() -> None:
    scripts = re.search(r"script-src ([^;]*)", content_security_policy())
    assert scripts is not None
    assert "unsafe-inline" not in scripts[1]
    assert "'unsafe-eval'" not in scripts[1]
    assert "sha256-" in scripts[1]
    assert "http" not in content_security_policy()


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
    bar = overlap_bar(score)
    number, word = shown.split()
    assert shown in bar
    assert f'aria-label="Overlap with the passage: {number}, {word}"' in bar
    assert f"pt-{word}" in bar


def test_the_words_under_the_bars_name_all_three_levels_and_what_is_measured() -> None:
    assert "weak below 0.30, partial below 0.65, strong from there on" in meaning()
    assert "of the passage, not of the marked sentence alone" in meaning()


def test_a_score_that_was_not_measured_is_never_a_zero() -> None:
    assert "no score" in score_bars(0.5, None)
    assert "0.00" not in score_bars(0.5, None)
    assert 'aria-label="Support: 0.91, strong"' in score_bars(0.5, 0.91)


def test_bars_are_built_from_numbers_and_our_words() -> None:
    assert re.fullmatch(r'[\w\s<>/="\-:.,%]*', overlap_bar(0.5))


def test_the_style_loads_nothing() -> None:
    assert "url(" not in STYLE
    assert "@import" not in STYLE
