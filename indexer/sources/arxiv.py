"""Papers of arXiv: the results of a query, or papers by their ids; the only file that imports arxiv."""

import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import arxiv  # type: ignore[import-untyped]
import requests
from requests.adapters import HTTPAdapter

from corpus.bibtex.entry import bibtex
from corpus.bibtex.latex import latex_to_text
from corpus.http import is_busy, retry_after
from corpus.markup.raised import plain_figures
from corpus.records import Author, Collection, Paper, paper_id
from corpus.text import shortened, storable
from indexer.errors import SourceError
from indexer.sources.formats.names import read_name
from indexer.sources.protocol import SourcePaper
from indexer.web.downloads import USER_AGENT, DownloadError, Downloads

ARXIV = "https://export.arxiv.org"
DEFAULT_LIMIT = 100
LARGEST_LIMIT = 2_000
LONGEST_REASON = 300
LONGEST_WAIT = 60.0
RETRIES = 3
_PAGE = 100

_NUMBER = r"(?P<base>\d{4}\.\d{4,5}|(?P<archive>[a-z]+(?:-[a-z]+)*)(?:\.[A-Za-z-]{2,})?/(?P<number>\d{7}))"
# Links of arXiv and of sites that show its papers, DOIs, and the stamp on the first page.
_ID = re.compile(
    r"(?:(?i:(?:https?://)?(?:[a-z]+\.)?(?:arxiv|alphaxiv|ar5iv(?:\.labs\.arxiv)?)\.org/"
    r"(?:abs|pdf|html|format|e-print|src|ps|overview)/|(?:https?://)?huggingface\.co/papers/"
    r"|(?:(?:https?://)?(?:dx\.)?doi\.org/|doi:\s*)?10\.48550/|oai:arxiv\.org:|arxiv preprint\s+))?"
    rf"(?:(?i:arxiv)[:.]\s*)?{_NUMBER}(?:[vV](?P<version>[1-9]\d*))?(?:\.pdf)?/?"
    r"(?:[?#]\S*|\s*\[[a-z-]+(?:\.[A-Za-z-]+)?\](?:\s+\d{1,2}\s+[A-Z][a-z]{2,8}\s+\d{4})?)?",
    re.ASCII,
)
_WITHDRAWN_COMMENT = re.compile(r"\b(?:withdrawn|withdrawal|retracted|retraction)\b", re.IGNORECASE)
_WITHDRAWN_ABSTRACT = re.compile(
    r"\b(?:article|manuscript|paper|preprint|submission|version)\s+(?:(?:has|have|had)\s+been|is|was)\s+"
    r"(?:\w+\s+)?(?:withdrawn|retracted)\b|^\W*(?:withdrawn|retracted)\b",
    re.IGNORECASE,
)
# Between two words "~" is a space, elsewhere it means "about".
_BREAK = re.compile(r"\\\\(?=[\s\w])")
_ABOUT = re.compile(r"(?<![\w.,;:)}])~|~(?=\s|$)")
_ATOM = b"http://www.w3.org/2005/Atom"
_REFUSED = re.compile(rb"<id>\s*https?://arxiv\.org/api/errors#([\w.,:;+/-]{1,200})")


@dataclass(frozen=True, slots=True)
class ArxivId:
    """An arXiv id: "2104.08663" or "cs/0112017", and the version, 0 where none is named."""

    base: str
    version: int = 0

    def __str__(self) -> str:
        return f"{self.base}v{self.version}" if self.version else self.base


@dataclass(frozen=True, slots=True)
class _Listed:
    """A paper as arXiv lists it."""

    id: ArxivId
    result: Any


def parse_arxiv_id(text: str) -> ArxivId:
    """Parse an id in any usual form, links included; raises ValueError."""
    match = _ID.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"not an arXiv id: {text!r}")
    # The subject class of an old id, as in math.GT/0309136, is not part of it.
    base = f"{match['archive']}/{match['number']}" if match["archive"] else match["base"]
    return ArxivId(base, int(match["version"] or 0))


@dataclass(frozen=True, slots=True)
class ArxivSite:
    """The address of arXiv's API and PDFs, the pause between requests and the time-out, in seconds.

    arXiv asks programs to use this address and to send at most one request every three seconds.
    """

    url: str = ARXIV
    pause: float = 3.0
    timeout: float = 30.0


ARXIV_SITE = ArxivSite()


