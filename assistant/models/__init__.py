"""Chat models: the protocol, one file per way of reaching a model, and the list of what can be chosen."""

from assistant.models.menu import ModelEntry, available_models, load_models, open_model, receiver
from assistant.models.protocol import (
    BadReplyError,
    ChatModel,
    Completion,
    Exchange,
    ModelError,
    Schema,
    whole,
)
from assistant.models.token_counts import TokenCounts
from assistant.models.typed import (
    Complete,
    bad_reply,
    complaint,
    read_reply,
    reply_problem,
    typed_reply,
    with_schema,
)

__all__ = [
    "BadReplyError", "ChatModel", "Complete", "Completion", "Exchange", "ModelEntry", "ModelError",
    "Schema", "TokenCounts", "available_models", "bad_reply", "complaint", "load_models", "open_model",
    "read_reply", "receiver", "reply_problem", "typed_reply", "whole", "with_schema"
]  # fmt: skip
