"""Link references in the text to entries of the bibliography."""

import re
from collections import Counter
from collections.abc import Mapping
from itertools import pairwise

from indexer.parsers.tei.boxes import Element

# The attribute of a <ref> that `link_citations` sets.
_ENTRIES = "entries"
_XML_ID = "{http://www.w3.org/XML/1998/namespace}id"
_DASH = re.compile(r"\s*[-–—]\s*")
_NUMBER = re.compile(r"[\s\[(]*(\d{1,4})[\s\])]*")
_LONGEST_RANGE = 50


def link_citations(root: Element, entries: Mapping[int, int]) -> None:
    """Store on every <ref> the entries of the bibliography that it cites, for `entries_of`.

    `entries` maps the index of a <biblStruct> in the file to that in `Document.references`, which lacks some.
    A missing, dangling or ambiguous target cites nothing.
    """
    places = _places(root)
    references = list(root.iter("ref"))
    cited = [_targets(reference, places) for reference in references]
    for (first, second), (start, end) in zip(pairwise(references), pairwise(cited), strict=True):
        start.extend(_between(first, second, start, end))
    for reference, targets in zip(references, cited, strict=True):
        numbers = (entries[place] for place in targets if place in entries)
        reference.set(_ENTRIES, " ".join(map(str, numbers)))


def entries_of(reference: Element) -> tuple[int, ...]:
    """Return the entries that a <ref> cites, counted from 0, after `link_citations`."""
    return tuple(map(int, reference.get(_ENTRIES, "").split()))


def bibliography(root: Element) -> list[Element]:
    """Return all entries of the bibliography, also those without text."""
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


def _between(first: Element, second: Element, start: list[int], end: list[int]) -> range:
    """Return the entries within a range such as "[3]-[5]", if the printed numbers agree with it."""
    is_pair = first.getnext() is second and len(start) == len(end) == 1
    printed = _printed(first), first.tail or "", _printed(second)
    if not is_pair or not (numbers := _range_numbers(*printed)):
        return range(0)
    fits = numbers[1] - numbers[0] == end[0] - start[0] and 1 < end[0] - start[0] <= _LONGEST_RANGE
    return range(start[0] + 1, end[0]) if fits else range(0)


def _printed(element: Element) -> str:
    return "".join(text for text in element.itertext() if isinstance(text, str))


def _range_numbers(first: str, tail: str, after: str) -> tuple[int, int] | None:
    """Return the numbers at the ends of a range; the dash is between the references or ends the first."""
    for head, dash, end in ((first, tail, after), (first[:-1], first[-1:] + tail, after)):
        numbers = _NUMBER.fullmatch(head), _NUMBER.fullmatch(end)
        if _DASH.fullmatch(dash) and numbers[0] and numbers[1]:
            return int(numbers[0][1]), int(numbers[1][1])
    return None
