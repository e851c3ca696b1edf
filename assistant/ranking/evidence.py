"""The evidence of a question with its sentences ranked, for the gate, the writers and the check."""

import re
import threading
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Generic, TypeVar, cast

from assistant.checking.thresholds import thresholds
from assistant.questions.comparisons import says_side
from assistant.questions.intent import request_kind
from assistant.questions.names import names_in, says_name
from assistant.questions.plan import QuestionPlan
from assistant.questions.rewriting import query_from_part
from assistant.questions.vocabulary import stems, vocabulary
from assistant.ranking.candidates import Candidate, papers_by_author, rows_asked_for
from assistant.ranking.features import Asking, ask_of, rarity_of
from assistant.ranking.one_paper import meant_paper
from assistant.ranking.rank import MOST_READ, Ranked, rank
from assistant.records import Answer, Evidence, LabelledPaper, RequestKind
from corpus.encoders.base import Encoder, Vectors
from corpus.records import Scope
from corpus.text import words

MOST_PARTS = 4  # of a question, each of which is ranked by itself
TOLD_FIRST = 2  # best sentences of the first part, whose papers are used for the others
GLANCED = 6  # sentences that the network reads first if a model writes: mostly enough to see an answer
# These kinds of questions are answered as a whole.
_TOLD_AS_A_WHOLE = ("list", "comparison", "summary")
_OF_PARTS: tuple[RequestKind, ...] = ("fact", "how", "definition", "synthesis")
# A number and the rest of its clause.
_NUMBER = re.compile(r"(?<![\w-])\d(?:[^,;]|,(?=\d))*")

Made = TypeVar("Made")


class _MadeOnce(Generic[Made]):
    """A property of RankedEvidence that is computed on first access and kept."""

    def __init__(self, make: Callable[[Any], Made]) -> None:
        self._make = make

    def __get__(self, evidence: "RankedEvidence", owner: type | None = None) -> Made:
        return evidence.once(self._make)


