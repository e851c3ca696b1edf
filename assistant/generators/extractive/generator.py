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
from assistant.generators.extractive.choosing import arrange, choose, limits_of
from assistant.generators.extractive.listing import list_papers, tell_overview
from assistant.generators.extractive.sides import tell_sides
from assistant.generators.extractive.yes_or_no import LEADS, covers, take_side
from assistant.generators.protocol import EXTRACTIVE
from assistant.prompts.render import NO_ANSWER
from assistant.questions.comparisons import says_side
from assistant.questions.rewriting import query_from_part, rewrite_from_words
from assistant.questions.vocabulary import stems
from assistant.ranking.candidates import Candidate, distinct
from assistant.ranking.evidence import RankedEvidence
from assistant.ranking.gate import cannot_answer
from assistant.ranking.one_paper import ABOUT, narrowed, not_stated, tell_part
from assistant.ranking.rank import Ranked
from assistant.records import (
    NOTHING_NEAR,
    Call,
    CallLog,
    Draft,
    RequestKind,
    Rewrite,
    Step,
    Turn,
)
from corpus.encoders.base import Encoder
from corpus.wording import joined

MOST_OF_A_PART = 2
TAKES_SIDES: tuple[RequestKind, ...] = ("fact", "how", "synthesis", "definition")


class ExtractiveGenerator:
    """Selects, arranges and cites sentences of the evidence; it needs only the encoder."""

    name = EXTRACTIVE
    label = "Extractive (no model)"
    writes_freely = asks_model = is_small = is_slow = False

    def __init__(self, encoder: Encoder, *, searches_again: bool = True) -> None:
        self._encoder = encoder
        self.searches_again = searches_again

    def for_sampling(self) -> "ExtractiveGenerator":
        return self

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
        found: RankedEvidence,
        history: tuple[Turn, ...],  # noqa: ARG002 - the search query already carries what matters of it
        log: CallLog,
    ) -> Iteration[str, None, Draft]:
        """Yield the chosen sentences, then return the draft, whose text is "" if none was near enough."""
        started, clock = datetime.now(UTC), time.perf_counter()
        told = self.select(found, limits_of(found.plan.kind))
        pieces = [*_side(found, told), *arrange(told, found.plan.kind), *_name_open_parts(found, told)]
        yield from pieces
        draft = Draft("".join(pieces), "stop") if pieces else _nothing(found)
        call = _call("write", draft.text, started, time.perf_counter() - clock)
        log.add(replace(call, finish_reason=draft.finish_reason))
        return draft

    def select(self, found: RankedEvidence, limits: KindLimits) -> list[Candidate]:
        """Return the sentences that answer, in their order; [] if none is likely enough."""
        told = self._told_part(found)
        if told is not None or (told := found.rows):
            return told
        if found.open_parts is not None:
            parts = zip(found.asking.plan.parts, found.ranked_parts, strict=True)
            new = found.asking.plan.new_parts
            answered = [ranked for part, ranked in parts if part in new and part not in found.open_parts]
            return self._tell_each(answered or found.ranked_parts, limits)
        sides = found.asking.plan.sides if found.plan.kind == "comparison" else None
        if sides and (told := self._distinct(tell_sides(found, sides))):
            return told
        if found.plan.kind != "list" and len(found.asking.plan.parts) > 1:
            return self._tell_each(found.ranked_parts, limits)
        return _of_kind(found, limits)

    def _distinct(self, told: Sequence[Candidate]) -> list[Candidate]:
        """Return sentences without near duplicates of earlier ones."""
        texts = [candidate.text for candidate in told]
        return [told[index] for index in distinct(texts, self._encoder, thresholds().extractive.alike)]

    def _tell_each(self, parts: Sequence[Ranked], limits: KindLimits) -> list[Candidate]:
        """Select sentences for each part of the question, in order, without duplicates."""
        per_part = limits.model_copy(update={"most": min(limits.most, MOST_OF_A_PART)})
        return self._distinct([candidate for part in parts for candidate in choose(part, per_part)])

    def _told_part(self, found: RankedEvidence) -> list[Candidate] | None:
        """Return sentences of the paper meant on the part asked for; None if the question asks for more."""
        paper, plan = found.meant, found.plan
        if plan.kind != "summary" or paper is None or plan.perspective:
            return None
        part = plan.part or ABOUT
        passages = {passage.number: passage for passage in paper.passages}
        told = [
            Candidate(
                paper, passages[sentence.passage], sentence.sentence, sentence.text, stems(sentence.text)
            )
            for sentence in tell_part(paper, part, self._encoder)
        ]
        return None if not told and narrowed(part, paper) else told


def _of_kind(found: RankedEvidence, limits: KindLimits) -> list[Candidate]:
    if found.plan.kind == "list":
        return found.by_author or list_papers(found.ranked, limits)
    if found.plan.kind == "synthesis" and len(found.papers) > 1:
        return tell_overview(found.ranked, limits)
    return choose(found.ranked, limits)


def _side(found: RankedEvidence, told: Sequence[Candidate]) -> list[str]:
    """Return the lead paragraph of an answer to a yes-or-no question, from its likeliest sentence."""
    if not told or found.plan.kind not in TAKES_SIDES or not found.plan.is_yes_or_no:
        return []
    query, ranked = found.plan.query, found.ranked
    chance = {
        candidate.text: float(ranked.chance[index]) for index, candidate in enumerate(ranked.candidates)
    }
    best = max(told, key=lambda candidate: chance.get(candidate.text, 0.0))
    is_likely = chance.get(best.text, 0.0) >= thresholds().extractive.side
    is_told = is_likely and covers(query, best.text)
    return [LEADS[take_side(query, best.text) if is_told else "open"] + "\n\n"]


def _name_open_parts(found: RankedEvidence, told: Sequence[Candidate]) -> list[str]:
    """Return a paragraph on what of the question is left open: a part, or one side of a comparison."""
    if not told:
        return []
    if found.open_parts and found.is_answered_in_part:
        parts = joined([f"“{part.rstrip(' ?.')}”" for part in found.open_parts], "or")
        return [f"\n\nThe papers found do not answer {parts}."]
    sides = (found.plan.kind == "comparison" and found.asking.plan.sides) or ()
    texts = [f"{paper.paper.title} {passage.text}" for paper in found.papers for passage in paper.passages]
    unsaid = [side for side in sides if not any(says_side(text, side) for text in texts)]
    return [f"\n\nThe papers found do not mention “{unsaid[0]}”."] if len(unsaid) == 1 else []


def papers_telling(found: RankedEvidence) -> tuple[str, ...]:
    """Return the ids of the papers that an answer would quote, the likeliest first."""
    if cannot_answer(found):
        return ()
    chosen = choose(found.ranked, limits_of(found.plan.kind))
    return tuple(dict.fromkeys(sentence.paper.paper.id for sentence in chosen))


def _nothing(found: RankedEvidence) -> Draft:
    """Return a draft without an answer; it names a part that was asked for and the paper does not state."""
    part, paper = found.plan.part, found.meant
    is_told = part and (part.term or part.cues.missing)
    if found.plan.kind == "summary" and part and is_told and paper:
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
