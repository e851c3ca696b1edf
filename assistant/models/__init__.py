"""Chat models: the protocol, one file per way of reaching a model, and the list of what can be chosen."""

from assistant.models.limits import CallLimits
from assistant.models.menu import (
    HOSTED_TIMEOUT,
    OWN_TIMEOUT,
    PROVIDERS,
    ModelEntry,
    available_models,
    call_limits,
    describe_setup,
    is_mute,
    load_models,
    open_model,
    receiver,
    replacement,
)
from assistant.models.metered import MeteredModel, OnCost, can_be_counted, is_paid
from assistant.models.gguf.offers import Offer, fetch, needs_of, offer_named, offers
from assistant.models.protocol import (
    BadReplyError,
    ChatModel,
    Completion,
    Enough,
    Exchange,
    ModelError,
    ModelUnavailableError,
    OnPiece,
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
    "HOSTED_TIMEOUT", "OWN_TIMEOUT", "PROVIDERS", "BadReplyError", "CallLimits", "ChatModel", "Complete",
    "Completion", "Enough", "Exchange", "MeteredModel", "ModelEntry", "ModelError", "ModelUnavailableError",
    "Offer", "OnCost", "OnPiece", "Schema", "TokenCounts", "available_models", "bad_reply", "call_limits",
    "can_be_counted", "complaint", "describe_setup", "fetch", "is_mute", "is_paid", "load_models", "needs_of",
    "offer_named", "offers", "open_model", "read_reply", "receiver", "replacement", "reply_problem",
    "typed_reply", "whole", "with_schema"
]  # fmt: skip
