"""From a draft to a checked answer: the one place where the first becomes the second."""

from assistant.citations import check_sentences, normalise_labels
from assistant.prompts.render import no_answer_reason
from assistant.records import Answer, Draft, Evidence, RefusalReason
from assistant.refusal import is_foreign, refuse
from corpus.records import PaperHits
from corpus.text import storable


def check(
    draft: Draft, question: str, evidence: Evidence, papers: tuple[PaperHits, ...], searched: str
) -> Answer:
    """Return the checked answer: labels in one form, every sentence's citations resolved and scored.

    A draft that claims nothing, or says that the papers do not answer, becomes a refusal (the gate after).
    """
    text = storable(draft.text).strip()
    said = no_answer_reason(text)
    labelled = normalise_labels(text, {paper.label for paper in evidence.papers})
    sentences = check_sentences(labelled.text, evidence)
    if said is None and sentences:
        return Answer(labelled.text, sentences)
    reason: RefusalReason = "language" if not said and is_foreign(question) else "nothing_supported"
    return refuse(reason, papers, searched, said or "")
