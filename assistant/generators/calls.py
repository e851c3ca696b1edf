"""The record of one exchange with a model, as trails keep it."""

from collections.abc import Callable

from assistant.models.protocol import Exchange
from assistant.records import Call, Parameters, Step

# Prompt and completion tokens of a call in, its price in US dollars out.
Price = Callable[[int | None, int | None], float | None]


def unknown_price(prompt_tokens: int | None, completion_tokens: int | None) -> None:  # noqa: ARG001
    """Return the price of a call to a model whose prices are not known."""
    return


def no_price(prompt_tokens: int | None, completion_tokens: int | None) -> float:  # noqa: ARG001
    """Return the price of a call to a model on this machine."""
    return 0.0


def call_of(
    step: Step,
    model: str,
    exchange: Exchange,
    parameters: Parameters,
    price: Price,
    *,
    left_out: tuple[str, ...] = (),
    first_token_seconds: float | None = None,
) -> Call:
    """Return the record of an exchange."""
    completion = exchange.completion
    return Call(
        step=step,
        model=model,
        messages=exchange.messages,
        parameters=parameters,
        reply=completion.text,
        started=exchange.started,
        seconds=exchange.seconds,
        finish_reason=completion.finish_reason,
        prompt_tokens=completion.prompt_tokens,
        completion_tokens=completion.completion_tokens,
        price=price(completion.prompt_tokens, completion.completion_tokens),
        attempts=completion.attempts,
        first_token_seconds=first_token_seconds,
        left_out=left_out,
        problem=completion.problem,
        served=completion.served,
        cached_tokens=completion.cached_tokens,
        not_taken=completion.not_taken,
    )
