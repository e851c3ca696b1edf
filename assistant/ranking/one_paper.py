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
    """Return the paper that a query is about: the only one of the evidence, or the one that it names."""
    if len(evidence.papers) == 1:
        return evidence.papers[0]
    meant = meant_title(query, [paper.paper.title for paper in evidence.papers])
    return None if meant is None else evidence.papers[meant]


def narrowed(part: AskedPart, paper: LabelledPaper) -> frozenset[str]:
    """Return the stems of a question's words besides its part and the paper's title."""
    title = squashed(paper.paper.title)
    return stems(" ".join(word for word in part.subject if squashed(word) not in title))


def tell_part(paper: LabelledPaper, part: AskedPart, encoder: Encoder) -> list[CandidateSentence]:
    """Return the sentences on a part of a paper, the surest first, without duplicates.

    If the paper has none on a part that every paper has, those on its subject are returned. If the question
    asks for less than the part, only sentences that name that are.
    """
    sentences = sentences_of_part(paper, part, encoder)
    if part.term:
        sentences = [sentence for sentence in sentences if stems(part.term) <= stems(sentence.text)]
    if narrow := narrowed(part, paper):
        return [sentence for sentence in sentences if narrow & stems(sentence.text)][:MOST_OF_LESS]
    if not sentences and not part.cues.missing and part.name != ABOUT.name:
        sentences = sentences_of_part(paper, ABOUT, encoder)
    likeliest = sentences[: 4 * MOST_SENTENCES]
    return [
        likeliest[index] for index in distinct([sentence.text for sentence in likeliest], encoder, ALIKE)
    ][:MOST_SENTENCES]


def not_stated(part: AskedPart, paper: LabelledPaper) -> str:
    """Return a sentence: the paper, or its abstract if only that is indexed, does not state this part."""
    source = (
        "The paper" if paper.paper.full_text else "Its abstract, which is all that is indexed of the paper,"
    )
    return f"{source} states no {part.term or part.cues.missing}."
