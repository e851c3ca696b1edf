"""Names of people in BibTeX's forms, and in biblatex's extended form."""

import re
from collections.abc import Iterator

from bibtexparser.middlewares.names import parse_single_name_into_parts, split_multiple_persons_names

from corpus.bibtex.latex import latex_to_text
from corpus.records import Author

_SUFFIX = re.compile(r"(?:jr|sr|jnr|snr)\.?|I{2,3}|IV|VI{1,3}|[2-9](?:nd|rd|th)", re.IGNORECASE)
_PART_NAME = re.compile(r"[a-z][a-z-]*")
_BETWEEN_COMMAS = re.compile(r'(?:"[^"]*"|\{[^{}]*\}|[^,"{}])+')
_WHOLE = re.compile(r"\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}")
_NOBODY = re.compile(r"(?:^| )others$|\bet al\.?$", re.IGNORECASE)
_DANGLING = re.compile(r"^(?:and(?: |$))+| and$", re.IGNORECASE)
_SPACE = re.compile(r"(?<!\\)~|\\[ ,]|\s+")


def read_names(printed: str) -> Iterator[Author]:
    """Yield the people and groups of an `author` or `editor` field.

    A name wholly in braces is a group's; braces around an accent are ignored.
    """
    # Braces stay where they hold words together, after accents are composed.
    decoded = latex_to_text(_SPACE.sub(" ", printed), keep_groups=True)
    for part in split_multiple_persons_names(" ".join(decoded.split())):
        name = _NOBODY.sub("", _DANGLING.sub("", part.strip())).strip(" ,")
        if name:
            yield read_name(name)


def read_name(name: str) -> Author:
    """Return the author of "First von Last", "von Last, First" or "von Last, Jr, First".

    Also reads "First Last, Jr.", "Last, First, Jr." and biblatex's "family=Vries, given=Jan, prefix=de".
    """
    if _WHOLE.fullmatch(name):
        return Author("", _bare(name))
    if named := _named_parts(name):
        return Author.from_parts(*(named.get(part, "") for part in ("given", "family", "prefix", "suffix")))
    parts = parse_single_name_into_parts(name, strict=False)
    first, von, last, jr = (list(words) for words in (parts.first, parts.von, parts.last, parts.jr))
    if jr and not _is_suffix(jr) and _is_suffix(first):
        first, jr = jr, first
    elif not jr and _is_suffix(first) and len(last) > 1:
        # "John Smith, Jr."
        first, last, jr = last[:-1], last[-1:], first
    elif not jr and len(last) > 1 and _is_suffix(last[-1:]):
        last, jr = last[:-1], last[-1:]
    elif not jr and "," not in name and len(first) > 1 and _is_suffix(last):
        # "John Smith Jr."
        first, last, jr = first[:-1], first[-1:], last
    if von and not first and "," not in name:
        # All words in lower case: only the last is the family name.
        first, von = (von, []) if name == name.lower() else (first, von)
    elif not von and "," not in name and len(first) == 1 and first[0].islower() and not last[0].islower():
        # "van Gogh"
        first, von = [], first
    return Author.from_parts(*(_bare(" ".join(words)) for words in (first, last, von, jr)))


def _named_parts(text: str) -> dict[str, str]:
    """Return the parts of a name in biblatex's extended form, none for other forms."""
    parts = {}
    for part in _BETWEEN_COMMAS.findall(text):
        name, equals, value = part.strip().strip('"').partition("=")
        if not equals or not _PART_NAME.fullmatch(name.strip()):
            return {}
        parts[name.strip()] = _bare(value)
    return parts if "family" in parts or "given" in parts else {}


def _is_suffix(words: list[str]) -> bool:
    return len(words) == 1 and bool(_SUFFIX.fullmatch(words[0]))


def _bare(text: str) -> str:
    return " ".join(re.sub(r"[{}]", "", text).split())
