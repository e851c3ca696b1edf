"""Sentences of one paper on its problem, approach, data or limitations."""

from assistant.questions.names import squashed
from assistant.questions.parts import AskedPart, meant_title
from assistant.questions.vocabulary import stems
from assistant.ranking.candidates import distinct
from assistant.reading.finding import CandidateSentence
from assistant.reading.parts import sentences_of_part
from assistant.records import Evidence, LabelledPaper
from corpus.encoders.base import Encoder

MOST_SENTENCES = 5
MOST_OF_LESS = 2  # where less than a part is asked for
ALIKE = 0.82  # cosine from which two sentences say the same
ABOUT = AskedPart("about")


def meant_paper(query: str, evidence: Evidence) -> LabelledPaper | None:
    """Return the paper of the evidence that a query is about: the only one, or the one that it names."""
    if len(evidence.papers) == 1:
        return evidence.papers[0]
    meant = meant_title(query, [paper.paper.title for paper in evidence.papers])
    return None if meant is None else evidence.papers[meant]


def narrowed(part: AskedPart, paper: LabelledPaper) -> frozenset[str]:
    """Return the stems of what a question says of a part besides what the paper's title says."""
    title = squashed(paper.paper.title)
    return stems(" ".join(word for word in part.subject if squashed(word) not in title))


def tell_part(paper: LabelledPaper, part: AskedPart, encoder: Encoder) -> list[CandidateSentence]:
    """Return the sentences that tell a part of a paper, the surest first, none of which says another's.

    A part that every paper has, but this one nowhere names, is told by what the paper is about; of a part of
    which less is asked, only what names that.
    """
    found = sentences_of_part(paper, part, encoder)
    if part.term:
        found = [one for one in found if stems(part.term) <= stems(one.text)]
    if narrow := narrowed(part, paper):
        return [one for one in found if narrow & stems(one.text)][:MOST_OF_LESS]
    if not found and not part.cues.missing and part.name != ABOUT.name:
        found = sentences_of_part(paper, ABOUT, encoder)
    few = found[: 4 * MOST_SENTENCES]
    return [few[at] for at in distinct([one.text for one in few], encoder, ALIKE)][:MOST_SENTENCES]


def not_stated(part: AskedPart, paper: LabelledPaper) -> str:
    """Describe the part that a paper does not state, as far as is known."""
    told = (
        "The paper" if paper.paper.full_text else "Its abstract, which is all that is indexed of the paper,"
    )
    return f"{told} states no {part.term or part.cues.missing}."
