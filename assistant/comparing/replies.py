"""The forms in which a model replies where a comparison reads its reply."""

from functools import cache
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, create_model

from assistant.comparing.records import ELEMENT_NAMES

# Characters; the prompts ask for about half of it.
LONGEST_ELEMENT = 450
LONGEST_ANALYSIS = 1200
LONGEST_SENTENCE = 300
# What a summary may have in sentences beyond one for each reference, and a sentence in labels.
SPARE_SENTENCES, MOST_LABELS = 4, 5


class _Reply(BaseModel):
    model_config = ConfigDict(extra="forbid")


def _elements_reply() -> type[BaseModel]:
    fields = {name: (str | None, Field(max_length=LONGEST_ELEMENT)) for name in ELEMENT_NAMES}
    return create_model("KeyElements", __base__=_Reply, **fields)  # type: ignore[call-overload, no-any-return]


# The seven answers, each a string, or null where the text does not state it.
ElementsReply = _elements_reply()


@cache
def summary_reply(references: int) -> type[BaseModel]:
    """Return the form of a summary of so many references: sentences, each with labels of theirs."""
    labels = Literal[tuple(range(1, references + 1))]  # type: ignore[valid-type]
    sentence = create_model(
        "Sentence",
        __base__=_Reply,
        text=(str, Field(min_length=1, max_length=LONGEST_SENTENCE)),
        labels=(list[labels], Field(min_length=1, max_length=MOST_LABELS)),  # type: ignore[valid-type]
    )
    most = references + SPARE_SENTENCES
    return create_model(
        "Summary",
        __base__=_Reply,
        sentences=(list[sentence], Field(min_length=1, max_length=most)),  # type: ignore[valid-type]
    )


@cache
def vote_reply(candidates: int) -> type[BaseModel]:
    """Return the form of a vote on so many candidates: an analysis, and the number of the best."""
    numbers = Literal[tuple(range(1, candidates + 1))]  # type: ignore[valid-type]
    return create_model(
        "Vote",
        __base__=_Reply,
        analysis=(str, Field(max_length=LONGEST_ANALYSIS)),
        choice=(numbers, ...),  # type: ignore[arg-type]
    )
