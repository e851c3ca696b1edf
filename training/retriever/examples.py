"""From queries to what is read: a history to each, its form, its own text, and hard negatives by words."""

import random
from collections.abc import Iterator, Mapping, Sequence

from corpus.language import Bm25
from evaluation.answers.query_contexts import HISTORIES, QueryContext, history_of, query_in_context
from evaluation.answers.rewriting import Exchange
from training.retriever.task import Example
from training.sets import SoughtTexts
from training.trunk import PairTokenizer

HARDEST = 8  # of the texts nearest by words the negatives are taken, by chance: the nearest may be right


class Asking:
    """Gives queries of a dialogue one of four kinds of history (TruthReader, section 3.1), and their form."""

    def __init__(self, rows: Sequence[SoughtTexts], context: QueryContext, seed: int) -> None:
        self._context = context
        self._seed = seed
        self._others: dict[str, list[SoughtTexts]] = {}
        for row in rows:
            if row.history:
                self._others.setdefault(row.set, []).append(row)

    def query(self, row: SoughtTexts) -> str:
        """Return what the search is asked: without its own history a question is asked as one alone."""
        if not row.history:
            return row.query
        chance = random.Random(f"{self._seed}:{row.set}:{row.group}:{row.query}")
        kind = chance.choice(HISTORIES if row.alone else ("relevant", "both"))
        question = row.query if kind in ("relevant", "both") else row.alone
        return query_in_context(
            self._context, question, history_of(kind, row.history, self._other(row, chance))
        )

    def _other(self, row: SoughtTexts, chance: random.Random) -> tuple[Exchange, ...]:
        """Return the history of another paper or dialogue, none where there is no other."""
        drawn = chance.choice(self._others[row.set])
        return drawn.history if drawn.group != row.group else ()


class Mining:
    """Finds the texts of a query's set that a search by words would put beside the right ones."""

    def __init__(self, rows: Sequence[SoughtTexts], seed: int) -> None:
        self._seed = seed
        pools: dict[str, dict[str, None]] = {}
        for row in rows:
            pools.setdefault(row.set, {}).update(dict.fromkeys(row.texts))
        self._pools = {name: list(pool) for name, pool in pools.items()}
        self._nearest = {name: Bm25(pool) for name, pool in self._pools.items()}

    def negatives(self, row: SoughtTexts, count: int) -> list[str]:
        """Return at most so many texts that are near to a query by its words, and not right for it."""
        pool = self._pools[row.set]
        asked = row.alone or row.query
        order = self._nearest[row.set].order(asked, HARDEST + len(row.texts))
        wrong = [pool[index] for index in order if pool[index] not in row.texts][:HARDEST]
        return random.Random(f"{self._seed}:{row.query}").sample(wrong, min(count, len(wrong)))


class Examples:
    """Turns queries into what is read, with a number for each text."""

    def __init__(self, asking: Asking, mining: Mining, tokenizer: PairTokenizer) -> None:
        self._asking, self._mining, self._tokenizer = asking, mining, tokenizer
        self._keys: dict[str, int] = {}

    def of(self, row: SoughtTexts, negatives: int) -> Example:
        """Return a query with one of its texts, taken by chance, and so many hard negatives."""
        own = random.Random(f"{row.group}:{row.query}").choice(row.texts)
        texts = [own, *self._mining.negatives(row, negatives)]
        query, *encoded = self._tokenizer.texts([self._asking.query(row), *texts])
        keys = tuple(self._key(text) for text in texts)
        return Example(query, tuple(encoded), keys, frozenset(map(self._key, row.texts)))

    def within(self, rows: Sequence[SoughtTexts], negatives: int, most: int | None) -> Iterator[Example]:
        """Yield the examples of rows, of which they have so many tokens at most."""
        left = float("inf") if most is None else most
        for row in rows:
            example = self.of(row, negatives)
            left -= example.tokens
            if left < 0:
                return
            yield example

    def _key(self, text: str) -> int:
        return self._keys.setdefault(text, len(self._keys))


def by_set(rows: Sequence[SoughtTexts]) -> Mapping[str, list[SoughtTexts]]:
    found: dict[str, list[SoughtTexts]] = {}
    for row in rows:
        found.setdefault(row.set, []).append(row)
    return found
