"""A stand-in judge: marks by what stands where in a prompt, from a stand-in chat server."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from assistant.records import Parameters
from evaluation.judging import Judge
from tests.evaluation.commands import model_of
from tests.standin_chat import Behaviour, Received, StandinChat, reply

_TEXT = re.compile(r"⟦text (?P<place>\d+)⟧\n(?P<text>.*?)\n⟦end of text", re.DOTALL)
Marks = Callable[[int, str], int]


def shown(request: Received) -> list[str]:
    """Return the texts of a request in the order in which the judge saw them."""
    return [found["text"] for found in _TEXT.finditer(request.body["messages"][1]["content"])]


def judging(marks: Marks, dimensions: Sequence[str]) -> Callable[[Received], Behaviour]:
    """Answer with marks by the place and the text, and the first of the highest as the best."""

    def behave(request: Received) -> Behaviour:
        given = [marks(place, text) for place, text in enumerate(shown(request), start=1)]
        return reply(json.dumps(a_vote(given, dimensions)))

    return behave


def a_vote(given: Sequence[int], dimensions: Sequence[str], **changes: Any) -> dict[str, Any]:
    """Return a vote that gives each text one mark for all qualities."""
    texts = {
        f"text_{place}": {"analysis": "Plain.", **dict.fromkeys(dimensions, mark)}
        for place, mark in enumerate(given, start=1)
    }
    return {**texts, "best": given.index(max(given)) + 1, **changes}


@contextmanager
def judge_over(server: StandinChat) -> Iterator[Judge]:
    model = model_of(server)
    try:
        yield Judge(model, Parameters(), 32_768)
    finally:
        model.close()
