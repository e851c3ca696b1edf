"""A stand-in model that was talked into all it can do: payloads, forged badges and citations."""

import json
from dataclasses import dataclass

from assistant.comparing.records import ELEMENT_NAMES
from tests.assistant.comparing.comparing_model import kind_of, labels_of
from tests.hostile_texts import all_in_one, payloads
from tests.standin_chat import Behaviour, Received, reply

UNANSWERABLE = "Which hostile paper has no payload at all?"


@dataclass(frozen=True)
class HostileModel:
    """Answers each prompt in the form it asks for, its texts pointed at a host and cut into short pieces."""

    host: str

    def __call__(self, request: Received) -> Behaviour:
        asked = request.body["messages"][-1]["content"]
        if kind_of(request) == "elements":
            return reply(json.dumps(dict(zip(ELEMENT_NAMES, payloads(self.host), strict=False))))
        if kind_of(request) == "vote":
            return reply(json.dumps({"analysis": payloads(self.host)[0], "choice": 1}))
        if "⟦references⟧" in asked:
            return reply(" ".join(self._sentence(label, label) for label in labels_of(request)))
        if "paper 1" not in asked:
            return reply(f"hostile paper retrieval result {payloads(self.host)[0]}")
        if UNANSWERABLE in asked:
            return reply(f"NO ANSWER: {all_in_one(self.host)}")
        numbers = range(len(payloads(self.host)))
        return reply("\n\n".join(self._sentence(number, number % 3 + 1) for number in numbers))

    def _sentence(self, number: int, label: int) -> str:
        family = payloads(self.host)[number]
        said = f"The hostile paper reports result {number + 1} about retrieval"
        return f"{said} [{label}]. {family} It says so [{label}][99]."
