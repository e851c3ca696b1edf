"""A generator without a model: it selects sentences from the evidence, arranges and cites them.

Nothing it writes can be unsupported: every sentence is a paper's own, shortened at its start or put into
the third person and otherwise as it stands.
"""

import time
from collections.abc import Generator as Iteration
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from assistant.checking.thresholds import KindLimits, thresholds
from assistant.generators.extractive.candidates import Candidate, distinct, rows_asked_for
from assistant.generators.extractive.choosing import arrange, choose, limits_of
from assistant.generators.extractive.found import (
    FoundSentences,
    cannot_answer,
    find_sentences,
    open_parts,
    rank_parts,
)
from assistant.generators.extractive.listing import list_papers, list_papers_by, tell_overview
from assistant.generators.extractive.one_paper import ABOUT, meant_paper, narrowed, not_stated, tell_part
from assistant.generators.extractive.ranking import Ranked
from assistant.generators.extractive.sides import tell_sides
from assistant.generators.extractive.yes_or_no import LEADS, covers, take_side
from assistant.generators.protocol import EXTRACTIVE
from assistant.prompts.render import NO_ANSWER
from assistant.questions.comparisons import compared
from assistant.questions.intent import is_yes_or_no
from assistant.questions.parts import AskedPart, asked_part
from assistant.questions.perspective import perspective_of
from assistant.questions.rewriting import query_from_part, rewrite_from_words
from assistant.questions.vocabulary import stems
from assistant.records import (
    NOTHING_NEAR,
    Call,
    CallLog,
    Draft,
    Evidence,
    LabelledPaper,
    RequestKind,
    Rewrite,
    Step,
    Turn,
)
from corpus.encoders.base import Encoder

MOST_OF_A_PART = 2
TAKES_SIDES: tuple[RequestKind, ...] = ("fact", "how", "synthesis", "definition")


