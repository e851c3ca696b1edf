"""The gate before writing: whether what was found may answer a question."""

from assistant.checking.refusal import asks_for_authors, record_of
from assistant.checking.thresholds import thresholds
from assistant.questions.comparisons import says_side
from assistant.questions.names import names_in
from assistant.ranking.evidence import RankedEvidence, is_unsaid
from assistant.records import RefusalReason


def cannot_answer(
    evidence: RankedEvidence, *, by_model: bool = False, strictly: bool = False
) -> RefusalReason | None:
    """Return why the evidence cannot answer, None if it may; `by_model`: a model will write.

    `strictly` is for papers of which most will not answer.

    A summary of one paper, a list of an author's papers and cells of tables are always answered, and a
    question in parts if one part is.
    """
    if not evidence.papers:
        return "empty_corpus"
    query = evidence.plan.query
    if asks_for_authors(query) and record_of(query, [labelled.paper for labelled in evidence.papers]):
        return "nothing_relevant"  # The refusal gives the record.
    is_of_paper = evidence.plan.kind == "summary" and evidence.meant
    if is_of_paper or evidence.by_author or evidence.rows or (not by_model and evidence.is_answered_in_part):
        return None
    bars = thresholds().refusal
    # Ranking the parts takes as long as ranking the whole: for a model it is the last resort.
    ranked = evidence.glanced if by_model else evidence.ranked
    if by_model and not ranked.candidates:
        return None  # It may read what cannot be quoted.
    if by_model and ranked.answerable < bars.answerable:
        ranked = evidence.ranked
    plan = evidence.asking.plan
    alone = bars.answerable_strict if strictly or plan.asked.needs else bars.answerable
    alone = bars.answerable_untrained if plan.language else alone
    is_likely = ranked.answerable >= (bars.answerable_by_model if by_model else alone)
    may_answer = (is_likely or _tells_sides(evidence)) and not is_unsaid(evidence.asking)
    if may_answer or (by_model and evidence.is_answered_in_part):
        return None
    return "nothing_relevant"


def _tells_sides(evidence: RankedEvidence) -> bool:
    """Return True for an open comparison of two names, each of which some sentence mentions."""
    plan = evidence.asking.plan
    return plan.is_open_comparison and all(
        names_in(f"is {side}") and any(says_side(sentence.text, side) for sentence in evidence.sentences)
        for side in plan.sides or ()
    )
