"""Whether what is written about papers is carried by them, as the check of citations will see it."""

import threading
from collections.abc import Sequence

from assistant.comparing.extractive.accounts import Account
from assistant.support.scorer import SupportScorer
from assistant.thresholds import thresholds
from corpus.encoder import Encoder

# So far from the bar a score stays on its side, whatever it is encoded together with.
MARGIN = 0.02
MOST_KEPT = 20_000


class Supporting:
    """Weighs claims against papers, each pair once; safe for several threads."""

    def __init__(self, encoder: Encoder) -> None:
        self._scorer = SupportScorer(encoder)
        self._reader = self._scorer.reader()
        self._kept: dict[tuple[str, tuple[str, ...]], float] = {}
        self._lock = threading.Lock()

    def holds(self, claim: str, papers: Sequence[Account]) -> bool:
        """Tell whether all papers together surely carry a claim."""
        return self._score(claim, papers) >= thresholds().support.supported + MARGIN

    def needs_all(self, claim: str, papers: Sequence[Account]) -> bool:
        """Tell whether two papers carry a claim together so that neither citation could be spared."""
        if not self.holds(claim, papers):
            return False
        alone = [self._score(claim, [paper]) - thresholds().support.supported for paper in papers]
        return min(alone) > MARGIN or max(alone) < -MARGIN

    def _score(self, claim: str, papers: Sequence[Account]) -> float:
        places = tuple(place for paper in papers for place in paper.places)
        key = (claim, places)
        with self._lock:
            if len(self._kept) > MOST_KEPT:
                self._kept.clear()
                self._reader = self._scorer.reader()
            if key not in self._kept:
                self._kept[key] = self._reader.weigh([claim], [places])[0].score
            return self._kept[key]
