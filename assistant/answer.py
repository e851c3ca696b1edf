"""From a draft to a checked answer: the one place where the first becomes the second."""

from assistant.citations import check_sentences, normalise_labels
from assistant.prompts.render import no_answer_reason
from assistant.records import Answer, Draft, Evidence
from assistant.refusal import refuse
from corpus.records import PaperHits
from corpus.text import storable


def check(draft: Draft, evidence: Evidence, papers: tuple[PaperHits, ...], searched: str) -> Answer:
    """Return the checked answer: labels in one form, every sentence's citations resolved and scored.

    A draft without text, or one that says the papers do not answer, becomes a refusal (the gate after).
    """
    text = storable(draft.text).strip()
    said = no_answer_reason(text)
    if said is not None or not text:
        return refuse("nothing_supported", papers, searched, said or "")
    labelled = normalise_labels(text, {paper.label for paper in evidence.papers})
    return Answer(labelled.text, check_sentences(labelled.text, evidence))
