"""The options by which a command has a model write, and what was chosen by them."""

from typing import Annotated, Any

import typer

Temperature = Annotated[float | None, typer.Option(help="How freely a model writes.")]
TopP = Annotated[float | None, typer.Option(help="From how much of the likely words.")]
TopK = Annotated[int | None, typer.Option(help="From how many of the likely words.")]
MaxTokens = Annotated[int | None, typer.Option(help="The longest reply.")]
RepetitionPenalty = Annotated[float | None, typer.Option(help="1 for none.")]

Chosen = dict[str, Any]
"""The parameters of generation by their names, None for what nobody asked for."""


def chosen_of(
    temperature: float | None,
    top_p: float | None,
    top_k: int | None,
    max_tokens: int | None,
    penalty: float | None,
) -> Chosen:
    return {
        "temperature": temperature,
        "top_p": top_p,
        "top_k": top_k,
        "max_tokens": max_tokens,
        "repetition_penalty": penalty,
    }
