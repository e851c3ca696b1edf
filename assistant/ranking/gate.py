"""The gate before writing: whether what was found may answer a question."""

from assistant.checking.thresholds import thresholds
from assistant.questions.comparisons import says_side
from assistant.questions.names import names_in
from assistant.ranking.evidence import RankedEvidence, is_unsaid
from assistant.records import RefusalReason


def cannot_answer(found: RankedEvidence, *, by_model: bool = False) -> RefusalReason | None:
    """Return why what was found cannot answer, None where it may; `by_model` says that a model will write.

    What is asked of a paper as a whole, it tells, or says that it does not; who wrote a paper is known. A
    question in parts may be answered where each of them is.
    """
    if not found.papers:
        return "empty_corpus"
    is_of_paper = found.plan.kind == "summary" and found.meant
    if is_of_paper or found.by_author or found.rows:
        return None
    # A model may answer without any ranking of parts, which takes as long as the whole.
    if not by_model and found.open_parts == ():
        return None
    bars = thresholds().refusal
    ranked = found.glanced if by_model else found.ranked
    if by_model and not ranked.candidates:
        return None  # It may read what cannot be quoted.
    if by_model and ranked.answerable < bars.answerable:
        ranked = found.ranked
    alone = bars.answerable_untrained if found.asking.plan.language else bars.answerable
    is_likely = ranked.answerable >= (bars.answerable_by_model if by_model else alone)
    may_answer = (is_likely or _tells_sides(found)) and not is_unsaid(found.asking)
    if may_answer or (by_model and found.open_parts == ()):
        return None
    return "nothing_relevant"


def _tells_sides(found: RankedEvidence) -> bool:
    """Return True for two names that are compared in nothing particular, both of which are told of."""
    plan = found.asking.plan
    sides = plan.sides or ()
    named = all(names_in(f"is {side}") for side in sides) and plan.is_open_comparison
    return named and all(
        any(says_side(sentence.text, side) for sentence in found.sentences) for side in sides
    )
