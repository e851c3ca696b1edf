"""Adds earlier turns to examples: those that a question follows up, and similar ones of other documents.

TruthReader chooses irrelevant turns by the similarity of embeddings (section 4.1), and puts one to three
sessions before a single turn (section 4.2.1).
"""

import random
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from assistant.records import Evidence
from corpus.encoders.base import Encoder
from training.truthreader.examples import CitedSentence, Example, HistoryType, Pair
from training.truthreader.faithful import clean_sentences

NEAREST = 10  # an irrelevant history is drawn from this many nearest sessions
MOST_SESSIONS = 3
IRRELEVANT = 0.5  # probability of an irrelevant history
Session = tuple[Example, ...]


class Histories:
    """Groups examples into sessions: a self-contained question and its chain of follow-ups."""

    def __init__(self, examples: Sequence[Example], encoder: Encoder) -> None:
        self._by_id = {example.pair.id: example for example in examples}
        follow_ups: dict[str, Example] = {}
        for example in examples:
            if example.pair.follows:
                follow_ups.setdefault(example.pair.follows.id, example)
        self._sessions: list[Session] = []
        for example in examples:
            if not example.pair.follows:
                session = [example]
                while follow_up := follow_ups.get(session[-1].pair.id):
                    session.append(follow_up)
                self._sessions.append(tuple(session))
        first_questions = [session[0].pair.question for session in self._sessions]
        self._vectors = (
            encoder.encode_passages(first_questions) if first_questions else np.zeros((0, 1), np.float32)
        )
        self._rows = {session[0].pair.id: row for row, session in enumerate(self._sessions)}

    def extend(self, example: Example, generator: random.Random) -> Example | None:
        """Add earlier turns of a random type; None if the example follows up one that was dropped.

        The irrelevant history of a self-contained question has up to three sessions, that of a follow-up one.
        """
        relevant = self._relevant(example)
        if example.pair.follows and not relevant:
            return None
        irrelevant: Session = ()
        if generator.random() < IRRELEVANT:
            count = 1 if relevant else generator.randint(1, MOST_SESSIONS)
            near = self._near(relevant[0] if relevant else example)
            sessions = generator.sample(near, min(count, len(near)))
            irrelevant = tuple(turn for session in sessions for turn in session)
        kinds: tuple[HistoryType, ...] = ("none", "relevant", "irrelevant", "both")
        kind = kinds[bool(relevant) + 2 * bool(irrelevant)]
        return replace(example, history=(*irrelevant, *relevant), history_type=kind)

    def _relevant(self, example: Example) -> Session:
        """Return the turns that lead to an example, from the first, or the first after a dropped one."""
        turns: list[Example] = []
        followed = example.pair.follows
        while followed and (earlier := self._turn(followed)):
            turns.insert(0, earlier)
            followed = earlier.pair.follows
        return tuple(turns)

    def _turn(self, pair: Pair) -> Example | None:
        """Return a pair as an earlier turn; None if a model wrote it and a filter dropped it.

        Turns of published dialogues are used even if they were dropped as examples.
        """
        if pair.source == "documents" or pair.id in self._by_id:
            return self._by_id.get(pair.id)
        sentences = (CitedSentence(sentence, ()) for sentence in clean_sentences(pair.answer))
        return Example(pair, Evidence(()), tuple(sentences))

    def _near(self, example: Example) -> list[Session]:
        """Return the sessions of other documents with the most similar first questions."""
        row = self._rows.get(example.pair.id)
        if row is None:  # the first turn of its session was dropped
            return []
        papers = {passage.paper_id for passage in example.pair.passages}
        order = np.argsort(-(self._vectors @ self._vectors[row]), kind="stable")
        sessions = (self._sessions[index] for index in order)
        others = (
            session for session in sessions if all(papers.isdisjoint(turn.cited_papers) for turn in session)
        )
        return [session for session, _ in zip(others, range(NEAREST), strict=False)]
