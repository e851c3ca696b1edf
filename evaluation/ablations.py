"""The same comparison once more with a part of the method left out (ChatCite, section 5)."""

from dataclasses import dataclass, replace

from assistant.compare import Comparer
from assistant.comparing.choice import open_comparative_generator
from assistant.comparing.journal import Journal
from assistant.comparing.records import Ablation, Compared, Comparison, ComparisonRequest
from corpus.encoder import Encoder
from corpus.settings import Settings
from corpus.store import Corpus
from evaluation.summary import SummaryError, System


@dataclass(frozen=True, slots=True)
class PlannedAblation:
    """A comparison without a part of the method, ready to run.

    `calls` is how many model calls it takes at most; those that the whole comparison made in the same words
    are not made again.
    """

    name: str
    calls: int
    comparer: Comparer
    request: ComparisonRequest
    whole: Comparison

    def run(self) -> System:
        """Compare; raises AssistantError."""
        journal = Journal(self.whole.calls)
        # An id of its own is not needed: nothing of it is stored.
        for event in self.comparer.compare(self.request, journal, self.whole.id):
            if isinstance(event, Compared):
                return System(self.name, event.comparison)
        raise SummaryError(f"{self.name} ended without a summary.")


def plan_ablation(
    system: System, without: Ablation, corpus: Corpus, encoder: Encoder, settings: Settings
) -> PlannedAblation:
    """Return a comparison of the same papers by the same generator without a part; raises AssistantError."""
    whole = system.comparison
    if without in whole.options.without:
        raise SummaryError(
            f"{system.name} was made without {without} already. Leave --without {without} out."
        )
    generator = open_comparative_generator(whole.provenance.generator, settings, encoder, whole.parameters)
    comparer = Comparer(corpus, encoder, generator)
    options = replace(whole.options, without=(*whole.options.without, without))
    request = ComparisonRequest(whole.paper_ids, whole.about, options)
    planned = comparer.plan(request)
    return PlannedAblation(
        f"{system.name}, without {without}", planned.budget.calls, comparer, request, whole
    )
