"""Claims made wrong on purpose, to train on: supported claims, each with one thing changed.

The number or name put in stands nowhere in the evidence, the one taken out does.
"""

import random
import re
import tomllib
from collections.abc import Iterator, Sequence
from functools import cache

from assistant.checking.comparable_text import Statement, read_statement, stem, word_lists
from evaluation.input_files import DATA

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
_WORDS = tomllib.loads((DATA / "contrast.toml").read_text(encoding="utf-8"))
_PAIRS = [pair.split() for pair in _WORDS["opposites"].split(";")]
OPPOSITES = dict(_PAIRS) | {other: word for word, other in _PAIRS}
# Units of a kind: with another of them a number says something else.
OTHER_UNITS = {
    unit: tuple(other for other in kind.split() if other != unit)
    for kind in _WORDS["units"].split(";")
    for unit in kind.split()
}
# Replacements after which the claim says more than before or the reverse, never less.
QUANTIFIERS = {
    word.strip(): tuple(other.strip() for other in others.split(","))
    for word, _, others in (entry.partition(":") for entry in _WORDS["quantifiers"].split(";"))
}
_COMPARISON = re.compile(rf"\b(?:{'|'.join(OPPOSITES)})\b", re.IGNORECASE)
_UNIT = re.compile(rf"(?<=\d)([ -]?)({'|'.join(sorted(OTHER_UNITS, key=len, reverse=True))})(?!\w)")
_QUANTIFIER = re.compile(rf"\b(?:{'|'.join(QUANTIFIERS)})\b", re.IGNORECASE)


def names_in(claims: Sequence[str]) -> list[str]:
    """List the names of claims, each once, to swap a name for another."""
    return sorted({name for claim in claims for name in _names(claim)})


def changes(claim: str, sentences: Sequence[str], names: Sequence[str]) -> Iterator[str]:
    """Yield a claim made wrong, in each way that it can be, beside sentences that carry it."""
    # The claim itself seeds the choice, so that a pair is changed alike in any file.
    choice = random.Random(claim)
    evidence = [read_statement(sentence) for sentence in sentences]
    changed = (
        change_number(claim, evidence, choice),
        change_negation(claim, evidence, choice),
        change_name(claim, evidence, names, choice),
        change_comparison(claim, choice),
        change_unit(claim, evidence, choice),
        change_quantifier(claim, choice),
    )
    yield from (other for other in changed if other and other != claim)


def change_number(claim: str, evidence: Sequence[Statement], choice: random.Random) -> str | None:
    """Change a number that the evidence has; return None where there is none."""
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
    """Draw a number of the same shape: a year stays a year, 91.2 keeps one decimal, 1,000 its comma."""
    value = int(whole.replace(",", ""))
    if 1000 <= value <= 2100 and "," not in whole and not decimals:
        return str(value + choice.choice((-1, 1)) * choice.randint(2, 30))
    other = choice.randint(max(2, value // 3), value * 2 + 5)
    fraction = f".{choice.randint(0, 10 ** (len(decimals) - 1) - 1):0{len(decimals) - 1}}" if decimals else ""
    return (f"{other:,}" if "," in whole else str(other)) + fraction


def _stands(number: str, evidence: Sequence[Statement]) -> bool:
    held = [other for sentence in evidence for other in sentence.numbers]
    return any(own.says(other) for own in read_statement(number).numbers for other in held)


def change_negation(claim: str, evidence: Sequence[Statement], choice: random.Random) -> str | None:
    """Put a negation in, or drop one where the evidence denies the same; return None where neither goes."""
    stated = read_statement(claim)
    if stated.negations:
        denied = any(stated.negated & sentence.negated for sentence in evidence)
        found = _DENIAL.search(claim) if denied else None
        if found is None:
            return None
        return claim[: found.start()] + (found["can"] or found["verb"] or "") + claim[found.end() :]
    place = _draw(_AUXILIARY, claim, choice)
    return f"{claim[: place.end()]} not{claim[place.end() :]}" if place else None


def change_name(
    claim: str, evidence: Sequence[Statement], names: Sequence[str], choice: random.Random
) -> str | None:
    """Change a name that the evidence has; return None where there is none."""
    held = {part for sentence in evidence for part in sentence.stems}
    own = [name for name in _names(claim) if _stems(name) <= held]
    if not own:
        return None
    name = choice.choice(own)
    unknown = [
        other
        for other in names
        if other.count(" ") == name.count(" ") and not _stems(other) & (held | _stems(claim))
    ]
    return re.sub(rf"\b{re.escape(name)}\b", choice.choice(unknown), claim) if unknown else None


def _names(claim: str) -> Iterator[str]:
    """Yield the names of a claim; a single capital at its beginning may be no name."""
    for match in _NAME.finditer(_LABEL.sub("", claim)):
        name = re.sub(r"['’]s?$", "", match[0]).rstrip("-")
        opens = match.start() < 3 and " " not in name
        if not opens and _stems(name) and name.partition(" ")[0].lower() not in word_lists().function:
            yield name


@cache
def _stems(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in read_statement(text).words if word not in word_lists().function)


def change_comparison(claim: str, choice: random.Random) -> str | None:
    """Reverse a comparison; return None where there is none."""
    match = _draw(_COMPARISON, claim, choice)
    return _replace(claim, match, str(OPPOSITES[match[0].lower()])) if match else None


def change_unit(claim: str, evidence: Sequence[Statement], choice: random.Random) -> str | None:
    """Change the unit of a number to one that the evidence does not have."""
    said_units = {word for sentence in evidence for word in sentence.words}
    match = _draw(_UNIT, claim, choice)
    others = [unit for unit in OTHER_UNITS[match[2]] if unit not in said_units] if match else []
    if not match or not others:
        return None
    return f"{claim[: match.start()]}{match[1]}{choice.choice(others)}{claim[match.end() :]}"


def change_quantifier(claim: str, choice: random.Random) -> str | None:
    """Change "some" to "all", "most" to "few", and the like; return None where there is none."""
    match = _draw(_QUANTIFIER, claim, choice)
    return _replace(claim, match, choice.choice(QUANTIFIERS[match[0].lower()])) if match else None


def _draw(pattern: re.Pattern[str], claim: str, choice: random.Random) -> re.Match[str] | None:
    found = list(pattern.finditer(claim))
    return choice.choice(found) if found else None


def _replace(claim: str, match: re.Match[str], other: str) -> str:
    """Replace a word, keeping its capital."""
    word = other[0].upper() + other[1:] if match[0][0].isupper() else other
    return claim[: match.start()] + word + claim[match.end() :]
