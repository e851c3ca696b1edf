"""Evidence as the generators are given it, with the plan of its question."""

from typing import Any

from assistant.questions.plan import plan_of
from assistant.ranking.evidence import RankedEvidence
from assistant.records import Evidence, Rewrite


def found_for(rewrite: Rewrite, evidence: Evidence, encoder: Any = None) -> RankedEvidence:
    """Return evidence with a question's plan; `encoder` is needed where sentences are ranked."""
    return RankedEvidence(plan_of(rewrite), evidence, encoder)