class RankedEvidence:
    """The evidence found for a question, with the rankings of its sentences.

    A ranking is computed on first access and kept, so that the gate, every draft and the check read the same
    one; other threads wait for it. `vectors` are stored vectors of sentences by text; the others are encoded.
    """

    def __init__(
        self,
        plan: QuestionPlan,
        evidence: Evidence,
        encoder: Encoder,
        vectors: Mapping[str, Vectors] = MappingProxyType({}),
    ) -> None:
        self.plan = plan
        self.evidence = evidence
        self.encoder = encoder
        self.vectors = vectors
        self._made: dict[Hashable, Any] = {}
        self._making = threading.RLock()

    def once(self, make: Callable[["RankedEvidence"], Made]) -> Made:
        """Return the result of `make` for this evidence, computed at most once."""
        with self._making:
            if make not in self._made:
                self._made[make] = make(self)
            return cast(Made, self._made[make])

    def with_evidence(self, evidence: Evidence) -> "RankedEvidence":
        if evidence is self.evidence:
            return self
        return RankedEvidence(self.plan, evidence, self.encoder, self.vectors)

    def without(self, passage_ids: Collection[str]) -> "RankedEvidence":
        """Return the evidence without some passages, to be ranked anew."""
        return self.with_evidence(self.evidence.without(passage_ids))

    @property
    def papers(self) -> tuple[LabelledPaper, ...]:
        return self.evidence.papers

    @_MadeOnce
    def meant(self) -> LabelledPaper | None:
        """Return the one paper that the question is about, None if it may be about several."""
        return meant_paper(self.plan.query, self.evidence)

    @_MadeOnce
    def rows(self) -> list[Candidate]:
        """Return the rows of tables that answer the question."""
        return rows_asked_for(self.plan.query, self.evidence)

    @_MadeOnce
    def by_author(self) -> list[Candidate]:
        """Return one sentence of each paper by the author whose papers are asked for, [] otherwise."""
        return papers_by_author(self.plan.query, self.evidence) if self.plan.kind == "list" else []

    @property
    def asking(self) -> Asking:
        """The question in the words of the papers."""
        return self._quotable[0]

    @property
    def sentences(self) -> list[Candidate]:
        """The sentences that may answer; only those of a summary's paper, and of a perspective asked for."""
        return self._quotable[1]

    @_MadeOnce
    def ranked(self) -> Ranked:
        """Return the likeliest sentences with their chances."""
        return rank(self.asking, self.sentences, MOST_READ)

    @_MadeOnce
    def glanced(self) -> Ranked:
        """Return the same, with fewer sentences scored by the network."""
        return rank(self.asking, self.sentences, GLANCED)

    @_MadeOnce
    def ranked_parts(self) -> tuple[Ranked, ...]:
        """Return the sentences ranked for each part of the question.

        Later parts continue the first: they are ranked in the papers of its best sentences, with the subject
        that they lean on. For a part with a second search, the sentences are those of the papers it found.
        """
        asking, sentences = self.asking, self.sentences
        first, *later = asking.plan.parts
        asked_first = _asking_part(asking, first, sentences, _kind_of_part(asking, first))
        ranked = _rank_found_for(first, asked_first, sentences) or rank(asked_first, sentences)
        likeliest = ranked.best_first(range(len(ranked.candidates)))[:TOLD_FIRST]
        labels = {ranked.candidates[index].paper.label for index in likeliest}
        same_papers = [sentence for sentence in sentences if sentence.paper.label in labels]
        ranked_parts = [ranked]
        for part in later:
            query = query_from_part(part, asking.query)
            asked = _asking_part(asking, query, sentences, _kind_of_part(asking, query))
            ranked_parts.append(_rank_found_for(part, asked, sentences) or rank(asked, same_papers))
        return tuple(ranked_parts)

    @_MadeOnce
    def open_parts(self) -> tuple[str, ...] | None:
        """Return the parts of the question that nothing in the evidence answers.

        Parts that repeat an earlier question are left out. None for a question without parts, and for one of
        more than MOST_PARTS, which would be slow.
        """
        is_whole = self.plan.kind in _TOLD_AS_A_WHOLE or len(self.plan.parts) == 1
        if is_whole or not self.papers or self.rows:
            return None
        asking = self.asking
        if asking.plan.language or not 1 < len(asking.plan.parts) <= MOST_PARTS:
            return None
        bar = thresholds().refusal.answerable_strict
        return tuple(
            part
            for part, ranked in zip(asking.plan.parts, self.ranked_parts, strict=True)
            if part in asking.plan.new_parts
            and (
                ranked.answerable < bar
                or is_unsaid(replace(asking, plan=_plan_part(asking, part)))
                or not _keeps_to_names(asking.plan, part, ranked)
            )
        )

    @property
    def is_answered_in_part(self) -> bool:
        """Whether some part of the question is answered, if not each."""
        return self.open_parts is not None and len(self.open_parts) < len(self.asking.plan.new_parts)

    @_MadeOnce
    def _quotable(self) -> tuple[Asking, list[Candidate]]:
        is_of_one = self.plan.kind == "summary" and self.meant
        evidence = Evidence((self.meant,)) if is_of_one and self.meant else self.evidence
        asking, quotable = ask_of(self.plan, evidence, self.encoder, self.vectors)
        if perspective := asking.plan.perspective:
            quotable = [sentence for sentence in quotable if perspective.is_taken_by(sentence.text)]
        may_answer = _answering(asking)
        return asking, [sentence for sentence in quotable if may_answer(sentence)]

    def rank_sides(self, sides: Sequence[str]) -> list[Ranked]:
        """Return the sentences that name each side of a comparison, ranked by how well they define it."""
        asking_sides = (_asking_part(self.asking, side, self.sentences, kind="definition") for side in sides)
        naming = (
            [sentence for sentence in self.sentences if says_side(sentence.text, side)] for side in sides
        )
        return [rank(side, named) for side, named in zip(asking_sides, naming, strict=True)]

    def is_of_rows(self, answer: Answer) -> bool:
        """Return True for an answer that consists only of `rows`."""
        claims = {sentence.claim.rstrip(".") for sentence in answer.sentences}
        return bool(claims) and claims <= {row.text.rstrip(".") for row in self.rows}


