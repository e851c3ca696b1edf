"""A stand-in judge: marks by what stands where in a prompt, from a stand-in chat server."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from assistant.models.together import Patience, TogetherModel
from assistant.records import Parameters
from evaluation.judging import Judge
from tests.standin_chat import Behaviour, Received, StandinChat, reply

_TEXT = re.compile(r"⟦text (?P<place>\d+)⟧\n(?P<text>.*?)\n⟦end of text", re.DOTALL)
Marks = Callable[[int, str], int | Mapping[str, int]]


def shown(request: Received) -> list[str]:
    """Return the texts of a request in the order in which the judge saw them."""
    return [found["text"] for found in _TEXT.finditer(request.body["messages"][1]["content"])]


def judging(marks: Marks, dimensions: Sequence[str]) -> Callable[[Received], Behaviour]:
    """Answer with marks by the place and the text, and the first of the highest as the best."""

    def behave(request: Received) -> Behaviour:
        given = [marks(place, text) for place, text in enumerate(shown(request), start=1)]
        return reply(json.dumps(a_vote(given, dimensions)))

    return behave


def a_vote(
    given: Sequence[int | Mapping[str, int]], dimensions: Sequence[str], **changes: Any
) -> dict[str, Any]:
    """Return a vote that gives each text one mark for all qualities, or the marks given."""
    marks = [dict.fromkeys(dimensions, one) if isinstance(one, int) else dict(one) for one in given]
    texts = {f"text_{place}": {"analysis": "Plain.", **one} for place, one in enumerate(marks, start=1)}
    sums = [sum(one.values()) for one in marks]
    return {**texts, "best": sums.index(max(sums)) + 1, **changes}


@contextmanager
def judge_over(server: StandinChat, context: int = 32_768) -> Iterator[Judge]:
    model = TogetherModel(
        "judge-model",
        "Judge",
        api_key="k",
        base_url=server.url,
        patience=Patience(5.0, 5.0),
        first_wait=0.01,
        structured=True,
    )
    try:
        yield Judge(model, Parameters(), context)
    finally:
        model.close()
