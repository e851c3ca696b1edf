"""Headers, score bars, and what a failed screen says."""

import re
from typing import Any

import pytest
from starlette.types import Message

from explorer.parts.score_bar import meaning, overlap_bar, score_bars
from explorer.parts.style import STYLE
from explorer.security import SecurityHeaders, content_security_policy


def headers_of_reply() -> dict[str, str]:
    sent: list[Message] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {"type": "http.request"}

    # Driven by hand: where Playwright runs in the same process, an event loop is running already.
    with pytest.raises(StopIteration):
        SecurityHeaders(app)({"type": "http"}, receive, send).send(None)
    return {name.decode(): value.decode() for name, value in sent[0]["headers"]}


def test_every_reply_carries_the_policy() -> None:
    headers = headers_of_reply()
    assert headers["content-security-policy"] == content_security_policy()
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"


def test_the_policy_lets_no_foreign_host_and_no_inline_script_in() -> None:
    scripts = re.search(r"script-src ([^;]*)", content_security_policy())
    assert scripts is not None
    assert "unsafe-inline" not in scripts[1]
    assert "'unsafe-eval'" not in scripts[1]
    assert "sha256-" in scripts[1]
    assert "http" not in content_security_policy()


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
    assert "Support" not in score_bars(0.5, None)
    assert "0.00" not in score_bars(0.5, None)
    assert 'aria-label="Support: 0.91, strong"' in score_bars(0.5, 0.91)


def test_bars_are_built_from_numbers_and_our_words() -> None:
    assert re.fullmatch(r'[\w\s<>/="\-:.,%]*', overlap_bar(0.5))


def test_the_style_loads_nothing() -> None:
    assert "url(" not in STYLE
    assert "@import" not in STYLE
