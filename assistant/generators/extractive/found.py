"""The sentences found for a question, and the gate that decides whether they may answer."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from assistant.checking.thresholds import thresholds
from assistant.generators.extractive.candidates import Candidate, rows_asked_for
from assistant.generators.extractive.features import Asking, ask_of, rarity_of
from assistant.generators.extractive.listing import list_papers_by
from assistant.generators.extractive.one_paper import meant_paper
from assistant.generators.extractive.ranking import MOST_READ, Ranked, rank
from assistant.questions.comparisons import compared, is_open_comparison, says_side
from assistant.questions.intent import asked_in_parts
from assistant.questions.names import names_in, says_name
from assistant.questions.parts import asked_part
from assistant.questions.perspective import perspective_of
from assistant.questions.vocabulary import stems
from assistant.records import Evidence, RefusalReason, Rewrite
from corpus.encoders.base import Encoder

MOST_PARTS = 4  # of a question, each of which is ranked by itself
TOLD_FIRST = 2  # sentences that tell what a question is about
GLANCED = 6  # sentences that are read first where a model writes: mostly they show that there is an answer
# Of a list, of two sides and of one paper no part is told by itself.
_TOLD_AS_A_WHOLE = ("list", "comparison", "summary")
_NUMBER = re.compile(r"(?<![\w-])\d")


@dataclass(frozen=True, slots=True)
class QuotableSentences:
    """A question as its answer is chosen, and the sentences that may be chosen for it."""

    asking: Asking
    sentences: list[Candidate]

    @property
    def parts(self) -> list[str]:
        """The parts of the question."""
        return asked_in_parts(self.asking.query)


@dataclass(frozen=True, slots=True)
class FoundSentences(QuotableSentences):
    """The same, with the likeliest sentences ranked."""

    ranked: Ranked


@lru_cache(maxsize=4)
def find_sentences(
    rewrite: Rewrite, evidence: Evidence, encoder: Encoder, most_read: int = MOST_READ
) -> FoundSentences:
    """Return the sentences that may answer, the likeliest ranked, of which the network reads `most_read`."""
    found = quotable_for(rewrite, evidence, encoder)
    return FoundSentences(found.asking, found.sentences, rank(found.asking, found.sentences, most_read))


@lru_cache(maxsize=4)
def quotable_for(rewrite: Rewrite, evidence: Evidence, encoder: Encoder) -> QuotableSentences:
    """Return the sentences that may answer; of one paper that is meant, and of a perspective, only those."""
    paper = meant_paper(rewrite.searched_for, evidence)
    if rewrite.kind == "summary" and paper:
        evidence = Evidence((paper,))
    asking, quotable = ask_of(rewrite, evidence, encoder)
    if perspective := perspective_of(asking.query):
        quotable = [one for one in quotable if perspective.is_taken_by(one.text)]
    may_answer = _answering(asking)
    sentences = [one for one in quotable if may_answer(one)]
    return QuotableSentences(asking, sentences)


@lru_cache(maxsize=4)
def rank_parts(rewrite: Rewrite, evidence: Evidence, encoder: Encoder) -> tuple[Ranked, ...]:
    """Return the sentences ranked for each thing that is asked; for the later ones of the papers told first.

    A later part says less of what it is about: it goes on with the first. A part that a second search was
    made for is told by the papers found for it, which stand first as they did in that search.
    """
    found = quotable_for(rewrite, evidence, encoder)
    first, *later = (_asking_part(found, part) for part in found.parts)
    ranked = _rank_found_for(first, found) or rank(first, found.sentences)
    likeliest = ranked.best_first(range(len(ranked.candidates)))[:TOLD_FIRST]
    told = {ranked.candidates[at].paper.label for at in likeliest}
    about = [one for one in found.sentences if one.paper.label in told]
    return (ranked, *(_rank_found_for(part, found) or rank(part, about) for part in later))


def _rank_found_for(part: Asking, found: QuotableSentences) -> Ranked | None:
    """Return the sentences of the papers that a second search found for a part, None where there was none."""
    papers = [paper for paper in part.evidence.papers if part.query in paper.found_for]
    if not papers:
        return None
    first = {paper.label: replace(paper, label=place) for place, paper in enumerate(papers, start=1)}
    original = dict(enumerate(papers, start=1))
    sentences = [
        replace(sentence, paper=first[sentence.paper.label])
        for sentence in found.sentences
        if sentence.paper.label in first
    ]
    ranked = rank(replace(part, evidence=Evidence(tuple(first.values()))), sentences)
    candidates = [
        replace(candidate, paper=original[candidate.paper.label]) for candidate in ranked.candidates
    ]
    return replace(ranked, candidates=candidates)


def open_parts(rewrite: Rewrite, evidence: Evidence, encoder: Encoder) -> tuple[str, ...] | None:
    """Return the parts of a question that nothing in the evidence answers.

    None for a question without parts, and for one with more than MOST_PARTS, each of which takes its time.
    """
    is_whole = rewrite.kind in _TOLD_AS_A_WHOLE or len(asked_in_parts(rewrite.searched_for)) == 1
    if is_whole or not evidence.papers or rows_asked_for(rewrite.searched_for, evidence):
        return None
    found = quotable_for(rewrite, evidence, encoder)
    if found.asking.language or not 1 < len(found.parts) <= MOST_PARTS:
        return None
    bar = thresholds().refusal.answerable
    ranked = zip(found.parts, rank_parts(rewrite, evidence, encoder), strict=True)
    return tuple(
        part
        for part, of_part in ranked
        if of_part.answerable < bar or _unsaid(replace(found.asking, query=part))
    )


def rank_sides(found: FoundSentences, sides: Sequence[str]) -> list[Ranked]:
    """Return the sentences that name each side of a comparison, ranked by how well they say what it is."""
    asking = (replace(_asking_part(found, side), kind="definition") for side in sides)
    naming = ([one for one in found.sentences if says_side(one.text, side)] for side in sides)
    return [rank(side, named) for side, named in zip(asking, naming, strict=True)]


def _asking_part(found: QuotableSentences, part: str) -> Asking:
    vector = found.asking.encoder.encode_query(part)
    rarity = rarity_of(part, found.sentences, found.asking.language)
    return replace(found.asking, query=part, vector=vector, rarity=rarity)


def _answering(asking: Asking) -> Callable[[Candidate], bool]:
    """Return a test for sentences that hold the number asked for and belong to the named subject.

    A fact about something named stands in a passage that names it, or in a paper whose title does.
    """
    if asking.language:
        return lambda _: True  # Needs and names are read in English only.
    asked, names = asking.asked, asking.names

    def mentions_name(title: str, text: str) -> bool:
        said = f"{title} {text}"
        return any(says_name(said, name) for name in names)

    def may_answer(one: Candidate) -> bool:
        if not asked.may_be_answered_by(one.text):
            return False
        title = one.paper.paper.title
        if names and asking.kind == "fact" and not mentions_name(title, one.passage.text):
            return False
        if names and asked.needs in ("number", "share"):
            number = _NUMBER.search(one.text)
            return mentions_name(title, one.text[: number.start() if number else None])
        return True

    return may_answer


def _unsaid(asking: Asking) -> bool:
    """Return True if a name of the question stands in nothing that was found, or beside no setting asked for.

    "What batch size was used to train X?" is answered by none but X's batch size.
    """
    if asking.language:
        return False  # German has nouns in capitals, other scripts have none.
    texts = [
        f"{paper.paper.title} {' '.join(author.name for author in paper.paper.authors)} {passage.text}"
        for paper in asking.evidence.papers
        for passage in paper.passages
    ]
    if any(not any(says_name(text, name) for text in texts) for name in asking.parts_of_names):
        return True
    part, names = asked_part(asking.query), asking.names
    if not names or part is None or part.name != "settings" or not part.term:
        return False
    naming = (text for text in texts if any(says_name(text, name) for name in names))
    return not any(stems(part.term) <= stems(text) for text in naming)


def cannot_answer(
    rewrite: Rewrite, evidence: Evidence, encoder: Encoder, *, by_model: bool = False
) -> RefusalReason | None:
    """Return why what was found cannot answer, None where it may; `by_model` says that a model will write.

    What is asked of a paper as a whole, it tells, or says that it does not; who wrote a paper is known. A
    question in parts may be answered where each of them is.
    """
    if not evidence.papers:
        return "empty_corpus"
    is_of_paper = rewrite.kind == "summary" and meant_paper(rewrite.searched_for, evidence)
    by_whom = rewrite.kind == "list" and list_papers_by(rewrite.searched_for, evidence)
    if is_of_paper or by_whom or rows_asked_for(rewrite.searched_for, evidence):
        return None
    # A model may answer without any ranking of parts, which takes as long as the whole.
    if not by_model and open_parts(rewrite, evidence, encoder) == ():
        return None
    bars = thresholds().refusal
    # Called as the writer calls it, whatever is read: the cache knows a call by its arguments.
    glanced = (GLANCED,) if by_model else ()
    found = find_sentences(rewrite, evidence, encoder, *glanced)
    if by_model and not found.ranked.candidates:
        return None  # It may read what cannot be quoted.
    if by_model and found.ranked.answerable < bars.answerable:
        found = find_sentences(rewrite, evidence, encoder)
    alone = bars.answerable_untrained if found.asking.language else bars.answerable
    is_likely = found.ranked.answerable >= (bars.answerable_by_model if by_model else alone)
    may_answer = (is_likely or _tells_sides(found)) and not _unsaid(found.asking)
    if may_answer or (by_model and open_parts(rewrite, evidence, encoder) == ()):
        return None
    return "nothing_relevant"


def _tells_sides(found: FoundSentences) -> bool:
    """Return True for two names that are compared in nothing particular, both of which are told of."""
    sides = compared(found.asking.query) or ()
    named = all(names_in(f"is {side}") for side in sides) and is_open_comparison(found.asking.query)
    return named and all(any(says_side(one.text, side) for one in found.sentences) for side in sides)
