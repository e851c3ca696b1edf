"""Names of the parts of a paper, for all parsers."""

import re

ABSTRACT = re.compile(r"a ?b ?s ?t ?r ?a ?c ?t|summary", re.IGNORECASE)
INTRODUCTION = re.compile(r"(?:general |brief )?introduction", re.IGNORECASE)
BIBLIOGRAPHY = re.compile(
    r"(?:list of |selected )?(?:references(?: and notes)?|bibliograph(?:y|ie)|literature(?: cited)?"
    r"|works cited|literatur(?:verzeichnis)?|bibliograf[íi]a|références(?: bibliographiques)?"
    r"|referencias(?: bibliográficas)?|referências)[:.]?",
    re.IGNORECASE,
)
KEYWORDS = re.compile(r"key ?-?words?(?: and phrases)?|index terms", re.IGNORECASE)
KEYWORD_SEPARATOR = re.compile(r"(?:(?<!\s)\s++)?[;,•·|]\s*+")
_CONTENTS = re.compile(r"(?:table of )?contents", re.IGNORECASE)

_UNDIVIDED = re.compile(
    r"background(?: and (?:motivation|related work))?|related works?|literature review|future works?",
    re.IGNORECASE,
)
_DIVIDED = re.compile(
    r"(?:materials? and )?methods?(?: and materials?)?|methodology|experiments?|evaluation"
    r"|results?(?: and (?:discussion|analysis))?"
    r"|(?:general )?discussions?(?: and (?:conclusions?|future work))?",
    re.IGNORECASE,
)
_BACK_MATTER = re.compile(
    r"conclusions?(?: and (?:future|further) (?:works?|directions))?|concluding remarks|limitations?"
    r"|acknowledge?ments?|appendi(?:x|ces)|supplementary materials?|(?:supporting|additional) information"
    r"|ethic(?:s|al) (?:statement|considerations?)|broader impacts?|(?:sources of )?funding"
    r"|competing interests?|conflicts? of interests?|author contributions?"
    r"|data availability(?: statement)?",
    re.IGNORECASE,
)
# Running text may begin like this: only for lines that are known to be headings.
_BACK_MATTER_OPENING = re.compile(
    r"(?:conclusions?|concluding remarks) and\b.*|supplement\w*(?: \w+)?"
    r"|(?:ethics|ethical|reproducibility|data availability|code availability|informed consent"
    r"|institutional review board)\b.*",
    re.IGNORECASE,
)
# Also found in tables and captions: headings only if set as such.
_INNER = re.compile(
    r"previous works?|motivation|preliminaries|(?:our )?approach|experimental (?:setup|settings?|results)"
    r"|data(?:sets?)?|declarations?",
    re.IGNORECASE,
)


def is_part(title: str) -> bool:
    """Return True for the name of a top-level part, from the abstract to the back matter."""
    name = _name(title)
    parts = (ABSTRACT, INTRODUCTION, _UNDIVIDED, _DIVIDED, _BACK_MATTER, BIBLIOGRAPHY)
    return any(part.fullmatch(name) for part in parts)


def is_no_title(line: str) -> bool:
    """Return True if a line names a part of a paper, so is neither a title nor a name."""
    return is_part(line) or any(part.fullmatch(_name(line)) for part in (KEYWORDS, _CONTENTS))


def is_inner_part(title: str) -> bool:
    """Return True for a usual heading at any depth, such as "Data"."""
    return _INNER.fullmatch(_name(title)) is not None


def is_divided_part(title: str) -> bool:
    """Return True for a part that usually has subsections."""
    return _DIVIDED.fullmatch(_name(title)) is not None


def is_back_matter(heading: str) -> bool:
    """Return True for a heading of the back matter."""
    parts = (_BACK_MATTER, _BACK_MATTER_OPENING, BIBLIOGRAPHY)
    return any(part.fullmatch(_name(heading)) for part in parts)


def _name(title: str) -> str:
    return title.strip(" .:*_")
