"""Known items: papers looked for by what somebody remembers of them, with a slip or without.

Every query is made of the corpus itself, and what it should find is the paper that it was made of.
"""

import random
import re
import string
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from corpus.language.stemming import stop_words
from corpus.records import Paper, Scope
from corpus.search.hybrid import search
from corpus.settings import read_settings
from corpus.text import words
from evaluation.harness import Figures, Report, command, grouped, table
from evaluation.homes import open_home
from evaluation.input_files import EvaluationError

DEPTH = 10
# Rare words taken from a title, and words of a quoted phrase.
RARE_WORDS, PHRASE_WORDS = 3, 4
SHORTEST_MISSPELT = 5
_HEAD = re.compile(r"([A-Za-z][\w-]{1,30}):")
# "LinkBERT" and "RankT5", not "Transformers".
_NAME = re.compile(r"\b[A-Z][a-z]*[A-Z][A-Za-z]{2,20}\b")
_INNER_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


@dataclass(frozen=True, slots=True)
class KnownItem:
    """A query, and the ids of the papers that it may find."""

    kind: str
    query: str
    papers: frozenset[str]


def measure_known_items(home: Path, most: int, seed: int) -> dict[str, Figures]:
    """Return by kind of query the shares found first and in ten, of at most `most` queries of each kind.

    Raises EvaluationError where nothing can be looked for, and CorpusError.
    """
    _, encoder, corpus = open_home(home)
    kinds = grouped(known_items(corpus.papers(), random.Random(seed)), "kind")
    if not kinds:
        raise EvaluationError("The corpus has no paper that could be looked for.")

    def rank(item: KnownItem) -> int | None:
        found = search(corpus, encoder, item.query, Scope(), papers=DEPTH, passages_per_paper=1)
        return next((at for at, hit in enumerate(found) if hit.paper.id in item.papers), None)

    chance = random.Random(seed)
    sampled = {kind: chance.sample(items, min(most, len(items))) for kind, items in kinds.items()}
    ranks = {kind: [rank(item) for item in items] for kind, items in sampled.items()}
    return {
        kind: {
            "queries": len(own),
            "first": own.count(0) / len(own),
            "in_ten": (len(own) - own.count(None)) / len(own),
        }
        for kind, own in ranks.items()
    }


def known_items(papers: Sequence[Paper], chance: random.Random) -> Iterator[KnownItem]:
    """Yield the known items of the papers, kind by kind: titles, names, authors, identifiers."""
    frequency = Counter(word for paper in papers for word in set(words(paper.title)))
    yield from _by_title(papers, frequency, chance)
    yield from _by_system_name(papers, frequency, chance)
    yield from _by_name_in_abstract(papers, frequency)
    yield from _by_author(papers, frequency)
    for paper in papers:
        for kind, identifier in (("id", paper.id), ("doi", paper.doi), ("arxiv id", paper.arxiv_id)):
            if identifier:
                yield KnownItem(kind, identifier, frozenset({paper.id}))


def _by_title(papers: Sequence[Paper], frequency: Counter[str], chance: random.Random) -> Iterator[KnownItem]:
    named = Counter(paper.title for paper in papers)
    for paper in papers:
        if named[paper.title] > 1:
            continue
        own, title = frozenset({paper.id}), paper.title.split()
        yield KnownItem("title", paper.title, own)
        rare = _rarest(paper, frequency)
        if len(rare) == RARE_WORDS:
            yield KnownItem("three rare title words", " ".join(rare), own)
            if (longest := max(rare, key=len)).isalpha():
                slips = [misspelt(word, chance) if word == longest else word for word in rare]
                yield KnownItem("three rare title words, one typo", " ".join(slips), own)
        if len(title) >= PHRASE_WORDS:
            yield KnownItem("quoted words of a title", f'"{" ".join(title[:PHRASE_WORDS])}"', own)


def _rarest(paper: Paper, frequency: Mapping[str, int]) -> list[str]:
    """Return the rarest words of a title in their order there."""
    own = [word for word in dict.fromkeys(words(paper.title)) if word not in stop_words()]
    rarest = sorted(own, key=lambda word: frequency[word])[:RARE_WORDS]
    return [word for word in own if word in rarest]


