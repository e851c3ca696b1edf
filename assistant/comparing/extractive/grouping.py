"""Papers grouped by what they share, and the words for it where the papers have such words."""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from assistant.comparing.extractive.accounts import Account, in_years, stemmed
from assistant.comparing.extractive.vectors import EachAlone
from assistant.vocabulary import vocabulary
from corpus.encoder import Vectors
from corpus.text import words

# Groups are joined while they are more alike than two papers of the comparison mostly are: by so much of the
# spread, and at least so alike. A shared task makes papers as much more alike.
ABOVE_MEAN = 0.25
FAINTLY_ALIKE = 0.35
SHARED_TASK = 0.08
# A paragraph of more papers is not read.
LARGEST, LARGEST_SHARE = 5, 0.2
LARGEST_COMMON = 0.6
LONGEST_TERM = 3
# So often a phrase stands in the opening of a text that is about it; in an abstract, once less.
OFTEN, FEW_SENTENCES = 4, 15
TASK_BONUS = 0.6
_NO_NOUN = ("ly", "ed", "ive", "al", "ic")
_TITLE_PART = re.compile(r"[:?!;,–—()]|\s-\s")


@dataclass(frozen=True, slots=True)
class Group:
    """Papers that belong together, by year; `term` is what `holders` of them are about, "" of nothing."""

    papers: tuple[Account, ...]
    term: str = ""
    holders: tuple[int, ...] = ()

    @property
    def labels(self) -> tuple[int, ...]:
        return tuple(paper.label for paper in self.papers)


@dataclass(frozen=True, slots=True)
class Grouping:
    """All papers in groups, and in `common` the words for what papers of several groups are about."""

    groups: tuple[Group, ...]
    common: str = ""
    holders: tuple[int, ...] = ()


def group_papers(accounts: Mapping[int, Account], about: str, vectors: EachAlone) -> Grouping:
    """Return the papers in groups: what comes nearest to the description last, those that stand alone first.

    What is common to several groups names none of them.
    """
    papers = list(accounts.values())
    meanings = np.stack([_meaning(paper, vectors) for paper in papers])
    parts = _merged(papers, meanings @ meanings.T)
    asked = vectors.encode_passages([about])[0] if about.strip() else np.zeros(meanings.shape[1])
    nearness = meanings @ asked
    parts.sort(key=lambda part: (len(part) > 1, round(float(nearness[part].mean()), 6), -part[0]))
    members = [in_years([papers[index] for index in part]) for part in parts]
    stems = {paper.label: paper.stems for paper in papers}
    common, holders = _shared_term(papers, stems, set())
    # What nearly all study distinguishes none of them; what one group studies is said of that group.
    is_everywhere = len(holders) > LARGEST_COMMON * len(papers)
    if any(set(holders) <= {paper.label for paper in group} for group in members) and not is_everywhere:
        common, holders = "", ()
    used = {stemmed(common)}
    groups = []
    for group in members:
        term, those = _shared_term(group, stems, used)
        if len(those) == len(papers):
            term, those = "", ()
        used.add(stemmed(term))
        groups.append(Group(tuple(group), term, those))
    return Grouping(tuple(groups)) if is_everywhere else Grouping(tuple(groups), common, holders)


def nearest(accounts: Mapping[int, Account], about: str, vectors: EachAlone) -> list[int]:
    """Return the labels by how near the papers come to the description, the nearest first."""
    if not about.strip():
        return list(accounts)
    asked = vectors.encode_passages([about])[0]
    return sorted(accounts, key=lambda label: -float(asked @ _meaning(accounts[label], vectors)))


def likeness(one: Account, other: Account, vectors: EachAlone) -> float:
    """Return the cosine of what two papers are about."""
    return float(_meaning(one, vectors) @ _meaning(other, vectors))


def _meaning(paper: Account, vectors: EachAlone) -> Vectors:
    return _unit(vectors.encode_passages([paper.title, paper.opening]).mean(axis=0))


def _unit(vector: Vectors) -> Vectors:
    unit: Vectors = vector / (float(np.linalg.norm(vector)) or 1.0)
    return unit


