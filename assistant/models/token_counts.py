"""Bytes per token and reading speed of models, learned from their replies."""

import threading
from collections import deque
from collections.abc import Sequence
from statistics import median

from cachetools import LRUCache

from assistant.prompts.material import BYTES_PER_TOKEN
from assistant.records import Message

# Bounds of the bytes per token of papers; beyond them a server has counted only a part of the prompt.
FEWEST, MOST = 2.0, 6.0
# The next prompt may have fewer bytes per token than the recent ones.
MARGIN = 0.9
PROMPTS_KEPT, MODELS_KEPT = 8, 64
# Fewer tokens do not give a reliable speed.
LEAST_READ = 100


class TokenCounts:
    """Token counts and speeds that models have reported, by id. Safe to share between threads."""

    def __init__(self) -> None:
        self._told: LRUCache[str, deque[float]] = LRUCache(MODELS_KEPT)
        self._speeds: LRUCache[str, deque[float]] = LRUCache(MODELS_KEPT)
        self._reading = threading.Lock()

    def learn(self, model: str, messages: Sequence[Message], prompt_tokens: int | None) -> None:
        """Record the token count of a prompt, None if not reported."""
        if not prompt_tokens or prompt_tokens < 0:
            return
        ratio = sum(len(message.content.encode()) for message in messages) / prompt_tokens
        if ratio <= MOST:
            with self._reading:
                self._told.setdefault(model, deque(maxlen=PROMPTS_KEPT)).append(ratio)

    def learn_speed(self, model: str, tokens: int | None, seconds: float | None) -> None:
        """Record the time a model took to read tokens of a prompt, None if not reported."""
        if tokens and seconds and tokens >= LEAST_READ and seconds > 0:
            with self._reading:
                self._speeds.setdefault(model, deque(maxlen=PROMPTS_KEPT)).append(tokens / seconds)

    def tokens_per_second(self, model: str) -> float | None:
        """Return the median reading speed of a model's recent calls, None if it is not known."""
        with self._reading:
            speeds = self._speeds.get(model)
            return median(speeds) if speeds else None

    def bytes_per_token(self, model: str) -> float:
        """Return a low estimate of the bytes per token in a model's next prompt."""
        with self._reading:
            told = min(self._told.get(model, ()), default=None)
        return BYTES_PER_TOKEN if told is None else max(FEWEST, MARGIN * told)