def _kind_of_part(asking: Asking, query: str) -> RequestKind:
    """Return the kind of answer that a part asks for: "What is X, and why does it fail?" asks for two."""
    kind = request_kind(query, Scope())
    return kind if kind in _OF_PARTS else asking.kind


def _rank_found_for(part: str, asked: Asking, sentences: Sequence[Candidate]) -> Ranked | None:
    """Rank the sentences of the papers that a second search found for a part, None if there was none."""
    papers = [paper for paper in asked.evidence.papers if part in paper.found_for]
    if not papers:
        return None
    first = {paper.label: replace(paper, label=place) for place, paper in enumerate(papers, start=1)}
    original = dict(enumerate(papers, start=1))
    theirs = [
        replace(sentence, paper=first[sentence.paper.label])
        for sentence in sentences
        if sentence.paper.label in first
    ]
    ranked = rank(replace(asked, evidence=Evidence(tuple(first.values()))), theirs)
    candidates = [
        replace(candidate, paper=original[candidate.paper.label]) for candidate in ranked.candidates
    ]
    return replace(ranked, candidates=candidates)


def _keeps_to_names(plan: QuestionPlan, part: str, ranked: Ranked) -> bool:
    """Return False if a part says "it" of a name that its likeliest sentence's paper does not mention."""
    if not plan.names or names_in(part) or vocabulary().pointing.isdisjoint(words(part)):
        return True
    best = ranked.candidates[int(ranked.chance.argmax())]
    return any(says_name(f"{best.paper.paper.title} {best.passage.text}", name) for name in plan.names)


def _plan_part(asking: Asking, part: str) -> QuestionPlan:
    """Return the plan of one part of a question; the part is taken to be in the language of the whole."""
    return replace(asking.plan.with_query(part), language=asking.plan.language)


def _asking_part(
    asking: Asking, part: str, sentences: Sequence[Candidate], kind: RequestKind | None = None
) -> Asking:
    plan = _plan_part(asking, part).with_kind(kind or asking.kind)
    vector = asking.encoder.encode_query(part)
    return replace(asking, plan=plan, vector=vector, rarity=rarity_of(part, sentences, plan.language))


def _answering(asking: Asking) -> Callable[[Candidate], bool]:
    """Return a predicate for sentences that have the number asked for and belong to the named subject.

    A sentence with a fact about something named has the name in its passage or its paper's title.
    """
    if asking.plan.language:
        return lambda _: True  # Needs and names are read in English only.
    asked, names = asking.plan.asked, asking.plan.names

    def mentions_name(title: str, text: str) -> bool:
        return any(says_name(f"{title} {text}", name) for name in names)

    def may_answer(sentence: Candidate) -> bool:
        if not asked.may_be_answered_by(sentence.text):
            return False
        title = sentence.paper.paper.title
        if names and asking.kind == "fact" and not mentions_name(title, sentence.passage.text):
            return False
        if names and asked.needs in ("number", "share"):
            return mentions_name(title, _with_first_number(sentence.text))
        return True

    return may_answer


def _with_first_number(text: str) -> str:
    """Cut a sentence at its first number, or behind the clause of that if no name stands before the number.

    "MiniCheck with 770 million parameters is as good as GPT-4" gives no number of GPT-4.
    """
    number = _NUMBER.search(text)
    if number is None:
        return text
    before = text[: number.start()]
    return before if names_in(before) else text[: number.end()]


def is_unsaid(asking: Asking) -> bool:
    """Return True if no text has some name of the question, or none has it with the setting asked for.

    "What batch size was used to train X?" can be answered only by a text on X and batch size.
    """
    if asking.plan.language:
        return False  # German has nouns in capitals, other scripts have none.
    texts = [
        f"{paper.paper.title} {' '.join(author.name for author in paper.paper.authors)} {passage.text}"
        for paper in asking.evidence.papers
        for passage in paper.passages
    ]
    if any(not any(says_name(text, name) for text in texts) for name in asking.plan.name_parts):
        return True
    part, names = asking.plan.part, asking.plan.names
    if not names or part is None or part.name != "settings" or not part.term:
        return False
    naming = (text for text in texts if any(says_name(text, name) for name in names))
    return not any(stems(part.term) <= stems(text) for text in naming)
