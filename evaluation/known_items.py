"""Measures known-item search: readers look for one paper by its title, a name or an author, also with typos.

Queries are generated from the papers of the corpus; a query should find the paper that it was made from.
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
from evaluation.harness import Figures, Report, command, group_by, table
from evaluation.homes import open_home
from evaluation.input_files import EvaluationError

DEPTH = 10
# Number of rare title words in a query, and of words in a quoted phrase.
RARE_WORDS, PHRASE_WORDS = 3, 4
SHORTEST_MISSPELT = 5
_HEAD = re.compile(r"([A-Za-z][\w-]{1,30}):")
# "LinkBERT" and "RankT5", not "Transformers".
_NAME = re.compile(r"\b[A-Z][a-z]*[A-Z][A-Za-z]{2,20}\b")
_INNER_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


@dataclass(frozen=True, slots=True)
class KnownItem:
    """A query, and the ids of the papers that are right results."""

    kind: str
    query: str
    papers: frozenset[str]


def measure_known_items(home: Path, most: int, seed: int) -> dict[str, Figures]:
    """Return the shares of queries whose paper is first and in the first ten, by kind of query.

    Uses at most `most` queries of each kind. Raises CorpusError, and EvaluationError if no query can be made.
    """
    _, encoder, corpus = open_home(home)
    kinds = group_by(known_items(corpus.papers(), random.Random(seed)), "kind")
    if not kinds:
        raise EvaluationError("The corpus has no paper to make a query from.")

    def rank(item: KnownItem) -> int | None:
        hits = search(corpus, encoder, item.query, Scope(), papers=DEPTH, passages_per_paper=1)
        return next((place for place, hit in enumerate(hits) if hit.paper.id in item.papers), None)

    generator = random.Random(seed)
    sampled = {kind: generator.sample(items, min(most, len(items))) for kind, items in kinds.items()}
    ranks = {kind: [rank(item) for item in items] for kind, items in sampled.items()}
    return {
        kind: {
            "queries": len(places),
            "first": places.count(0) / len(places),
            "in_ten": (len(places) - places.count(None)) / len(places),
        }
        for kind, places in ranks.items()
    }


def known_items(papers: Sequence[Paper], chance: random.Random) -> Iterator[KnownItem]:
    """Yield queries for the papers by kind: titles, names, authors, identifiers."""
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
    same_title = Counter(paper.title for paper in papers)
    for paper in papers:
        if same_title[paper.title] > 1:
            continue
        paper_id, title = frozenset({paper.id}), paper.title.split()
        yield KnownItem("title", paper.title, paper_id)
        rare = _rarest(paper, frequency)
        if len(rare) == RARE_WORDS:
            yield KnownItem("three rare title words", " ".join(rare), paper_id)
            if (longest := max(rare, key=len)).isalpha():
                with_typo = [misspell(word, chance) if word == longest else word for word in rare]
                yield KnownItem("three rare title words, one typo", " ".join(with_typo), paper_id)
        if len(title) >= PHRASE_WORDS:
            yield KnownItem("quoted words of a title", f'"{" ".join(title[:PHRASE_WORDS])}"', paper_id)


def _rarest(paper: Paper, frequency: Mapping[str, int]) -> list[str]:
    """Return the rarest words of a title, in the order of the title."""
    title_words = [word for word in dict.fromkeys(words(paper.title)) if word not in stop_words()]
    rarest = sorted(title_words, key=lambda word: frequency[word])[:RARE_WORDS]
    return [word for word in title_words if word in rarest]


def _by_system_name(
    papers: Sequence[Paper], frequency: Counter[str], chance: random.Random
) -> Iterator[KnownItem]:
    """Yield queries of names that a title begins with ("LinkBERT: ...") and no other title has."""
    for paper in papers:
        name, paper_id = system_name(paper.title), frozenset({paper.id})
        if frequency[name.lower()] != 1:
            continue
        yield KnownItem("system name", name, paper_id)
        if len(name) >= SHORTEST_MISSPELT and name.isalpha():
            yield KnownItem("system name, one typo", misspell(name, chance), paper_id)
            yield KnownItem("system name, one typo, lower case", misspell(name, chance).lower(), paper_id)
        parts = _INNER_CAPITAL.split(name)
        if len(parts) > 1 and "-" not in name:
            yield KnownItem("system name, split", " ".join((parts[0], "".join(parts[1:]))), paper_id)
        if "-" in name:
            yield KnownItem("system name, joined", name.replace("-", ""), paper_id)


def _by_name_in_abstract(papers: Sequence[Paper], titles: Counter[str]) -> Iterator[KnownItem]:
    """Yield queries of a name that is in one abstract only: alone, and compared with another name."""
    names = {paper.id: [*dict.fromkeys(_NAME.findall(paper.abstract))] for paper in papers}
    frequency = Counter(name.lower() for paper_names in names.values() for name in paper_names) + titles
    rare = ((paper, [name for name in names[paper.id] if frequency[name.lower()] == 1]) for paper in papers)
    named = [(rare_names[0], paper) for paper, rare_names in rare if rare_names]
    for (name, paper), (other, _) in pairwise(named):
        paper_id = frozenset({paper.id})
        yield KnownItem("name in an abstract, in a question", f"What is {name}?", paper_id)
        yield KnownItem(
            "the same, compared with another", f"{other} vs {name}: how do they differ?", paper_id
        )


def _by_author(papers: Sequence[Paper], frequency: Counter[str]) -> Iterator[KnownItem]:
    """Yield queries of authors: any of their papers is right; with title words only that paper is."""
    by_author: dict[str, set[str]] = {}
    by_family: dict[str, set[str]] = {}
    for paper in papers:
        for author in paper.authors:
            by_author.setdefault(author.name, set()).add(paper.id)
            by_family.setdefault(author.family, set()).add(paper.id)
    for paper in papers:
        subject, paper_id = " ".join(_rarest(paper, frequency)[:2]), frozenset({paper.id})
        for author in paper.authors:
            if author.given:
                namesakes = frozenset(by_family[author.family])
                yield KnownItem("author", author.name, frozenset(by_author[author.name]))
                yield KnownItem("author, family name", author.family, namesakes)
                yield KnownItem("author, initial", f"{author.given[0]}. {author.family}", namesakes)
                yield KnownItem("author and two title words", f"{author.name} {subject}", paper_id)
                question = f"What did {author.name} write about {subject}?"
                yield KnownItem("author and subject in a question", question, paper_id)


def system_name(title: str) -> str:
    """Return the system name that a title begins with, "LinkBERT" of "LinkBERT: ...", or ""."""
    head = _HEAD.match(title)
    is_name = head and any(character.isupper() or character.isdigit() for character in head[1][1:])
    return head[1] if head and is_name else ""


def misspell(word: str, chance: random.Random) -> str:
    """Return a word with one typo after the first letter: a letter left out, added, changed or swapped."""
    position = chance.randrange(1, len(word) - 1)
    letter = chance.choice(sorted(set(string.ascii_lowercase) - set(word.lower())))
    return chance.choice(
        [
            word[:position] + word[position + 1 :],
            word[:position] + letter + word[position:],
            word[:position] + letter + word[position + 1 :],
            word[:position] + word[position + 1] + word[position] + word[position + 2 :],
        ]
    )


@command("known-items")
def known_items_command(home: Path | None = None, most: int = 200, seed: int = 1) -> Report:
    figures = measure_known_items(home or read_settings().home, most, seed)
    head = ("Looked for by", "Queries", "First", "In the first ten")
    rows = [
        (kind, kind_figures["queries"], f"{kind_figures['first']:.3f}", f"{kind_figures['in_ten']:.3f}")
        for kind, kind_figures in figures.items()
    ]
    return Report(figures, [table(head, rows)])
