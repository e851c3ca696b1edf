"""A stand-in for arXiv: Atom documents in arXiv's own form over a real socket, with its known whims."""

from collections import deque
from dataclasses import dataclass, field
from html import escape
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.standin_files import PDF, Served, StandinFiles, Trouble, _Handler

FEED = """<?xml version='1.0' encoding='UTF-8'?>
<feed xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/" xmlns:arxiv="http://arxiv.org/schemas/atom" \
xmlns="http://www.w3.org/2005/Atom">
  <id>https://arxiv.org/api/cHxbiOdZaP56ODnBPIenZhzg5f8</id>
  <title>arXiv Query: {query}</title>
  <updated>2026-01-05T00:00:00Z</updated>
  <link href="https://arxiv.org/api/query?{query}" type="application/atom+xml"/>
  <opensearch:itemsPerPage>{size}</opensearch:itemsPerPage>
  <opensearch:totalResults>{total}</opensearch:totalResults>
  <opensearch:startIndex>{start}</opensearch:startIndex>
{entries}</feed>
"""
ENTRY = """  <entry>
    <id>http://arxiv.org/abs/{id}</id>
    <title>{title}</title>
    <updated>2021-10-21T07:54:00Z</updated>
    <link href="https://arxiv.org/abs/{id}" rel="alternate" type="text/html"/>
    <link href="https://arxiv.org/pdf/{id}" rel="related" type="application/pdf" title="pdf"/>
    <summary>{summary}</summary>
    <category term="cs.IR" scheme="http://arxiv.org/schemas/atom"/>
    <category term="cs.CL" scheme="http://arxiv.org/schemas/atom"/>
    <published>2021-04-17T23:29:55Z</published>
    <arxiv:comment>{comment}</arxiv:comment>
    <arxiv:primary_category term="cs.IR"/>
{extra}{authors}  </entry>
"""
ERROR = """  <entry>
    <id>https://arxiv.org/api/errors#{reason}</id>
    <title>Error</title>
    <updated>2026-01-05T00:00:00Z</updated>
    <link href="https://arxiv.org/api/errors#{reason}" rel="alternate" type="text/html"/>
    <summary>{reason}</summary>
    <author><name>arXiv api core</name></author>
  </entry>
"""


@dataclass(frozen=True)
class Preprint:
    """A paper of the stand-in; `id` carries its version."""

    id: str
    title: str = "A Title\n  over two lines"
    summary: str = "  We follow a trail.\nIt works.\n"
    authors: tuple[tuple[str, str], ...] = (("Ada Lovelace", ""),)
    doi: str = ""
    journal_ref: str = ""
    comment: str = "9 pages"

    def atom(self) -> str:
        authors = "".join(
            f"    <author>\n      <name>{escape(name)}</name>\n"
            + (f"      <arxiv:affiliation>{escape(place)}</arxiv:affiliation>\n" if place else "")
            + "    </author>\n"
            for name, place in self.authors
        )
        extra = f"    <arxiv:doi>{escape(self.doi)}</arxiv:doi>\n" if self.doi else ""
        extra += (
            f"    <arxiv:journal_ref>{escape(self.journal_ref)}</arxiv:journal_ref>\n"
            if self.journal_ref
            else ""
        )
        return ENTRY.format(
            id=self.id,
            title=escape(self.title),
            summary=escape(self.summary),
            comment=escape(self.comment),
            extra=extra,
            authors=authors,
        )


@dataclass
class StandinArxiv(StandinFiles):
    """The server, for a `with` block: every query finds all `papers`, ids find theirs, PDFs are at hand.

    `empty` counts answers that come without entries although there are some; `bodies` are answers
    sent as they are, with HTTP 200, before the papers are; `refuse` is the reason of a refusal.
    """

    papers: tuple[Preprint, ...] = ()
    empty: int = 0
    bodies: deque[bytes] = field(default_factory=deque)
    refuse: str = ""
    queries: list[dict[str, str]] = field(default_factory=list)

    @property
    def handler(self) -> type[BaseHTTPRequestHandler]:
        return _ArxivHandler

    def __post_init__(self) -> None:
        super().__post_init__()
        for paper in self.papers:
            self.files.setdefault(f"/pdf/{paper.id}", Served(PDF))

    def feed(self, asked: dict[str, str]) -> bytes:
        found = self._found(asked)
        start, size = int(asked["start"]), int(asked["max_results"])
        entries = "".join(paper.atom() for paper in found[start : start + size])
        if self.empty:
            self.empty -= 1
            entries = ""
        query = escape(asked.get("search_query", ""))
        return FEED.format(query=query, size=size, total=len(found), start=start, entries=entries).encode()

    def refusal(self) -> bytes:
        entries = ERROR.format(reason=self.refuse.replace(" ", "_"))
        return FEED.format(query="", size=1, total=1, start=0, entries=entries).encode()

    def _found(self, asked: dict[str, str]) -> list[Preprint]:
        """Return the papers of a query or of ids; an id without a version means the newest one."""
        if "id_list" not in asked:
            return list(self.papers)
        found = []
        for wanted in asked["id_list"].split(","):
            found += [it for it in self.papers if wanted == it.id] or [
                it for it in self.papers[::-1] if it.id.rpartition("v")[0] == wanted
            ][:1]
        return found


class _ArxivHandler(_Handler):
    standin: StandinArxiv

    def _answer(self, trouble: Trouble) -> None:
        parts = urlsplit(self.path)
        if trouble.status or trouble.silent or parts.path != "/api/query":
            super()._answer(trouble)
            return
        asked: dict[str, Any] = {name: values[0] for name, values in parse_qs(parts.query).items()}
        self.standin.queries.append(asked)
        atom = [("Content-Type", "application/atom+xml; charset=UTF-8")]
        if self.standin.refuse:
            self._send(400, self.standin.refusal(), atom)
        else:
            body = self.standin.bodies.popleft() if self.standin.bodies else self.standin.feed(asked)
            self._send(200, body, atom, cut_after=trouble.cut_after)
