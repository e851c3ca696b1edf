"""Names of authors in one piece, as RIS and arXiv give them."""

import re

from corpus.records import Author

_SUFFIXES = frozenset("jr jnr junior sr snr senior ii iii iv 2nd 3rd 4th".split())
_PARTICLES = frozenset(
    "af al am av bin da das de degli dei del della den der des di do dos du el ibn la las le les los ten ter "
    "van vom von zu zum zur 't".split()
)
# Written with a capital they are still part of the family name; "Van" and "Le" are given names as well.
_CAPITAL_PARTICLES = frozenset(("De", "Del", "Della", "Des", "Dos", "Von"))
# Not those that are family names as well: "Bank", "School".
_GROUPS = frozenset(
    "academy administration agency alliance association authority authors bureau center centre collaboration "
    "collaborators commission committee community company consortium contributors cooperation corporation "
    "council deepmind department division editors federation foundation gmbh group groups inc initiative "
    "institute institution investigators lab laboratory laboratories labs ltd llc ministry network office "
    "organisation organization partners partnership program programme project research secretariat service "
    "society study survey task team teams trial union university workshop".split()
)
# In small letters: "In", "On" and "The" are names.
_JOINING = frozenset("and at for in of on the & AI".split())
_INITIALS = re.compile(r"(?:[^\W\d_]\.?-?){1,4}")
_OTHERS = re.compile(r"\b(?:(?:and|und|et) )?(?:et\.? al|others|et coll|u\. ?a)\.?$", re.IGNORECASE)


def read_name(text: str, *, family_first: bool = False) -> Author | None:
    """Return the author of a name in one piece, None where it names nobody: ":", "et al.".

    With a comma the family name stands before it. Without one the name of a group stays whole, and
    particles belong to the family name; where `family_first`, "Marsh T. Q." is read as "T. Q. Marsh".
    """
    name = _without_others(text)
    if not any(map(str.isalnum, name)):
        return None
    parts = [part for part in (part.strip() for part in name.split(",")) if part]
    remaining = [part for part in parts if not _is_suffix(part)] or parts[:1]
    suffix = " ".join(part for part in parts if part not in remaining)
    if len(remaining) > 1:
        return _inverted(remaining, suffix)
    if is_group(remaining[0]):
        return Author("", remaining[0])
    words, own_suffix = _without_suffix(remaining[0].split(" "))
    start = _start_of_initials(words) if family_first else len(words)
    if 0 < start < len(words):
        words, start = [*words[start:], *words[:start]], len(words) - start
    else:
        start = _start_of_family(words)
    return Author.from_parts(" ".join(words[:start]), " ".join(words[start:]), suffix=own_suffix or suffix)


def named(given: str, family: str, particle: str = "", suffix: str = "") -> Author:
    """Return the author of these parts; a suffix behind another part ("King Jr.") is taken from it."""
    family, behind_family = _split_suffix(family)
    given, behind_given = _split_suffix(given)
    return Author.from_parts(given, family, particle, suffix or behind_family or behind_given)


def _split_suffix(name: str) -> tuple[str, str]:
    words, suffix = _without_suffix(name.split())
    return " ".join(words).rstrip(",") if suffix else name, suffix


def names_nobody(text: str) -> bool:
    """Return True for a name without letters, and for what stands in the place of more names: "et al."."""
    return not any(map(str.isalnum, _without_others(text)))


def _without_others(text: str) -> str:
    """Return a name on one line without "et al." behind it."""
    return _OTHERS.sub("", " ".join(text.split()).strip(" ,;")).strip(" ,;")


def is_group(name: str) -> bool:
    """Return True if a name is that of a group: "The Moss Team", "Institute for Stone"."""
    words = [word for word in name.split() if not _is_suffix(word)]
    kinds = {word.strip("().:").lower() for word in words}
    has_figure = any(map(str.isdigit, "".join(words)))
    return bool(kinds & _GROUPS) or not _JOINING.isdisjoint(words) or has_figure


def _inverted(parts: list[str], suffix: str) -> Author:
    """Return the author of "Family, Given": "Marsh, T." or "Marsh Jr., T."; a group may have commas too."""
    given = " ".join(parts[1:])
    if is_group(given) or (" " in parts[0] and is_group(parts[0])):
        return Author("", ", ".join(parts))
    return named(given, parts[0], suffix=suffix)


def _is_suffix(word: str) -> bool:
    return word.rstrip(".").lower() in _SUFFIXES


def _without_suffix(words: list[str]) -> tuple[list[str], str]:
    return (words[:-1], words[-1]) if len(words) > 1 and _is_suffix(words[-1]) else (words, "")


def _start_of_initials(words: list[str]) -> int:
    start = len(words)
    while start and _INITIALS.fullmatch(words[start - 1]) and words[start - 1].isupper():
        start -= 1
    return start


def _start_of_family(words: list[str]) -> int:
    last = len(words) - 1
    for at in range(1, last):
        if words[at] in _PARTICLES or (words[at] in _CAPITAL_PARTICLES and at == last - 1):
            # "Van der": the capital is part of the particle.
            return at - 1 if at > 1 and words[at - 1].lower() in _PARTICLES else at
    return last