class ArxivPapers:
    """Papers of arXiv as one collection, in arXiv's order for a query, else in the order of the ids.

    The papers are listed by the constructor; each PDF is fetched when its paper is read. An id that arXiv
    does not know becomes a problem; of several versions of a paper the newest is used.
    """

    def __init__(
        self,
        collection: Collection,
        *,
        query: str = "",
        ids: Sequence[str] = (),
        limit: int = DEFAULT_LIMIT,
        site: ArxivSite = ARXIV_SITE,
        downloads: Downloads | None = None,
    ) -> None:
        """List the papers of a query (at most `limit`) or of ids, in any form; raises SourceError."""
        self.collection = collection
        self._site = site
        self._downloads = downloads
        requested = _requested(query, ids, limit)
        client = _client(site, min(limit, _PAGE) if query else _PAGE)
        listed = _by_ids(client, requested) if requested else _by_query(client, query, limit)
        self._listed = _newest(listed, requested)

    def __len__(self) -> int:
        return len(self._listed)

    def papers(self) -> Iterator[SourcePaper]:
        for position, (base, listed) in enumerate(self._listed.items()):
            if listed is None:
                unknown = self._paper(ArxivId(base), position)
                yield SourcePaper(base, unknown, problem="arXiv knows no paper of this id.")
            else:
                yield self._source_paper(listed, position)

    def _source_paper(self, listed: _Listed, position: int) -> SourcePaper:
        name = str(listed.id)
        paper, notes = _described(self._paper(listed.id, position), listed), _withdrawal(listed.result)
        if self._downloads is None:
            return SourcePaper(name, paper, notes=notes)
        try:
            url = f"{self._site.url.rstrip('/')}/pdf/{name}"
            file = self._downloads.fetch(url, f"{name.replace('/', '-')}.pdf")
            return SourcePaper(name, paper, file, notes=notes)
        except DownloadError as error:
            return SourcePaper(name, paper, notes=(*notes, str(error)))

    def _paper(self, identifier: ArxivId, position: int) -> Paper:
        """Return a paper with only its id and position."""
        return Paper(
            id=paper_id(self.collection.id, identifier.base.replace("/", "-")),
            collection_id=self.collection.id,
            title="",
            authors=(),
            year=None,
            venue="",
            abstract="",
            url=f"https://arxiv.org/abs/{identifier}",
            pdf_url=f"https://arxiv.org/pdf/{identifier}",
            arxiv_id=str(identifier),
            source="arXiv",
            position=position,
        )


def _described(paper: Paper, listed: _Listed) -> Paper:
    """Return `paper` with arXiv's metadata."""
    result, category = listed.result, _line(listed.result.primary_category)
    described = replace(
        paper,
        title=_text(result.title),
        authors=tuple(filter(None, map(_author, result.authors))),
        year=result.published.year,
        abstract=_text(result.summary),
        doi=_line(result.doi),
        keywords=tuple(dict.fromkeys(filter(None, map(_line, [category, *result.categories])))),
    )
    eprint = (("eprint", listed.id.base), ("archiveprefix", "arXiv"), ("primaryclass", category))
    lines = [f"    {name} = {{{value}}},\n" for name, value in eprint if re.fullmatch(r"[\w./-]+", value)]
    entry = bibtex(described).removesuffix("}")  # without a venue yet, so that it is a @misc
    venue = _text(result.journal_ref) or f"arXiv {category}".strip()
    return replace(described, venue=venue, bibtex="".join([entry, *lines, "}"]))


def _author(author: Any) -> Author | None:
    """Return an author, None for the ":" that follows a collaboration."""
    person = read_name(_text(author.name))
    affiliations = tuple(filter(None, map(_text, author.affiliation)))
    return replace(person, affiliations=affiliations) if person else None


def _withdrawal(result: Any) -> tuple[str, ...]:
    """Return the note that a paper is withdrawn, with the authors' reason; none for other papers."""
    comment, abstract = _text(result.comment), _text(result.summary)
    if _WITHDRAWN_COMMENT.search(comment):
        return (f"arXiv marks this paper as withdrawn: {shortened(comment, LONGEST_REASON)}",)
    if _WITHDRAWN_ABSTRACT.search(abstract):
        return (f"arXiv marks this paper as withdrawn: {shortened(abstract, LONGEST_REASON)}",)
    return ()


def _text(text: str | None) -> str:
    """Return authors' TeX as text on one line; formulas stay TeX unless they are numbers."""
    tex = _BREAK.sub(" ", _ABOUT.sub(r"\\textasciitilde{}", storable(text or "")))
    return _line(plain_figures(latex_to_text(tex)))


def _line(text: str | None) -> str:
    return " ".join(storable(text or "").split())