def _merged(papers: Sequence[Account], meant: Vectors) -> list[list[int]]:
    """Join the two groups most alike, on average, until none are alike enough or all are large."""
    near = meant + SHARED_TASK * np.asarray([[_common_task(a, b) for a in papers] for b in papers])
    pairs = near[np.triu_indices(len(papers), 1)]
    enough = max(FAINTLY_ALIKE, float(pairs.mean() + ABOVE_MEAN * pairs.std())) if len(pairs) > 1 else 0.5
    largest = max(LARGEST, int(LARGEST_SHARE * len(papers)))
    parts = [[index] for index in range(len(papers))]
    while len(parts) > 1:
        offers = [
            (float(near[np.ix_(one, other)].mean()), -first, -second)
            for first, one in enumerate(parts)
            for second, other in enumerate(parts[:first])
            if len(one) + len(other) <= largest
        ]
        if not offers or max(offers)[0] < enough:
            break
        _, first, second = max(offers)
        parts[-second] = sorted(parts[-second] + parts.pop(-first))
    return parts


def _common_task(one: Account, other: Account) -> float:
    """Return the share of common tasks, 0..1, of the paper that names fewer."""
    tasks = set(one.tasks), set(other.tasks)
    return len(tasks[0] & tasks[1]) / max(1, min(map(len, tasks)))


def _shared_term(
    members: Sequence[Account], stems: Mapping[int, str], used: set[str]
) -> tuple[str, tuple[int, ...]]:
    """Return the phrase that says best what most of a group, and few others, are about, and who has it."""
    best: tuple[float, str, tuple[int, ...]] = (0.0, "", ())
    if len(members) < 2:
        return "", ()
    for term, bonus in _terms(members).items():
        phrase = stemmed(term)
        holders = tuple(one.label for one in members if _is_about(one, phrase))
        # Of those that speak of it often, the check of the sentence says whether they study it.
        often = [one.label for one in members if one.label not in holders and _speaks_often(one, phrase)]
        holders = (*holders, *often) if holders else ()
        if len(holders) < 2 or 2 * len(holders) < len(members) or phrase in used:
            continue
        having = sum(phrase in text for text in stems.values())
        within = sum(phrase in stems[one.label] for one in members)
        # "Translation is studied in [2][8]" misleads where [1] and [9], told elsewhere, study it too.
        if 2 * (having - within) > len(holders):
            continue
        rare = math.log((len(stems) + 1) / max(1, having)) + 0.5
        score = len(holders) / len(members) * (rare + 0.5 * (len(words(term)) - 1) + bonus)
        best = max(best, (score, term, holders), key=lambda entry: (round(entry[0], 6), entry[1]))
    return _as_written(best[1], members), best[2]


def _is_about(paper: Account, phrase: str) -> bool:
    return any(phrase in stemmed(text) for text in paper.about) and phrase in paper.stems


def _speaks_often(paper: Account, phrase: str) -> bool:
    return paper.stems.count(phrase) >= (OFTEN if len(paper.places) > FEW_SENTENCES else OFTEN - 1)


def _terms(members: Sequence[Account]) -> dict[str, float]:
    """Return phrases that may say what papers are about: names of tasks, and parts of titles."""
    found: dict[str, float] = {}
    for paper in members:
        for title_part in _TITLE_PART.split(paper.title):
            found.update((term, 0.0) for term in _phrases(title_part))
    found.update((task, TASK_BONUS) for paper in members for task in paper.tasks)
    return found


def _phrases(text: str) -> Iterator[str]:
    """Yield the runs of words that may name a subject: none empty, the last of them like a noun."""
    known = vocabulary()
    empty = known.function | known.generic | known.aspects | known.verbs | known.judging | known.finding
    tokens = words(text)
    for start in range(len(tokens)):
        for size in range(1, LONGEST_TERM + 1):
            phrase = tokens[start : start + size]
            if len(phrase) < size or any(word in empty or word.isdecimal() for word in phrase):
                break
            if not phrase[-1].endswith(_NO_NOUN if size > 1 else (*_NO_NOUN, "ing")):
                yield " ".join(phrase)


def _as_written(term: str, members: Sequence[Account]) -> str:
    """Return a phrase as the papers mostly write it within sentences."""
    if not term:
        return ""
    phrase = re.escape(term).replace(r"\ ", "[ -]")
    pattern = re.compile(rf"(?<![\w-]){phrase}s?(?![\w-])", re.IGNORECASE)
    counts = Counter(found for one in members for place in one.places for found in pattern.findall(place[1:]))
    return counts.most_common(1)[0][0] if counts else term
