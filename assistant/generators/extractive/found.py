"""What was found for a question, sentence by sentence, and whether it may answer at all: the gate before."""

import re
from dataclasses import dataclass, replace
from functools import lru_cache

from assistant.checking import is_foreign, thresholds
from assistant.generators.extractive.candidates import Candidate, quotable_sentences
from assistant.generators.extractive.features import Asking, ask_of, rarity_of
from assistant.generators.extractive.one_paper import meant_paper
from assistant.generators.extractive.ranking import Ranked, rank
from assistant.questions import asked_in_parts, perspective_of, squashed
from assistant.records import Evidence, RefusalReason, Rewrite
from corpus.encoders import Encoder

FIRST = 2  # sentences that tell what a question is about
_NUMBER = re.compile(r"(?<![\w-])\d")


@dataclass(frozen=True, slots=True)
class FoundSentences:
    """A question as its answer is chosen, and the sentences that may be chosen."""

    asking: Asking
    ranked: Ranked


@lru_cache(maxsize=4)
def find_sentences(rewrite: Rewrite, evidence: Evidence, encoder: Encoder) -> FoundSentences:
    """Return the sentences that may answer; of one paper that is meant, and of a perspective, only those."""
    paper = meant_paper(rewrite.searched_for, evidence)
    if rewrite.kind == "summary" and paper:
        evidence = Evidence((paper,))
    asking, sentences = ask_of(rewrite, evidence, encoder)
    if perspective := perspective_of(asking.query):
        sentences = [one for one in sentences if perspective.is_taken_by(one.text)]
    return FoundSentences(asking, rank(asking, [one for one in sentences if _may_answer(one, asking)]))


def find_each(asking: Asking) -> list[Ranked]:
    """Return the sentences for each thing that a question asks; for the later ones of the papers told first.

    A later part says less of what it is about: it goes on with the first.
    """
    first, *later = (_of_part(asking, part) for part in asked_in_parts(asking.query))
    sentences = [one for one in quotable_sentences(asking.evidence, asking.query) if _may_answer(one, asking)]
    ranked = rank(first, sentences)
    likeliest = ranked.best_first(range(len(ranked.candidates)))[:FIRST]
    told = {ranked.candidates[at].paper.label for at in likeliest}
    about = [one for one in sentences if one.paper.label in told]
    return [ranked, *(rank(one, about) for one in later)]


def _of_part(asking: Asking, part: str) -> Asking:
    sentences = quotable_sentences(asking.evidence, part)
    vector = asking.encoder.encode_query(part)
    return replace(asking, query=part, vector=vector, rarity=rarity_of(part, sentences))


def _may_answer(candidate: Candidate, asking: Asking) -> bool:
    """Return True if a sentence has what is needed: the number that is asked for, behind what is named.

    A fact about something named stands in a passage that names it, or in its paper.
    """
    asked, title = asking.asked, candidate.paper.paper.title
    if not asked.may_be_answered_by(candidate.text):
        return False
    if asking.kind == "fact" and asking.names:
        around = squashed(f"{title} {candidate.passage.text}")
        if not any(name in around for name in asking.names):
            return False
    names = asking.names if asked.needs in ("number", "share") else ()
    number = _NUMBER.search(candidate.text)
    said = squashed(f"{title} {candidate.text[: number.start() if number else None]}")
    return not names or any(name in said for name in names)


def _unsaid(asking: Asking) -> bool:
    """Return True if a name of the question stands in nothing that was found."""
    texts = [
        squashed(f"{paper.paper.title} {passage.text}")
        for paper in asking.evidence.papers
        for passage in paper.passages
    ]
    return any(not any(name in text for text in texts) for name in asking.parts_of_names)


def cannot_answer(
    rewrite: Rewrite, evidence: Evidence, encoder: Encoder, *, by_model: bool = False
) -> RefusalReason | None:
    """Return why what was found cannot answer, None where it may; `by_model` says that a model will write.

    What is asked of a paper as a whole, it tells, or says that it does not.
    """
    if not evidence.papers:
        return "empty_corpus"
    if is_foreign(rewrite.question):
        return "language"
    if rewrite.kind == "summary" and meant_paper(rewrite.searched_for, evidence):
        return None
    found = find_sentences(rewrite, evidence, encoder)
    if by_model and not found.ranked.candidates:
        return None  # It may read what cannot be quoted.
    bars = thresholds().refusal
    is_likely = found.ranked.answerable >= (bars.answerable_by_model if by_model else bars.answerable)
    return None if is_likely and not _unsaid(found.asking) else "nothing_relevant"