def _requested(query: str, ids: Sequence[str], limit: int) -> list[ArxivId]:
    """Return the requested ids, none for a query; raises SourceError for an invalid request."""
    if bool(query.strip()) == bool(ids):
        raise SourceError("Say which papers of arXiv to index: either a query or ids, not both.")
    if not 1 <= limit <= LARGEST_LIMIT or len(ids) > LARGEST_LIMIT:
        raise SourceError(f"A collection of arXiv papers holds 1 to {LARGEST_LIMIT:,} papers.")
    parsed, wrong = [], []
    for text in ids:
        try:
            parsed.append(parse_arxiv_id(text))
        except ValueError:
            wrong.append(text)
    if wrong:
        raise SourceError(
            f"Not the id of an arXiv paper: {', '.join(wrong[:5])}. Ids look like 2104.08663, 2104.08663v2, "
            "cs/0112017 or https://arxiv.org/abs/2104.08663."
        )
    return parsed


def _newest(listed: Sequence[_Listed], requested: Sequence[ArxivId]) -> dict[str, _Listed | None]:
    """Return the newest version of each paper by its id, None for requested papers that are not listed."""
    papers: dict[str, _Listed | None] = dict.fromkeys(identifier.base for identifier in requested)
    for paper in listed:
        earlier = papers.get(paper.id.base)
        asked_for = not requested or paper.id.base in papers
        if asked_for and (earlier is None or earlier.id.version < paper.id.version):
            papers[paper.id.base] = paper
    return papers


def _by_query(client: Any, query: str, limit: int) -> list[_Listed]:
    search = arxiv.Search(query=query, max_results=limit)
    # arXiv sometimes sends an empty page, which the library takes for an empty list.
    papers = _results(client, search) or _results(client, search)
    if not papers:
        raise SourceError(f"arXiv has no paper for the query {query!r}. Change the query.")
    return papers


def _by_ids(client: Any, requested: Sequence[ArxivId]) -> list[_Listed]:
    papers: list[_Listed] = []
    missing = list(dict.fromkeys(requested))
    for _ in range(2):  # a second attempt for missing papers, because of empty pages
        for start in range(0, len(missing), _PAGE):
            ids = [str(identifier) for identifier in missing[start : start + _PAGE]]
            papers.extend(_results(client, arxiv.Search(id_list=ids, max_results=len(ids))))
        listed = {paper.id for paper in papers} | {ArxivId(paper.id.base) for paper in papers}
        missing = [identifier for identifier in missing if identifier not in listed]
    if not papers:
        raise SourceError("arXiv knows none of these papers. Check the ids.")
    return papers


def _results(client: Any, search: Any) -> list[_Listed]:
    """Return all results of a search; raises SourceError rather than return a part of them."""
    try:
        return [_Listed(parse_arxiv_id(result.entry_id), result) for result in client.results(search)]
    except _AnswerError as error:
        raise SourceError(str(error)) from error
    except arxiv.HTTPError as error:
        raise SourceError(f"arXiv answers with an error (HTTP {error.status}). Try again later.") from error
    except arxiv.UnexpectedEmptyPageError as error:
        raise SourceError("arXiv broke off in the middle of its list. Try again later.") from error
    except requests.RequestException as error:
        raise SourceError(
            f"arXiv could not be reached ({type(error).__name__}). Check the connection and try again."
        ) from error
    except ValueError as error:
        raise SourceError(f"arXiv's answer cannot be read: {storable(str(error))[:200]}.") from error


class _AnswerError(Exception):
    """A response that is no list of papers; a retry would not help."""


class _PoliteAdapter(HTTPAdapter):
    """An adapter that adds a user agent, time-outs, waits when arXiv is busy, and reasons of refusals."""

    def __init__(self, timeout: float) -> None:
        super().__init__()
        self._timeout = timeout

    def send(self, request: Any, **options: Any) -> requests.Response:  # type: ignore[override]
        request.headers["User-Agent"] = USER_AGENT
        try:
            response = super().send(request, **{**options, "timeout": self._timeout})
            content = response.content
        except (requests.exceptions.ChunkedEncodingError, requests.Timeout) as error:
            raise requests.ConnectionError(str(error)) from error  # which the library retries
        if refused := _REFUSED.search(content):
            reason = refused[1].decode("ascii").replace("_", " ")
            raise _AnswerError(f"arXiv refuses the request: {reason}. Correct the query or the ids.")
        if response.status_code == requests.codes.ok and _ATOM not in content:
            raise _AnswerError(
                "What answers for arXiv is not arXiv. Check the connection and the address that is set."
            )
        if is_busy(response.status_code):
            time.sleep(min(retry_after(response.headers) or 0.0, LONGEST_WAIT))
        return response


def _client(site: ArxivSite, page: int) -> Any:
    client = arxiv.Client(page_size=page, delay_seconds=site.pause, num_retries=RETRIES)
    client.query_url_format = f"{site.url.rstrip('/')}/api/query?{{}}"
    for scheme in ("http://", "https://"):
        client._session.mount(scheme, _PoliteAdapter(site.timeout))  # the library takes no session
    return client
