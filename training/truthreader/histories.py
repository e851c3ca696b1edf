"""Earlier turns of a dialogue: those that a question leans on, and near ones of other documents.

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

NEAREST = 10  # sessions that an irrelevant history is drawn from
MOST_SESSIONS = 3
IRRELEVANT = 0.5  # share of the dialogues with an irrelevant history
Session = tuple[Example, ...]


class Histories:
    """The sessions that examples make: a question that stands alone, and what follows it up."""

    def __init__(self, made: Sequence[Example], encoder: Encoder) -> None:
        self._by_id = {example.pair.id: example for example in made}
        following: dict[str, Example] = {}
        for example in made:
            if example.pair.leans_on:
                following.setdefault(example.pair.leans_on.id, example)
        self._sessions: list[Session] = []
        for example in made:
            if not example.pair.leans_on:
                session = [example]
                while follow_up := following.get(session[-1].pair.id):
                    session.append(follow_up)
                self._sessions.append(tuple(session))
        opened = [session[0].pair.question for session in self._sessions]
        self._vectors = encoder.encode_passages(opened) if opened else np.zeros((0, 1), np.float32)
        self._rows = {session[0].pair.id: row for row, session in enumerate(self._sessions)}

    def extend(self, example: Example, chance: random.Random) -> Example | None:
        """Return an example with earlier turns of a drawn type; None where the one that it leans on is gone.

        A question that stands alone gets up to three sessions, a follow-up one before its own.
        """
        relevant = self._relevant(example)
        if example.pair.leans_on and not relevant:
            return None
        irrelevant: Session = ()
        if chance.random() < IRRELEVANT:
            count = 1 if relevant else chance.randint(1, MOST_SESSIONS)
            near = self._near(relevant[0] if relevant else example)
            drawn = chance.sample(near, min(count, len(near)))
            irrelevant = tuple(turn for session in drawn for turn in session)
        kinds: tuple[HistoryType, ...] = ("none", "relevant", "irrelevant", "both")
        kind = kinds[bool(relevant) + 2 * bool(irrelevant)]
        return replace(example, history=(*irrelevant, *relevant), history_type=kind)

    def _relevant(self, example: Example) -> Session:
        """Return the turns that lead to an example, from the first or the first after a gap."""
        turns: list[Example] = []
        leans_on = example.pair.leans_on
        while leans_on and (earlier := self._turn(leans_on)):
            turns.insert(0, earlier)
            leans_on = earlier.pair.leans_on
        return tuple(turns)

    def _turn(self, pair: Pair) -> Example | None:
        """Return a pair as an earlier turn, None of one that the model wrote and a filter dropped.

        A published dialogue keeps its turns: what is no example to learn from was said all the same.
        """
        if pair.source == "documents" or pair.id in self._by_id:
            return self._by_id.get(pair.id)
        said = (CitedSentence(sentence, ()) for sentence in clean_sentences(pair.answer))
        return Example(pair, Evidence(()), tuple(said))

    def _near(self, example: Example) -> list[Session]:
        """Return the sessions of other documents whose first questions mean nearly the same."""
        row = self._rows.get(example.pair.id)
        if row is None:  # the dialogue's beginning is gone
            return []
        own = {passage.paper_id for passage in example.pair.shown}
        order = np.argsort(-(self._vectors @ self._vectors[row]), kind="stable")
        others = (self._sessions[place] for place in order)
        free = (session for session in others if all(own.isdisjoint(turn.cited_papers) for turn in session))
        return [session for session, _ in zip(free, range(NEAREST), strict=False)]
