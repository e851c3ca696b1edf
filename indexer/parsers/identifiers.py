"""DOIs, arXiv ids and years in text; and the letters by which two texts are the same."""

import re
from collections import Counter
from urllib.parse import unquote

# Of angle brackets only those of a SICI belong to a DOI: "10.1000/(SICI)1(98)5:6<1661::AID-XYZ9>3.0.CO;2-2".
_DOI = re.compile(r"(?<![\d.])10\.\d{4,9}/(?:<[A-Z]?\d*:[^\s\"<>]*>|[^\s\"<>“”|])+")
_ENTITIES = {"&lt;": "<", "&gt;": ">", "&amp;": "&"}
_RESOLVER = re.compile(r"doi\.org/$", re.IGNORECASE)
_ESCAPED = re.compile(r"10\.\d{4,9}%2F\S+", re.IGNORECASE)
_NUMBER = r"(?:\d{4}\.\d{4,5}|[a-z-]{1,30}(?:\.[A-Z]{2})?/\d{7})(?:v\d+)?(?!\d)"
_ARXIV = re.compile(_NUMBER)
_SUBJECT_CLASS = re.compile(r"\.[A-Za-z]{2}/")
_NAMED_ARXIV = re.compile(
    rf"(?:arxiv[:.\s]*+(?:e-?prints?|preprints?)?[,:\s]*+(?:arxiv\s*+:\s*+)?|\b(?:abs|pdf)/)"
    rf"(?P<id>{_NUMBER})",
    re.IGNORECASE,
)
# The stamp in the margin: "arXiv:2301.01234v2 [cs.CL] 6 Jan 2023"; old ones have no subject.
_ARXIV_STAMP = re.compile(
    rf"arXiv:\s*(?P<id>{_NUMBER})\s*(?:\[[\w.-]+\])?\s*\d{{1,2}}\s*[A-Z][a-z]{{2,8}}\s*(?P<year>\d{{4}})",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?<!\d)(?:1[5-9]|20)\d\d(?!\d)")
_CLOSERS = {")": "(", "]": "[", "}": "{"}


def find_doi(text: str) -> str:
    """Return the first DOI in `text` without resolver and punctuation round it, "" without one."""
    for entity, character in _ENTITIES.items():
        text = text.replace(entity, character)
    found = _DOI.search(text) or _DOI.search(unquote(match[0] if (match := _ESCAPED.search(text)) else ""))
    if found and _RESOLVER.search(text[: found.start()]):
        found = _DOI.match(unquote(found[0])) or found
    return _trimmed(found[0]) if found else ""


def find_arxiv_id(text: str, *, named: bool = True) -> str:
    """Return the first arXiv id in `text` with its version, "" without one; an old one without subject class.

    Unless `named` is False, it must be called one: dates and sections look like it.
    """
    if not named:
        bare = _ARXIV.search(text)
        return _SUBJECT_CLASS.sub("/", bare[0]) if bare else ""
    found = _NAMED_ARXIV.search(text)
    return _SUBJECT_CLASS.sub("/", found["id"]) if found else ""


def read_arxiv_stamp(text: str) -> tuple[str, int] | None:
    """Return arXiv id and year from the stamp in the margin of a first page, where `text` has one."""
    stamp = _ARXIV_STAMP.search(text)
    return (stamp["id"], int(stamp["year"])) if stamp else None


def year_in(text: str) -> int | None:
    """Return the first year from 1500 on in `text`."""
    found = _YEAR.search(text)
    return int(found[0]) if found else None


def letters_of(text: str) -> str:
    """Return the letters and digits of a text: what survives spacing, hyphens and quotation marks."""
    return "".join(filter(str.isalnum, text)).casefold()


def _trimmed(doi: str) -> str:
    """Take off the punctuation of the text round a DOI, which may itself hold brackets."""
    counts, end = Counter(doi), len(doi)
    while end and ((last := doi[end - 1]) in ".,;:'’*" or counts[last] > counts[_CLOSERS.get(last, last)]):
        counts[last] -= 1
        end -= 1
    return doi[:end]