def _by_system_name(
    papers: Sequence[Paper], frequency: Counter[str], chance: random.Random
) -> Iterator[KnownItem]:
    """Yield the names that titles begin with ("LinkBERT: ..."), where no other title has them."""
    for paper in papers:
        name, own = system_name(paper.title), frozenset({paper.id})
        if frequency[name.lower()] != 1:
            continue
        yield KnownItem("system name", name, own)
        if len(name) >= SHORTEST_MISSPELT and name.isalpha():
            yield KnownItem("system name, one typo", misspelt(name, chance), own)
            yield KnownItem("system name, one typo, lower case", misspelt(name, chance).lower(), own)
        parts = _INNER_CAPITAL.split(name)
        if len(parts) > 1 and "-" not in name:
            yield KnownItem("system name, split", " ".join((parts[0], "".join(parts[1:]))), own)
        if "-" in name:
            yield KnownItem("system name, joined", name.replace("-", ""), own)


def _by_name_in_abstract(papers: Sequence[Paper], titles: Counter[str]) -> Iterator[KnownItem]:
    """Yield names of abstracts that no other paper and no title has, asked for alone and beside another."""
    names = {paper.id: [*dict.fromkeys(_NAME.findall(paper.abstract))] for paper in papers}
    frequency = Counter(name.lower() for own in names.values() for name in own) + titles
    rare = ((paper, [name for name in names[paper.id] if frequency[name.lower()] == 1]) for paper in papers)
    named = [(own[0], paper) for paper, own in rare if own]
    for (name, paper), (other, _) in pairwise(named):
        own = frozenset({paper.id})
        yield KnownItem("name in an abstract, in a question", f"What is {name}?", own)
        yield KnownItem("the same, compared with another", f"{other} vs {name}: how do they differ?", own)


def _by_author(papers: Sequence[Paper], frequency: Counter[str]) -> Iterator[KnownItem]:
    """Yield people by their names: any paper of theirs is right, with words of a title that paper alone."""
    wrote: dict[str, set[str]] = {}
    family: dict[str, set[str]] = {}
    for paper in papers:
        for author in paper.authors:
            wrote.setdefault(author.name, set()).add(paper.id)
            family.setdefault(author.family, set()).add(paper.id)
    for paper in papers:
        subject, own = " ".join(_rarest(paper, frequency)[:2]), frozenset({paper.id})
        for author in paper.authors:
            if author.given:
                namesakes = frozenset(family[author.family])
                yield KnownItem("author", author.name, frozenset(wrote[author.name]))
                yield KnownItem("author, family name", author.family, namesakes)
                yield KnownItem("author, initial", f"{author.given[0]}. {author.family}", namesakes)
                yield KnownItem("author and two title words", f"{author.name} {subject}", own)
                asked = f"What did {author.name} write about {subject}?"
                yield KnownItem("author and subject in a question", asked, own)


def system_name(title: str) -> str:
    """Return the name of a system that a title begins with, "LinkBERT" of "LinkBERT: ...", or ""."""
    head = _HEAD.match(title)
    is_name = head and any(character.isupper() or character.isdigit() for character in head[1][1:])
    return head[1] if head and is_name else ""


def misspelt(word: str, chance: random.Random) -> str:
    """Return a word with one letter after the first left out, put in, changed or swapped with the next."""
    at = chance.randrange(1, len(word) - 1)
    letter = chance.choice(sorted(set(string.ascii_lowercase) - set(word.lower())))
    return chance.choice(
        [
            word[:at] + word[at + 1 :],
            word[:at] + letter + word[at:],
            word[:at] + letter + word[at + 1 :],
            word[:at] + word[at + 1] + word[at] + word[at + 2 :],
        ]
    )


@command("known-items")
def known_items_command(home: Path | None = None, most: int = 200, seed: int = 1) -> Report:
    figures = measure_known_items(home or read_settings().home, most, seed)
    head = ("Looked for by", "Queries", "First", "In the first ten")
    rows = [
        (kind, own["queries"], f"{own['first']:.3f}", f"{own['in_ten']:.3f}") for kind, own in figures.items()
    ]
    return Report(figures, [table(head, rows)])
