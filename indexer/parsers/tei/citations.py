"""Links from the references in the text to entries of the bibliography."""

import re
from collections import Counter
from collections.abc import Mapping
from itertools import pairwise

from indexer.parsers.tei.boxes import Element

# The attribute that links leave on a <ref>, for `entries_of`.
_ENTRIES = "entries"
_XML_ID = "{http://www.w3.org/XML/1998/namespace}id"
_DASH = re.compile(r"\s*[-–—]\s*")
_NUMBER = re.compile(r"[\s\[(]*(\d{1,4})[\s\])]*")
_LONGEST_RANGE = 50


def link_citations(root: Element, entries: Mapping[int, int]) -> None:
    """Leave on every reference to the bibliography which entries it means; `entries_of` reads it.

    `entries` maps the place of a <biblStruct> in the file to that in `Document.references`; those left out
    there are not in it. A target that is missing, dangling or ambiguous means none.
    """
    places = _places(root)
    references = list(root.iter("ref"))
    meant = [_targets(reference, places) for reference in references]
    for (first, after), (one, other) in zip(pairwise(references), pairwise(meant), strict=True):
        one.extend(_between(first, after, one, other))
    for reference, found in zip(references, meant, strict=True):
        kept = (entries[place] for place in found if place in entries)
        reference.set(_ENTRIES, " ".join(map(str, kept)))


def entries_of(reference: Element) -> tuple[int, ...]:
    """Return the entries that a <ref> cites, counted from 0, after `link_citations`."""
    return tuple(map(int, reference.get(_ENTRIES, "").split()))


def bibliography(root: Element) -> list[Element]:
    """Return the entries of the bibliography, those without text too."""
    return root.findall(".//listBibl/biblStruct")


def _places(root: Element) -> dict[str, int]:
    identifiers = [entry.get(_XML_ID, "") for entry in bibliography(root)]
    counts = Counter(identifiers)
    return {name: place for place, name in enumerate(identifiers) if name and counts[name] == 1}


def _targets(reference: Element, places: Mapping[str, int]) -> list[int]:
    if reference.get("type", "bibr") != "bibr":
        return []
    names = (target.removeprefix("#") for target in reference.get("target", "").split())
    return [places[name] for name in names if name in places]


def _between(first: Element, after: Element, one: list[int], other: list[int]) -> range:
    """Return the places inside a range such as "[3]-[5]", where both ends and the numbers between agree."""
    is_pair = first.getnext() is after and len(one) == len(other) == 1
    printed = _printed(first), first.tail or "", _printed(after)
    if not is_pair or not (numbers := _range_numbers(*printed)):
        return range(0)
    fits = numbers[1] - numbers[0] == other[0] - one[0] and 1 < other[0] - one[0] <= _LONGEST_RANGE
    return range(one[0] + 1, other[0]) if fits else range(0)


def _printed(element: Element) -> str:
    return "".join(text for text in element.itertext() if isinstance(text, str))


def _range_numbers(first: str, tail: str, after: str) -> tuple[int, int] | None:
    """Return the numbers at the ends of a range, whose dash stands between two references or in one."""
    for head, dash, end in ((first, tail, after), (first[:-1], first[-1:] + tail, after)):
        numbers = _NUMBER.fullmatch(head), _NUMBER.fullmatch(end)
        if _DASH.fullmatch(dash) and numbers[0] and numbers[1]:
            return int(numbers[0][1]), int(numbers[1][1])
    return None
