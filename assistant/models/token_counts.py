"""How many bytes of a prompt a model counts as one token, from what its replies have told."""

import threading
from collections import deque
from collections.abc import Sequence

from cachetools import LRUCache

from assistant.prompts import BYTES_PER_TOKEN
from assistant.records import Message

# No tokenizer makes fewer or more of a prompt of papers. A server that tells more has counted a part of it.
FEWEST, MOST = 2.0, 6.0
# What the next prompt may have fewer than the densest of the last ones.
MARGIN = 0.9
PROMPTS_KEPT, MODELS_KEPT = 8, 64


class TokenCounts:
    """What models have told of their prompts, by their ids. Safe to share between threads."""

    def __init__(self) -> None:
        self._told: LRUCache[str, deque[float]] = LRUCache(MODELS_KEPT)
        self._reading = threading.Lock()

    def learn(self, model: str, messages: Sequence[Message], prompt_tokens: int | None) -> None:
        """Take in how many tokens a model has counted in a prompt, None where it did not say."""
        if not prompt_tokens or prompt_tokens < 0:
            return
        ratio = sum(len(message.content.encode()) for message in messages) / prompt_tokens
        if ratio <= MOST:
            with self._reading:
                self._told.setdefault(model, deque(maxlen=PROMPTS_KEPT)).append(ratio)

    def bytes_per_token(self, model: str) -> float:
        """Return how many bytes of a model's next prompt make a token at least, in all likelihood."""
        with self._reading:
            told = min(self._told.get(model, ()), default=None)
        return BYTES_PER_TOKEN if told is None else max(FEWEST, MARGIN * told)
