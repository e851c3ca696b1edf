"""A stand-in model for comparisons: replies as each prompt asks, or as a test wants."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from assistant.comparing.records import ELEMENT_NAMES
from tests.standin_chat import Behaviour, Received, reply

Kind = Literal["elements", "compare", "vote"]
_REFERENCE = re.compile(r"^\[(\d+)\] ", re.MULTILINE)
_DRAFTS = re.compile(r"⟦draft (\d+)⟧")


def kind_of(request: Received) -> Kind:
    """Return the kind of prompt that a request holds."""
    system = request.body["messages"][0]["content"]
    if "seven questions" in system:
        return "elements"
    return "vote" if "Several drafts" in system else "compare"


def labels_of(request: Received) -> list[int]:
    """Return the labels of the references that a request lists."""
    text = request.body["messages"][1]["content"]
    listed = text.split("⟦references⟧")[1].split("⟦end of references⟧")[0]
    return [int(label) for label in _REFERENCE.findall(listed)]


def drafts_of(request: Received) -> int:
    return len(_DRAFTS.findall(request.body["messages"][1]["content"]))


@dataclass
class ComparingModel:
    """Answers every prompt of a comparison; `summaries` and `choices` script it, else it writes plainly.

    `summaries` make a text of the labels so far and the number of the sample; `choices` a reply of the number
    of drafts. `seconds` is how long each reply takes.
    """

    seconds: float = 0.0
    summaries: Callable[[list[int], int], str] | None = None
    choices: Callable[[int], str] | None = None
    elements: Callable[[int], str] | None = None
    counts: dict[Kind, int] = field(default_factory=lambda: {"elements": 0, "compare": 0, "vote": 0})

    def __call__(self, request: Received) -> Behaviour:
        kind = kind_of(request)
        self.counts[kind] += 1
        text = getattr(self, f"_{kind}")(request, self.counts[kind])
        return reply(text, text, wait_before=self.seconds)

    def _elements(self, request: Received, number: int) -> str:
        return self.elements(number) if self.elements else elements_reply()

    def _compare(self, request: Received, number: int) -> str:
        labels = labels_of(request)
        if self.summaries:
            return self.summaries(labels, number)
        return " ".join(f"Reference {label} studies retrieval, take {number} [{label}]." for label in labels)

    def _vote(self, request: Received, number: int) -> str:
        drafts = drafts_of(request)
        return self.choices(drafts) if self.choices else vote_reply_text(number % drafts + 1)


def elements_reply(**stated: str | None) -> str:
    return json.dumps({name: stated.get(name, f"It states its {name}.") for name in ELEMENT_NAMES})


def vote_reply_text(choice: Any, analysis: str = "It relates the references to each other.") -> str:
    return json.dumps({"analysis": analysis, "choice": choice})


def requests_by_kind(requests: list[Received]) -> Iterator[Kind]:
    yield from map(kind_of, requests)
