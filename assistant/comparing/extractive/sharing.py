"""What some of the compared papers share, in words of their own, and which of them do."""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from assistant.comparing.extractive.accounts import Account, stemmed
from assistant.comparing.extractive.relating import empty_stems
from assistant.vocabulary import vocabulary
from corpus.text import words

# What more of the papers have distinguishes none of them.
LARGEST_SHARE = 0.6
LONGEST_TERM = 3
# So often a phrase stands in the opening of a text that is about it; in an abstract, once less.
OFTEN, FEW_SENTENCES = 4, 15
TASK_BONUS = 0.6
MOST_OFFERED = 6
_NO_NOUN = ("ly", "ed", "ive", "al", "ic")
_TITLE_PART = re.compile(r"[:?!;,–—()]|\s-\s")


@dataclass(frozen=True, slots=True)
class Shared:
    """A term, as the papers write it, and the labels of those that have it: their subject, or a method."""

    term: str
    holders: tuple[int, ...]
    is_method: bool


def shared_by(members: Sequence[Account], papers: Sequence[Account], about: str) -> tuple[Shared, ...]:
    """Return what members of a group, and perhaps others, share, the best first.

    What nearly all papers have is not among it, nor what the description says itself.
    """
    offers = []
    asked = set(stemmed(about).split())
    for (term, is_method), bonus in _terms(members).items():
        phrase = stemmed(term)
        holders = _holders(phrase, papers, is_method)
        within = [one for one in members if one.label in holders]
        if len(within) < 2 or _is_of_most(phrase, holders, papers) or set(phrase.split()) <= asked:
            continue
        having = sum(phrase in paper.stems for paper in papers)
        rare = math.log((len(papers) + 1) / max(1, having)) + 0.5
        score = len(within) / len(members) * (rare + 0.5 * (len(words(term)) - 1) + bonus)
        offers.append((-round(score, 6), term, holders, is_method, within))
    offers.sort(key=lambda offer: offer[:4])
    return tuple(
        Shared(_as_written(term, within), holders, is_method)
        for _, term, holders, is_method, within in offers[:MOST_OFFERED]
    )


def _holders(phrase: str, papers: Sequence[Account], is_method: bool) -> tuple[int, ...]:
    sure = [one.label for one in papers if (_works_with if is_method else _is_about)(one, phrase)]
    if is_method or not sure:
        return tuple(sure)
    # Of those that speak of it often, the check of the sentence says whether they study it.
    often = [one.label for one in papers if one.label not in sure and _speaks_often(one, phrase)]
    return (*sure, *often)


def _is_of_most(phrase: str, holders: Sequence[int], papers: Sequence[Account]) -> bool:
    most = LARGEST_SHARE * len(papers)
    return len(holders) == len(papers) or max(len(holders), sum(phrase in one.stems for one in papers)) > most


def _is_about(paper: Account, phrase: str) -> bool:
    return any(phrase in stemmed(text) for text in paper.about) and phrase in paper.stems


def _works_with(paper: Account, phrase: str) -> bool:
    """Tell whether a method is named where the authors say what they do."""
    named = any(stemmed(method) == phrase for method in paper.methods)
    return named and any(phrase in stemmed(text) for text in (paper.title, *paper.does))


def _speaks_often(paper: Account, phrase: str) -> bool:
    return paper.stems.count(phrase) >= (OFTEN if len(paper.places) > FEW_SENTENCES else OFTEN - 1)


def _terms(members: Sequence[Account]) -> dict[tuple[str, bool], float]:
    """Return phrases that may say what papers share: names of tasks and methods, and parts of titles."""
    found: dict[tuple[str, bool], float] = {}
    for paper in members:
        for title_part in _TITLE_PART.split(paper.title):
            found.update(((term, False), 0.0) for term in _phrases(title_part))
    found.update(((task, False), TASK_BONUS) for paper in members for task in paper.tasks)
    methods = {method for paper in members for method in paper.methods} - {term for term, _ in found}
    found.update(((method, True), 0.0) for method in sorted(methods))
    return {
        term: bonus for term, bonus in found.items() if not set(stemmed(term[0]).split()) <= empty_stems()
    }


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
            # "Long-input" is said of something.
            if size == 1 and "-" in phrase[0]:
                continue
            if not phrase[-1].endswith(_NO_NOUN if size > 1 else (*_NO_NOUN, "ing")):
                yield " ".join(phrase)


def _as_written(term: str, members: Sequence[Account]) -> str:
    """Return a phrase as the papers mostly write it within sentences."""
    phrase = re.escape(term).replace(r"\ ", "[ -]")
    pattern = re.compile(rf"(?<![\w-]){phrase}s?(?![\w-])", re.IGNORECASE)
    counts = Counter(found for one in members for place in one.places for found in pattern.findall(place[1:]))
    # In headings of sections a subject has capitals; a name never goes without.
    return max(counts, key=lambda form: (form.islower(), counts[form], form)) if counts else term


def is_plural(term: str) -> bool:
    """Tell whether a term looks like a plural: "graphs", not "analysis" or "bias"."""
    return term.endswith("s") and not term.endswith(("ss", "is", "us", "ics", "ias"))