class ExtractiveGenerator:
    """Selects, arranges and cites sentences of the evidence; it needs the encoder and nothing else."""

    name = EXTRACTIVE
    label = "Extractive (no model)"

    def __init__(self, encoder: Encoder, *, searches_again: bool = True) -> None:
        self._encoder = encoder
        self.searches_again = searches_again

    def rewrite_question(self, question: str, history: tuple[Turn, ...], log: CallLog) -> Rewrite:
        started, clock = datetime.now(UTC), time.perf_counter()
        rewrite = rewrite_from_words(question, history)
        log.add(_call("rewrite", rewrite.search_query, started, time.perf_counter() - clock))
        return rewrite

    def query_for_part(self, part: str, rewrite: Rewrite, log: CallLog) -> str:
        started, clock = datetime.now(UTC), time.perf_counter()
        query = query_from_part(part, rewrite.searched_for)
        log.add(_call("search_again", query, started, time.perf_counter() - clock))
        return query

    def write_draft(
        self,
        rewrite: Rewrite,
        history: tuple[Turn, ...],  # noqa: ARG002 - the search query already carries what matters of it
        evidence: Evidence,
        log: CallLog,
    ) -> Iteration[str, None, Draft]:
        """Yield the chosen sentences one by one; a draft without text says that none was near enough."""
        started, clock = datetime.now(UTC), time.perf_counter()
        told = self.select(rewrite, evidence, limits_of(rewrite.kind))
        pieces = [*self._side(rewrite, evidence, told), *arrange(told, rewrite.kind)]
        yield from pieces
        draft = Draft("".join(pieces), "stop") if pieces else _nothing(rewrite, evidence)
        call = _call("write", draft.text, started, time.perf_counter() - clock)
        log.add(replace(call, finish_reason=draft.finish_reason))
        return draft

    def select(self, rewrite: Rewrite, evidence: Evidence, limits: KindLimits) -> list[Candidate]:
        """Return the sentences that answer, in their order; none where none is likely enough."""
        told = self._told_part(rewrite, evidence)
        if told is not None or (told := rows_asked_for(rewrite.searched_for, evidence)):
            return told
        if open_parts(rewrite, evidence, self._encoder) is not None:
            return self._tell_each(rank_parts(rewrite, evidence, self._encoder), limits)
        found = find_sentences(rewrite, evidence, self._encoder)
        if sides := self._told_sides(found):
            return sides
        if rewrite.kind != "list" and len(found.parts) > 1:
            return self._tell_each(rank_parts(rewrite, evidence, self._encoder), limits)
        return self._of_kind(found, limits)

    def _told_sides(self, found: FoundSentences) -> list[Candidate]:
        """Return sentences on both sides of a comparison, none where one is nowhere told of."""
        sides = compared(found.asking.query) if found.asking.kind == "comparison" else None
        return self._distinct(tell_sides(found, sides)) if sides else []

    def _of_kind(self, found: FoundSentences, limits: KindLimits) -> list[Candidate]:
        kind, ranked = found.asking.kind, found.ranked
        if kind == "list":
            by_whom = list_papers_by(found.asking.query, found.asking.evidence)
            return by_whom or list_papers(ranked, limits)
        if kind == "synthesis" and len(found.asking.evidence.papers) > 1:
            return tell_overview(ranked, limits)
        return choose(ranked, limits)

    def _distinct(self, told: Sequence[Candidate]) -> list[Candidate]:
        """Return sentences without those that say what one before them says."""
        alike = thresholds().extractive.alike
        return [told[at] for at in distinct([one.text for one in told], self._encoder, alike)]

    def _side(self, rewrite: Rewrite, evidence: Evidence, told: Sequence[Candidate]) -> list[str]:
        """Return the side that the likeliest sentence takes in a question that asks for yes or no."""
        if not told or rewrite.kind not in TAKES_SIDES or not is_yes_or_no(rewrite.searched_for):
            return []
        ranked = find_sentences(rewrite, evidence, self._encoder).ranked
        chance = {one.text: float(ranked.chance[at]) for at, one in enumerate(ranked.candidates)}
        best = max(told, key=lambda one: chance.get(one.text, 0.0))
        is_likely = chance.get(best.text, 0.0) >= thresholds().extractive.side
        is_told = is_likely and covers(rewrite.searched_for, best.text)
        return [LEADS[take_side(rewrite.searched_for, best.text) if is_told else "open"] + "\n"]

    def _tell_each(self, parts: Sequence[Ranked], limits: KindLimits) -> list[Candidate]:
        """Select sentences for each part of the question, in order, without duplicates."""
        few = limits.model_copy(update={"most": min(limits.most, MOST_OF_A_PART)})
        return self._distinct([one for part in parts for one in choose(part, few)])

    def _told_part(self, rewrite: Rewrite, evidence: Evidence) -> list[Candidate] | None:
        """Return sentences on the part asked for from the one paper meant; None where more is asked."""
        paper, query = meant_paper(rewrite.searched_for, evidence), rewrite.searched_for
        if rewrite.kind != "summary" or paper is None or perspective_of(query):
            return None
        part = asked_part(query) or ABOUT
        told = self._tell(paper, part)
        return None if not told and narrowed(part, paper) else told

    def _tell(self, paper: LabelledPaper, part: AskedPart) -> list[Candidate]:
        """Return a paper's sentences on a part of it, the surest first."""
        passages = {passage.number: passage for passage in paper.passages}
        return [
            Candidate(paper, passages[one.passage], one.sentence, one.text, stems(one.text))
            for one in tell_part(paper, part, self._encoder)
        ]


def papers_telling(rewrite: Rewrite, evidence: Evidence, encoder: Encoder) -> tuple[str, ...]:
    """Return the ids of the papers from which an answer would quote, the surest first."""
    if cannot_answer(rewrite, evidence, encoder):
        return ()
    chosen = choose(find_sentences(rewrite, evidence, encoder).ranked, limits_of(rewrite.kind))
    return tuple(dict.fromkeys(one.paper.paper.id for one in chosen))


def _nothing(rewrite: Rewrite, evidence: Evidence) -> Draft:
    """Return the draft of what has no answer: it says so of a part that a paper does not tell."""
    part, paper = asked_part(rewrite.searched_for), meant_paper(rewrite.searched_for, evidence)
    is_told = part and (part.term or part.cues.missing)
    if rewrite.kind == "summary" and part and is_told and paper:
        return Draft(f"{NO_ANSWER} {not_stated(part, paper)}", NOTHING_NEAR)
    return Draft("", NOTHING_NEAR)


def _call(step: Step, reply: str, started: datetime, seconds: float) -> Call:
    return Call(
        step=step,
        model=ExtractiveGenerator.name,
        messages=(),
        parameters=None,
        reply=reply,
        started=started.isoformat(timespec="milliseconds"),
        seconds=seconds,
    )
