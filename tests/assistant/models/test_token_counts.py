"""The bytes of a model's token, learned from its replies."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from assistant.models.token_counts import TokenCounts
from assistant.records import Message

PROMPT = (Message("system", "s" * 1_000), Message("user", "é" * 1_500))  # 4,000 bytes


def learned(*tokens: int | None) -> float:
    counts = TokenCounts()
    for token in tokens:
        counts.learn("m", PROMPT, token)
    return counts.bytes_per_token("m")


@pytest.mark.parametrize(
    ("tokens", "bytes_per_token"),
    [
        ((), 3.0),
        ((1_000,), 3.6),
        ((800, 1_000, 900), 3.6),
        ((800,), 4.5),
        ((2_500,), 2.0),
    ],
)
def test_the_densest_of_the_last_prompts_tells_with_a_margin(tokens, bytes_per_token):
    assert learned(*tokens) == pytest.approx(bytes_per_token)


@pytest.mark.parametrize("tokens", [None, 0, -5, 11, 600])
def test_a_count_of_no_prompt_or_of_a_part_of_it_tells_nothing(tokens):
    assert learned(tokens) == 3.0
    assert learned(1_000, tokens) == pytest.approx(3.6)


def test_only_the_last_prompts_count_and_every_model_for_itself():
    assert learned(2_000, *[1_000] * 8) == pytest.approx(3.6)
    counts = TokenCounts()
    counts.learn("m", PROMPT, 1_000)
    assert counts.bytes_per_token("another") == 3.0


def test_models_without_end_take_no_memory_without_end():
    counts = TokenCounts()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: counts.learn(f"m{number}", PROMPT, 1_000), range(1_000)))
    known = sum(counts.bytes_per_token(f"m{number}") > 3.0 for number in range(1_000))
    assert 0 < known <= 64
