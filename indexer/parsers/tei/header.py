"""Title, authors, identifiers, keywords and bibliography of a TEI file."""

import re
from collections.abc import Iterable
from dataclasses import replace
from itertools import islice

from corpus.records import Author, Reference
from indexer.parsers.document import Document
from indexer.parsers.identifiers import find_arxiv_id, find_doi, year_in
from indexer.parsers.section_names import KEYWORD_SEPARATOR, is_no_title
from indexer.parsers.tei.boxes import Element
from indexer.parsers.tei.text import text_of

_COLLABORATION = re.compile(
    r"\b(?:collaboration|consortium|working group|study group|task force)\b", re.IGNORECASE
)
_ORGANISATION = re.compile(
    r"\b(?:universit\w+|institut\w*|department|laborator\w+|faculty|school of|college of|inc|ltd|gmbh)\b",
    re.IGNORECASE,
)


def read_header(header: Element) -> Document:
    """Read the metadata of the header, and the version of GROBID."""
    identifiers = header.findall("*//sourceDesc/biblStruct/idno")
    title = _first_text(
        header, "fileDesc/titleStmt/title", "*//sourceDesc//analytic/title", "*//sourceDesc//monogr/title"
    )
    dates = (*header.iterfind("*//publicationStmt/date"), *header.iterfind("*//sourceDesc//imprint/date"))
    application = header.find("*//application[@ident='GROBID']")
    version = "" if application is None else application.get("version", "").strip()
    return Document(
        title=title,
        authors=_read_authors(header),
        year=next(filter(None, map(_year_of, dates)), None),
        doi=_doi_among(identifiers),
        arxiv_id=_arxiv_id_among(identifiers),
        keywords=_read_keywords(header),
        parser="grobid",
        parser_version="" if version == "unknown" else version,
    )


def _read_authors(header: Element) -> tuple[Author, ...]:
    """Return persons and collaborations; an <author> with neither is a stray affiliation."""
    organisations = {text_of(name).casefold() for name in header.iter("orgName")}
    elements = header.iterfind("*//sourceDesc//analytic/author")
    authors: dict[str, Author] = {}
    for author in (author for element in elements for author in _read_author(element)):
        if _is_name(author, organisations):
            earlier = authors.get(author.name, author)
            both = _distinct((*earlier.affiliations, *author.affiliations))
            authors[author.name] = replace(earlier, affiliations=both)
    return tuple(authors.values())


def _read_author(author: Element) -> list[Author]:
    """Return the persons or the collaboration of an <author>, each with all its affiliations."""
    people = author.findall("persName")
    if people:
        authors = [person for element in people if (person := _read_person(element))]
    else:
        names = {text_of(name): name.get("type") for name in author.findall("orgName")}
        groups = (text for text, kind in names.items() if kind == "collaboration" or _is_collaboration(text))
        authors = [Author("", text) for text in islice(filter(None, groups), 1)]
    affiliations = _distinct(_read_affiliation(affiliation) for affiliation in author.findall("affiliation"))
    return [replace(person, affiliations=affiliations) for person in authors]


def _is_collaboration(name: str) -> bool:
    return _COLLABORATION.search(name) is not None


def _read_affiliation(affiliation: Element) -> str:
    """Return an affiliation on one line: its parts, else as printed."""
    tags = ("orgName", "settlement", "country")
    parts = _distinct(text_of(part).strip(" .,;:") for tag in tags for part in affiliation.iter(tag))
    return ", ".join(parts) or next(map(text_of, affiliation.findall("note")), "")


