"""A generator without a model: it selects sentences from the evidence, arranges and cites them.

Nothing it writes can be unsupported: every sentence is a paper's own, shortened at its start or put into
the third person and otherwise as it stands.
"""

import time
from collections.abc import Generator as Iteration
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np

from assistant.checking import ExtractiveWeights
from assistant.generators.extractive.candidates import Candidate, distinct, quotable_sentences
from assistant.generators.extractive.choosing import arrange, choose, limits_of
from assistant.generators.extractive.listing import list_papers
from assistant.generators.extractive.one_paper import ABOUT, meant_paper, narrowed, not_stated, tell_part
from assistant.generators.extractive.ranking import (
    Ranked,
    beside_learned,
    centred_cosines,
    defines,
    rarity_of,
    relevance_of,
    shortlist,
    to_the_point,
)
from assistant.generators.extractive.sides import tell_sides
from assistant.generators.protocol import EXTRACTIVE
from assistant.prompts import NO_ANSWER
from assistant.questions import (
    Asked,
    AskedPart,
    asked_part,
    compared,
    read_question,
    rewrite_from_words,
    spelt_out,
    stems,
)
from assistant.records import NOTHING_NEAR, Call, CallLog, Draft, Evidence, LabelledPaper, Rewrite, Step, Turn
from corpus.encoders import Encoder, cosine_scales

NONE = np.zeros(0, np.float32)


class ExtractiveGenerator:
    """Selects, arranges and cites sentences of the evidence; it needs the encoder and nothing else."""

    name = EXTRACTIVE
    label = "Extractive (no model)"

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder

    def rewrite_question(self, question: str, history: tuple[Turn, ...], log: CallLog) -> Rewrite:
        started, clock = datetime.now(UTC), time.perf_counter()
        rewrite = rewrite_from_words(question, history)
        log.add(_call("rewrite", rewrite.search_query, started, time.perf_counter() - clock))
        return rewrite

    def write_draft(
        self,
        rewrite: Rewrite,
        history: tuple[Turn, ...],  # noqa: ARG002 - the search query already carries what matters of it
        evidence: Evidence,
        log: CallLog,
    ) -> Iteration[str, None, Draft]:
        """Yield the chosen sentences one by one; a draft without text says that none was near enough."""
        started, clock = datetime.now(UTC), time.perf_counter()
        pieces = arrange(self._select(rewrite, evidence), rewrite.kind)
        yield from pieces
        draft = Draft("".join(pieces), "stop") if pieces else _nothing(rewrite, evidence)
        call = _call("write", draft.text, started, time.perf_counter() - clock)
        log.add(replace(call, finish_reason=draft.finish_reason))
        return draft

    def _select(self, rewrite: Rewrite, evidence: Evidence) -> list[Candidate]:
        kind, paper = rewrite.kind, meant_paper(rewrite.searched_for, evidence)
        if kind == "summary" and paper:
            part = asked_part(rewrite.searched_for) or ABOUT
            told = self._tell(paper, part)
            if told or not narrowed(part, paper):
                return told
            kind, evidence = "fact", Evidence((paper,))
        text = "\n".join(passage.text for paper in evidence.papers for passage in paper.passages)
        query = spelt_out(rewrite.searched_for, text)
        asked, limits = read_question(query), limits_of(kind, len(evidence.papers))
        sentences = quotable_sentences(evidence, query)
        if kind == "list":
            return list_papers(query, self._ranked(query, sentences, asked, limits), evidence)
        if kind == "comparison" and (sides := compared(query)):
            told = tell_sides(sides, self._ranked(query, sentences, asked, limits), evidence)
            return [told[at] for at in distinct([item.text for item in told], self._encoder, limits.alike)]
        return self._chosen(query, to_the_point(sentences, asked), asked, limits)

    def _tell(self, paper: LabelledPaper, part: AskedPart) -> list[Candidate]:
        """Return what a paper says of a part of it, the surest first."""
        passages = {passage.number: passage for passage in paper.passages}
        return [
            Candidate(paper, passages[one.passage], one.sentence, one.text, stems(one.text))
            for one in tell_part(paper, part, self._encoder)
        ]

    def _chosen(
        self, query: str, sentences: list[Candidate], asked: Asked, weights: ExtractiveWeights
    ) -> list[Candidate]:
        """Return the sentences that answer a query, best first."""
        ranked = self._ranked(query, sentences, asked, weights)
        if not ranked.candidates:
            return []
        return [ranked.candidates[index] for index in choose(ranked, weights)]

    def _ranked(
        self, query: str, sentences: list[Candidate], asked: Asked, weights: ExtractiveWeights
    ) -> Ranked:
        """Return the sentences that share most with a query, with how well they answer it."""
        rarity = rarity_of(query, sentences)
        candidates = shortlist(sentences, rarity, weights.candidates)
        if not candidates:
            return Ranked([], NONE, NONE, NONE)
        vectors = self._encoder.encode_passages([candidate.text for candidate in candidates])
        asked_for = self._encoder.encode_query(query)
        similarity = centred_cosines(asked_for, vectors)
        relevance = relevance_of(similarity, rarity, candidates, weights)
        relevance += weights.definition * np.asarray([defines(item, asked) for item in candidates])
        alike = cosine_scales(self._encoder).alike(vectors @ vectors.T)
        if not asked.defined:  # How a definition begins says more.
            relevance = beside_learned(query, candidates, relevance, asked_for, vectors)
        return Ranked(candidates, relevance, vectors @ asked_for, alike)


def _nothing(rewrite: Rewrite, evidence: Evidence) -> Draft:
    """Return the draft of what has no answer: it says so of a part that a paper does not tell."""
    part = asked_part(rewrite.searched_for)
    is_told = part and (part.term or part.cues.missing)
    if rewrite.kind == "summary" and part and is_told and meant_paper(rewrite.searched_for, evidence):
        return Draft(f"{NO_ANSWER} {not_stated(part)}", NOTHING_NEAR)
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
