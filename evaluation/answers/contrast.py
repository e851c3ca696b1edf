"""Claims made wrong on purpose: from claims that people found supported, each with one thing changed.

Every change is fair: the number or name put in stands nowhere in the evidence, the one taken out does.
"""

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, get_args

from assistant.checking import Statement, read_statement, stem, word_lists
from evaluation.answers.pairs import LabelledPair, evidence_sentences

ContrastKind = Literal["number", "negation", "name", "comparison"]
KINDS: tuple[ContrastKind, ...] = get_args(ContrastKind)
TRIES = 20
_NUMBER = re.compile(r"(?<![\w.,\[-])(\d{1,3}(?:,\d{3})+|\d+)(\.\d+)?(?![\w\]]|[.,]\d)")
_LABEL = re.compile(r"\[\d+\]")
_AUXILIARY = re.compile(
    r"\b(is|are|was|were|can|could|will|would|should|may|might|must|has|have|had|does|did|do)\b(?! not\b)",
    re.IGNORECASE,
)
_DENIAL = re.compile(
    r"\b(?P<can>can)not\b|\b(?P<verb>is|are|was|were|do|does|did|has|have|had|could|would|should)n['’]t\b"
    r"|(?<!\s)\s++(?:not|never)\b",
    re.IGNORECASE,
)
_NAME = re.compile(r"[A-Z][\w&'’-]+(?: [A-Z][\w&'’-]+)*")
_PAIRS = """
higher lower; highest lowest; more less; most least; larger smaller; largest smallest; bigger smaller;
greater lesser; greatest least; better worse; best worst; faster slower; stronger weaker; longer shorter;
older younger; oldest youngest; above below; before after; increase decrease; increases decreases;
increased decreased; increasing decreasing; rise fall; rises falls; rose fell; improve worsen;
improves worsens; improved worsened; maximum minimum; majority minority; outperforms underperforms;
outperformed underperformed; outperform underperform; gain loss; reduces raises; reduced raised; reduce raise;
positive negative; positively negatively; always never; upregulates downregulates
"""
OPPOSITES = {
    word: other
    for pair in _PAIRS.split(";")
    for word, other in (pair.split(), pair.split()[::-1])
    if pair.strip()
}
_COMPARISON = re.compile(rf"\b(?:{'|'.join(OPPOSITES)})\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Contrast:
    """A claim with one thing changed; `pair` is the index of the pair whose claim it was."""

    kind: ContrastKind
    pair: int
    claim: str


def contrasts(pairs: Sequence[LabelledPair]) -> tuple[Contrast, ...]:
    """Return at most one change of each kind for every supported pair, the same every time."""
    names = sorted({name for pair in pairs for name, _ in _names(pair.claim)})
    return tuple(
        Contrast(kind, index, changed)
        for index, pair in enumerate(pairs)
        if pair.label == 1
        for kind, changed in _changes(pair, names)
    )


def _changes(pair: LabelledPair, names: Sequence[str]) -> Iterator[tuple[ContrastKind, str]]:
    # The claim itself seeds the choice, so that a pair is changed alike in any file.
    choice = random.Random(pair.claim)
    evidence = [read_statement(sentence) for sentence in evidence_sentences(pair.references)]
    changed: dict[ContrastKind, str | None] = {
        "number": change_number(pair.claim, evidence, choice),
        "negation": change_negation(pair.claim, evidence, choice),
        "name": change_name(pair.claim, evidence, names, choice),
        "comparison": change_comparison(pair.claim, choice),
    }
    yield from ((kind, claim) for kind, claim in changed.items() if claim and claim != pair.claim)


def change_number(claim: str, evidence: Sequence[Statement], choice: random.Random) -> str | None:
    """Return the claim with one of the evidence's numbers made another, None where it has none."""
    found = [match for match in _NUMBER.finditer(claim) if _stands(match[0], evidence)]
    if not found:
        return None
    match = choice.choice(found)
    for _ in range(TRIES):
        other = _other_number(match[1], match[2] or "", choice)
        if other != match[0] and not _stands(other, evidence):
            return claim[: match.start()] + other + claim[match.end() :]
    return None


def _other_number(whole: str, decimals: str, choice: random.Random) -> str:
    """Return a number of the same shape: a year stays a year, 91.2 keeps one decimal, 1,000 its comma."""
    value = int(whole.replace(",", ""))
    if 1000 <= value <= 2100 and "," not in whole and not decimals:
        return str(value + choice.choice((-1, 1)) * choice.randint(2, 30))
    other = choice.randint(max(2, value // 3), value * 2 + 5)
    fraction = f".{choice.randint(0, 10 ** (len(decimals) - 1) - 1):0{len(decimals) - 1}}" if decimals else ""
    return (f"{other:,}" if "," in whole else str(other)) + fraction


def _stands(number: str, evidence: Sequence[Statement]) -> bool:
    meant = read_statement(number).numbers
    return any(one.says(other) for one in meant for said in evidence for other in said.numbers)


def change_negation(claim: str, evidence: Sequence[Statement], choice: random.Random) -> str | None:
    """Return the claim with a negation put in, or its own dropped where the evidence denies the same.

    None where neither goes.
    """
    stated = read_statement(claim)
    if stated.negations:
        denied = any(stated.negated & sentence.negated for sentence in evidence)
        found = _DENIAL.search(claim) if denied else None
        if found is None:
            return None
        return claim[: found.start()] + (found["can"] or found["verb"] or "") + claim[found.end() :]
    places = list(_AUXILIARY.finditer(claim))
    if not places:
        return None
    place = choice.choice(places)
    return f"{claim[: place.end()]} not{claim[place.end() :]}"


def change_name(
    claim: str, evidence: Sequence[Statement], names: Sequence[str], choice: random.Random
) -> str | None:
    """Return the claim with one of the evidence's names made another, None where it has none."""
    held = {part for sentence in evidence for part in sentence.stems}
    own = [name for name, _ in _names(claim) if _stems(name) <= held]
    if not own:
        return None
    name = choice.choice(own)
    unknown = [
        other
        for other in names
        if other.count(" ") == name.count(" ") and not _stems(other) & (held | _stems(claim))
    ]
    return re.sub(rf"\b{re.escape(name)}\b", choice.choice(unknown), claim) if unknown else None


def _names(claim: str) -> Iterator[tuple[str, int]]:
    """Yield the names of a claim with their places; a single capital at its beginning may be no name."""
    for match in _NAME.finditer(_LABEL.sub("", claim)):
        name = re.sub(r"['’]s?$", "", match[0]).rstrip("-")
        opens = match.start() < 3 and " " not in name
        if not opens and _stems(name) and name.partition(" ")[0].lower() not in word_lists().function:
            yield name, match.start()


@cache
def _stems(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in read_statement(text).words if word not in word_lists().function)


def change_comparison(claim: str, choice: random.Random) -> str | None:
    """Return the claim with one comparison reversed, None where it makes none."""
    found = list(_COMPARISON.finditer(claim))
    if not found:
        return None
    match = choice.choice(found)
    other = OPPOSITES[match[0].lower()]
    return (
        claim[: match.start()]
        + (other.capitalize() if match[0][0].isupper() else other)
        + claim[match.end() :]
    )
