"""The comparative generator without a model: it chooses, groups, joins and cites papers' own sentences."""

import threading
from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence

from assistant.comparing.extractive.accounts import Account
from assistant.comparing.extractive.composing import TELLINGS, Plan, compose, telling_in
from assistant.comparing.extractive.criteria import CRITERIA, cast_vote, labels_of
from assistant.comparing.extractive.cues import version
from assistant.comparing.extractive.finding import find_elements
from assistant.comparing.extractive.readings import Readings
from assistant.comparing.extractive.supporting import Supporting
from assistant.comparing.extractive.vectors import EachAlone
from assistant.comparing.journal import Work
from assistant.comparing.protocol import ComparisonStep, SourceText
from assistant.comparing.records import Budget, Candidate, ComparisonOptions, ElementName, Vote
from assistant.records import Draft, Parameters
from corpus.encoder import Encoder

MOST_PLANS = 1000


class ExtractiveComparer:
    """Compares papers by sentences chosen from them; it needs the encoder and nothing else.

    Every summary is composed anew from all papers so far. What it takes from the summary that it continues
    is how each paper was told there.
    """

    name = "extractive"
    label = "Extractive (no model)"
    # One of its criteria is the candidates' own support.
    votes_by_scores = True
    note = (
        "The sentences are the papers' own, shortened and put into the third person: quote or rewrite them "
        "before you use them."
    )
    parameters: Parameters | None = None
    # Threads share two or three cores; more would only wait for each other.
    at_once = 2

    def __init__(self, encoder: Encoder) -> None:
        self._vectors = EachAlone(encoder)
        self._supporting = Supporting(self._vectors)
        self._readings = Readings(self._vectors)
        self._plans: OrderedDict[str, Plan] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def elements_version(self) -> str:
        return version()

    def votes_cast(self, options: ComparisonOptions) -> int:  # noqa: ARG002 - as many as there are criteria
        return len(CRITERIA)

    def budget(  # what is free is free for all
        self,
        sources: Sequence[SourceText],  # noqa: ARG002
        missing: Collection[int],  # noqa: ARG002
        options: ComparisonOptions,  # noqa: ARG002
    ) -> Budget:
        return Budget(calls=0, most_calls=0, prompt_tokens=0, completion_tokens=0, price=0.0)

    def extract_key_elements(self, source: SourceText, work: Work) -> Mapping[ElementName, str]:  # noqa: ARG002
        return find_elements(source, self._vectors)

    def update_summary(self, step: ComparisonStep, summary: str, sample: int, work: Work) -> Draft:  # noqa: ARG002
        if not step.labels:
            return Draft(summary)
        reading = self._readings.of(step)
        plan = {
            **self._plan_of(summary, reading.accounts),
            **dict.fromkeys(step.new, (sample - 1) % len(TELLINGS)),
        }
        text = compose(reading.groups, plan, reading.near, self._vectors, self._supporting)
        self._keep(text, plan)
        return Draft(text)

    def vote(self, step: ComparisonStep, candidates: Sequence[Candidate], number: int, work: Work) -> Vote:  # noqa: ARG002
        return cast_vote(step, candidates, number)

    def _plan_of(self, summary: str, accounts: Mapping[int, Account]) -> Plan:
        """Return how each paper is told in a summary: as kept, or else by the sentences that stand in it."""
        with self._lock:
            if summary in self._plans:
                return self._plans[summary]
        cited = labels_of(summary)
        return {label: telling_in(summary, paper) for label, paper in accounts.items() if label in cited}

    def _keep(self, text: str, plan: Plan) -> None:
        with self._lock:
            # Two samples may come to the same text: which thread was last must not matter.
            known = self._plans.get(text, plan)
            self._plans[text] = min(known, plan, key=lambda one: sorted(one.items()))
            self._plans.move_to_end(text)
            while len(self._plans) > MOST_PLANS:
                self._plans.popitem(last=False)
