"""DOIs, arXiv ids and years in text, and a normal form for comparing texts."""

import re
from collections import Counter
from urllib.parse import unquote

# Angle brackets are part of a DOI only in a SICI: "10.1000/(SICI)1(98)5:6<1661::AID-XYZ9>3.0.CO;2-2".
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
# The margin stamp: "arXiv:2301.01234v2 [cs.CL] 6 Jan 2023"; old ones have no subject.
_ARXIV_STAMP = re.compile(
    rf"arXiv:\s*(?P<id>{_NUMBER})\s*(?:\[[\w.-]+\])?\s*\d{{1,2}}\s*[A-Z][a-z]{{2,8}}\s*(?P<year>\d{{4}})",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?<!\d)(?:1[5-9]|20)\d\d(?!\d)")
_CLOSERS = {")": "(", "]": "[", "}": "{"}


def find_doi(text: str) -> str:
    """Return the first DOI in `text`, without resolver and surrounding punctuation, else ""."""
    for entity, character in _ENTITIES.items():
        text = text.replace(entity, character)
    escaped = _ESCAPED.search(text)
    doi = _DOI.search(text) or _DOI.search(unquote(escaped[0] if escaped else ""))
    if doi and _RESOLVER.search(text[: doi.start()]):
        doi = _DOI.match(unquote(doi[0])) or doi
    return _trimmed(doi[0]) if doi else ""


def find_arxiv_id(text: str, *, named: bool = True) -> str:
    """Return the first arXiv id in `text` with its version, without subject class; "" for none.

    If `named`, "arXiv" or the like must precede it, because dates and section numbers look similar.
    """
    if not named:
        bare = _ARXIV.search(text)
        return _SUBJECT_CLASS.sub("/", bare[0]) if bare else ""
    match = _NAMED_ARXIV.search(text)
    return _SUBJECT_CLASS.sub("/", match["id"]) if match else ""


def read_arxiv_stamp(text: str) -> tuple[str, int] | None:
    """Return arXiv id and year of arXiv's margin stamp in `text`, None without one."""
    stamp = _ARXIV_STAMP.search(text)
    return (stamp["id"], int(stamp["year"])) if stamp else None


def year_in(text: str) -> int | None:
    """Return the first year from 1500 on in `text`, None without one."""
    year = _YEAR.search(text)
    return int(year[0]) if year else None


def letters_of(text: str) -> str:
    """Return the letters and digits of a text in lower case, for comparisons."""
    return "".join(filter(str.isalnum, text)).casefold()


def _trimmed(doi: str) -> str:
    """Strip trailing punctuation from a DOI, except its own brackets."""
    counts, end = Counter(doi), len(doi)
    while end and ((last := doi[end - 1]) in ".,;:'’*" or counts[last] > counts[_CLOSERS.get(last, last)]):
        counts[last] -= 1
        end -= 1
    return doi[:end]
