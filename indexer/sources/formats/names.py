"""Names of authors in one piece, as RIS and arXiv store them."""

import re

from corpus.records import Author

_SUFFIXES = frozenset("jr jnr junior sr snr senior ii iii iv 2nd 3rd 4th".split())
_PARTICLES = frozenset(
    "af al am av bin da das de degli dei del della den der des di do dos du el ibn la las le les los ten ter "
    "van vom von zu zum zur 't".split()
)
# Part of the family name even in capitals; not "Van" and "Le", which are given names too.
_CAPITAL_PARTICLES = frozenset(("De", "Del", "Della", "Des", "Dos", "Von"))
# Without words that are also family names: "Bank", "School".
_GROUPS = frozenset(
    "academy administration agency alliance association authority authors bureau center centre collaboration "
    "collaborators commission committee community company consortium contributors cooperation corporation "
    "council deepmind department division editors federation foundation gmbh group groups inc initiative "
    "institute institution investigators lab laboratory laboratories labs ltd llc ministry network office "
    "organisation organization partners partnership program programme project research secretariat service "
    "society study survey task team teams trial union university workshop".split()
)
# Lower case only: "In", "On" and "The" are names.
_JOINING = frozenset("and at for in of on the & AI".split())
_INITIALS = re.compile(r"(?:[^\W\d_]\.?-?){1,4}")
_OTHERS = re.compile(r"\b(?:(?:and|und|et) )?(?:et\.? al|others|et coll|u\. ?a)\.?$", re.IGNORECASE)


def read_name(text: str, *, family_first: bool = False) -> Author | None:
    """Parse a name in one piece; None for no name, such as ":" or "et al.".

    Before a comma is the family name. Without a comma a group's name stays whole, and particles belong to
    the family name; with `family_first`, "Marsh T. Q." is read as "T. Q. Marsh".
    """
    name = _without_others(text)
    if not any(map(str.isalnum, name)):
        return None
    parts = [part for part in (part.strip() for part in name.split(",")) if part]
    remaining = [part for part in parts if not _is_suffix(part)] or parts[:1]
    suffix = " ".join(part for part in parts if part not in remaining)
    if len(remaining) > 1:
        family, given = remaining[0], " ".join(remaining[1:])
        if is_group(given) or (" " in family and is_group(family)):
            return Author("", ", ".join(remaining))
        return named(given, family, suffix=suffix)
    if is_group(remaining[0]):
        return Author("", remaining[0])
    words, own_suffix = _without_suffix(remaining[0].split(" "))
    start = len(words)
    while family_first and start and _INITIALS.fullmatch(words[start - 1]) and words[start - 1].isupper():
        start -= 1
    if 0 < start < len(words):
        words, start = [*words[start:], *words[:start]], len(words) - start
    else:
        start = _start_of_family(words)
    return Author.from_parts(" ".join(words[:start]), " ".join(words[start:]), suffix=own_suffix or suffix)


def named(given: str, family: str, particle: str = "", suffix: str = "") -> Author:
    """Return the author of these parts; a suffix at the end of a part ("King Jr.") is split off."""
    family, behind_family = _split_suffix(family)
    given, behind_given = _split_suffix(given)
    return Author.from_parts(given, family, particle, suffix or behind_family or behind_given)


def _split_suffix(name: str) -> tuple[str, str]:
    words, suffix = _without_suffix(name.split())
    return " ".join(words).rstrip(",") if suffix else name, suffix


def names_nobody(text: str) -> bool:
    """Return True for a name without letters or digits, and for "et al." and the like."""
    return not any(map(str.isalnum, _without_others(text)))


def _without_others(text: str) -> str:
    """Return a name on one line without a final "et al."."""
    return _OTHERS.sub("", " ".join(text.split()).strip(" ,;")).strip(" ,;")


def is_group(name: str) -> bool:
    """Return True for the name of a group: "The Moss Team", "Institute for Stone"."""
    words = [word for word in name.split() if not _is_suffix(word)]
    kinds = {word.strip("().:").lower() for word in words}
    has_figure = any(map(str.isdigit, "".join(words)))
    return bool(kinds & _GROUPS) or not _JOINING.isdisjoint(words) or has_figure


def _is_suffix(word: str) -> bool:
    return word.rstrip(".").lower() in _SUFFIXES


def _without_suffix(words: list[str]) -> tuple[list[str], str]:
    return (words[:-1], words[-1]) if len(words) > 1 and _is_suffix(words[-1]) else (words, "")


def _start_of_family(words: list[str]) -> int:
    last = len(words) - 1
    for index in range(1, last):
        if words[index] in _PARTICLES or (words[index] in _CAPITAL_PARTICLES and index == last - 1):
            # "Van der": the capital is part of the particle.
            return index - 1 if index > 1 and words[index - 1].lower() in _PARTICLES else index
    return last