def _distinct(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the non-empty texts without repeats, ignoring case."""
    unique: dict[str, str] = {}
    for text in filter(None, texts):
        unique.setdefault(text.casefold(), text)
    return tuple(unique.values())


def _read_person(person: Element) -> Author | None:
    given = " ".join(text_of(name) for name in person.findall("forename")).strip(" &,;*†‡")
    parts = ("nameLink", "surname", "genName")
    family = " ".join(text_of(name) for tag in parts for name in person.findall(tag)).strip(" &,;*†‡")
    if not family:
        given, family = "", given
    return Author(given, family) if family else None


def _is_name(author: Author, organisations: set[str]) -> bool:
    name = author.name.casefold()
    if not author.given and _is_collaboration(name):
        return True
    is_other = name in organisations or is_no_title(name)
    return not is_other and not _ORGANISATION.search(name) and any(letter.isalpha() for letter in name)


def _year_of(date: Element) -> int | None:
    return year_in(date.get("when", "")) or year_in(text_of(date))


def _doi_among(identifiers: Iterable[Element]) -> str:
    texts = (text_of(idno) for idno in identifiers if idno.get("type", "").upper() == "DOI")
    return next(filter(None, map(find_doi, texts)), "")


def _arxiv_id_among(identifiers: Iterable[Element]) -> str:
    """Return the arXiv id with its version; GROBID writes "arXiv:2312.07559v2[cs.CL]"."""
    texts = (text_of(idno) for idno in identifiers if idno.get("type", "").lower() == "arxiv")
    return next(filter(None, (find_arxiv_id(text, named=False) for text in texts)), "")


def _read_keywords(header: Element) -> tuple[str, ...]:
    """Return the keywords, split where GROBID did not separate them."""
    unique: dict[str, None] = {}
    for keywords in header.iterfind("*//textClass/keywords"):
        terms = [text_of(term) for term in keywords.iter("term")] or KEYWORD_SEPARATOR.split(
            text_of(keywords)
        )
        unique.update(dict.fromkeys(term.strip(" .;,") for term in terms))
    return tuple(term for term in unique if term)


def read_reference(entry: Element) -> Reference:
    """Read an entry of the bibliography; its text may be empty."""
    title = _first_text(entry, "analytic/title", "monogr/title[@level='m']", "monogr/title[@level='u']")
    people = entry.findall("analytic/author/persName") or entry.findall("monogr/author/persName")
    authors = tuple(person.name for name in people if (person := _read_person(name)))
    year = next(filter(None, map(_year_of, entry.iterfind(".//imprint/date"))), None)
    doi = _doi_among(entry.iter("idno"))
    raw = _first_text(entry, "note[@type='raw_reference']")
    text = raw or _compose(entry, title, authors, year, doi)
    printed = " ".join((text, *(link.get("target", "") for link in entry.iter("ptr"))))
    arxiv_id = _arxiv_id_among(entry.iter("idno")) or find_arxiv_id(printed)
    return Reference(text, title, authors, year, doi or find_doi(printed), arxiv_id)


def _first_text(entry: Element, *paths: str) -> str:
    texts = (text_of(element) for path in paths for element in entry.findall(path))
    return next(filter(None, texts), "")


def _compose(entry: Element, title: str, authors: tuple[str, ...], year: int | None, doi: str) -> str:
    """Compose an entry's text from its parts, for TEI without raw references."""
    notes = (text_of(note) for note in entry.iter("note"))
    links = (link.get("target", "") for link in entry.iter("ptr"))
    additional = (*notes, f"doi:{doi}" if doi else next(links, ""))
    parts = (", ".join(authors), title, _venue(entry, title), str(year or ""), *additional)
    return ". ".join(part.strip(" .") for part in parts if part.strip(" ."))


def _venue(entry: Element, title: str) -> str:
    names = (text_of(name) for name in entry.iterfind("monogr/title") if name.get("type") != "abbrev")
    name = next((name for name in names if name and name != title), "")
    scopes = {scope.get("unit", ""): _scope(scope) for scope in entry.iter("biblScope")}
    issue = f"({scopes['issue']})" if scopes.get("issue") else ""
    numbers = scopes.get("volume", "") + issue
    pages = scopes.get("page", "")
    return " ".join(part for part in (name, ":".join(part for part in (numbers, pages) if part)) if part)


def _scope(scope: Element) -> str:
    first, last = scope.get("from", ""), scope.get("to", "")
    return text_of(scope) or "-".join(part for part in (first, last) if part)
