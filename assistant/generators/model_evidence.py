"""The evidence sent to a model: the best passages first, authors only if asked for."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from assistant.learned.parts import LearnedError
from assistant.learned.relevance import open_relevance
from assistant.prompts.material import in_rank_order
from assistant.questions.names import is_named
from assistant.questions.plan import QuestionPlan
from assistant.ranking.evidence import RankedEvidence
from assistant.reading.standing_alone import read_with
from assistant.records import Evidence, LabelledPaper
from corpus.language.bm25 import Bm25
from corpus.records import Passage
from corpus.sentences import with_repeats

# Returns the ids of the passages that a model may be given, those that should be kept longest first.
PassageOrder = Callable[[RankedEvidence], Sequence[str]]

MOST_READ = 20  # sentences that the network reads, likeliest first; on QASPER 16 order paragraphs as 32 do
LONGEST_READ = 300  # characters of each
ANSWERS = -0.5  # network score from which a text may answer: four in five of those that do have more
SAYS_SOMETHING = 0.5  # share of the best sentence's BM25 score
UNREAD = float("-inf")


@dataclass(frozen=True, slots=True)
class _Place:
    """A sentence with its paper and passage, and its BM25 score relative to the best, 0..1."""

    paper: LabelledPaper
    passage: Passage
    text: str
    words: float = 0.0


def by_rank(found: RankedEvidence) -> tuple[str, ...]:
    """Return the passages in the order of their papers' ranks."""
    return in_rank_order(found.evidence)


def by_relevance(found: RankedEvidence) -> tuple[str, ...]:
    """Return the passages by relevance, or in rank order without a network or for a summary of a whole paper.

    With several papers, those that do not answer keep only their best passage and passages with the
    question's words.
    """
    return found.once(_by_relevance)


def _by_relevance(evidence_found: RankedEvidence) -> tuple[str, ...]:
    evidence, query = evidence_found.evidence, evidence_found.plan.query
    ranked = in_rank_order(evidence)
    if evidence_found.plan.kind == "summary" and not evidence_found.plan.of_part:
        return ranked
    places = _places(query, evidence)
    numbers = _numbers(query, places)
    if not numbers:
        return ranked
    numbers = _in_context({identifier: numbers.get(identifier, UNREAD) for identifier in ranked}, evidence)
    dropped = _beside_the_point(numbers, places, evidence) if len(evidence.papers) > 1 else set()
    kept = [identifier for identifier in ranked if identifier not in dropped]
    return tuple(sorted(kept, key=lambda identifier: -numbers[identifier]))


def _places(question: str, evidence: Evidence) -> list[_Place]:
    """Return the sentences of the evidence, those with most of the question's words first."""
    places = [
        _Place(paper, passage, passage.sentence_text(index))
        for paper in evidence.papers
        for passage, repeated in with_repeats(paper.passages)
        for index in range(repeated, len(passage.sentences))
    ]
    scores = Bm25([place.text for place in places]).scores(question)
    most = max(scores, default=0.0) or 1.0
    told = [replace(place, words=score / most) for place, score in zip(places, scores, strict=True)]
    return sorted(told, key=lambda place: -place.words)


def _numbers(question: str, places: Sequence[_Place]) -> dict[str, float]:
    """Return the network's number for the best of what it reads of each passage, by id; {} without one.

    It reads the likeliest sentence of each paper, then of each passage, then others.
    """
    of_papers = _first_of_each(place.paper.label for place in places)
    of_passages = _first_of_each(place.passage.id for place in places)
    likeliest = dict.fromkeys([*of_papers, *of_passages, *range(len(places))])
    read = [places[index] for index in list(likeliest)[:MOST_READ]]
    texts = [place.text[:LONGEST_READ] for place in read]
    try:
        numbers = open_relevance().numbers(question, texts, [place.paper.paper.title for place in read])
    except LearnedError:
        return {}
    best: dict[str, float] = {}
    for place, number in zip(read, numbers, strict=False):  # none without a network
        best[place.passage.id] = max(number, best.get(place.passage.id, UNREAD))
    return best


def _first_of_each(owners: Iterable[Hashable]) -> list[int]:
    """Return the index of the first occurrence of each owner."""
    first: dict[Hashable, int] = {}
    for index, owner in enumerate(owners):
        first.setdefault(owner, index)
    return list(first.values())


def _in_context(numbers: Mapping[str, float], evidence: Evidence) -> dict[str, float]:
    """Return the scores, raised to that of a passage for the neighbours that it is read with."""
    lifted = dict(numbers)
    for paper in evidence.papers:
        for passage in paper.passages:
            for beside in read_with(passage, paper.passages):
                lifted[beside.id] = max(lifted[beside.id], numbers[passage.id])
    return lifted


def _beside_the_point(numbers: Mapping[str, float], places: Iterable[_Place], evidence: Evidence) -> set[str]:
    """Return the passages to drop from papers that do not answer; the best ones stay."""
    saying = {place.passage.id for place in places if place.words >= SAYS_SOMETHING}
    dropped: set[str] = set()
    for paper in evidence.papers:
        best = max((numbers[passage.id] for passage in paper.passages), default=UNREAD)
        if best < ANSWERS:
            dropped |= {passage.id for passage in paper.passages if numbers[passage.id] < best} - saying
    return dropped


def with_authors_asked_for(evidence: Evidence, plan: QuestionPlan) -> Evidence:
    """Return the evidence without authors, except of papers whose author the question names.

    A question for people keeps all authors.
    """
    if plan.asks_who:
        return evidence
    question = f"{plan.rewrite.question} {plan.query}"
    return Evidence(
        tuple(
            paper
            if any(is_named(author, question) for author in paper.paper.authors)
            else replace(paper, paper=replace(paper.paper, authors=()))
            for paper in evidence.papers
        )
    )
