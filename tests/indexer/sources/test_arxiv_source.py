"""arXiv as a source: real Atom documents from a stand-in, over a real socket."""

import time
from collections import deque
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.records import Author, Collection
from indexer.errors import SourceError
from indexer.sources.arxiv import ArxivId, ArxivPapers, ArxivSite, parse_arxiv_id
from indexer.sources.protocol import SourcePaper
from indexer.web.downloads import Downloads
from tests.standin_arxiv import Preprint, StandinArxiv
from tests.standin_files import PDF, Trouble

MINE = Collection("mine", "Mine")
BEIR = Preprint(
    "2104.08663v4",
    "BEIR: A\n  Benchmark & more",
    "  We follow a trail:\n$x < y$.\n",
    (("Nandan Thakur", "TU Darmstadt"), ("Plato", ""), ("ATLAS Collaboration", "")),
    "10.1000/beir",
)
OLD = Preprint(
    "cs/0112017v1", "An old paper", authors=(("Ludwig van Beethoven", ""),), journal_ref="J. Old 1"
)


def _listing(server: StandinArxiv, **asked: Any) -> ArxivPapers:
    return ArxivPapers(MINE, **asked, site=ArxivSite(server.url, pause=0, timeout=0.5))


def _papers(server: StandinArxiv, **asked: Any) -> list[SourcePaper]:
    return list(_listing(server, **asked).papers())


def _many(count: int) -> tuple[Preprint, ...]:
    return tuple(Preprint(f"2101.{number:05}v1", f"Paper {number}") for number in range(count))


@pytest.mark.parametrize(
    ("text", "base", "version"),
    [
        ("2104.08663", "2104.08663", 0),
        ("0704.0001v12", "0704.0001", 12),
        (" 2104.08663v2\n", "2104.08663", 2),
        ("arXiv:2104.08663v2", "2104.08663", 2),
        ("arxiv: 2104.08663", "2104.08663", 0),
        ("https://arxiv.org/abs/2104.08663", "2104.08663", 0),
        ("http://arxiv.org/abs/cs/0112017v1", "cs/0112017", 1),
        ("https://arxiv.org/pdf/2104.08663v4.pdf", "2104.08663", 4),
        ("https://www.arxiv.org/html/2104.08663v4/", "2104.08663", 4),
        ("https://export.arxiv.org/abs/2104.08663", "2104.08663", 0),
        ("10.48550/arXiv.2104.08663", "2104.08663", 0),
        ("https://doi.org/10.48550/arXiv.2104.08663", "2104.08663", 0),
        ("cs/0112017", "cs/0112017", 0),
        ("math.GT/0309136v2", "math/0309136", 2),
        ("cond-mat.stat-mech/9901001", "cond-mat/9901001", 0),
        ("hep-th/9901001", "hep-th/9901001", 0),
        ("https://arxiv.org/abs/2104.08663#abstract", "2104.08663", 0),
        ("https://arxiv.org/abs/2104.08663v2?context=cs.CL", "2104.08663", 2),
        ("https://arxiv.org/pdf/2104.08663v2.pdf#page=3", "2104.08663", 2),
        ("arxiv.org/abs/2104.08663", "2104.08663", 0),
        ("www.arxiv.org/abs/math.GT/0309136v2", "math/0309136", 2),
        ("HTTPS://ARXIV.ORG/ABS/2104.08663", "2104.08663", 0),
        ("https://ar5iv.labs.arxiv.org/html/2104.08663", "2104.08663", 0),
        ("https://huggingface.co/papers/2104.08663", "2104.08663", 0),
        ("doi:10.48550/ARXIV.2104.08663", "2104.08663", 0),
        ("http://dx.doi.org/10.48550/arXiv.2104.08663", "2104.08663", 0),
        ("oai:arXiv.org:hep-th/9901001", "hep-th/9901001", 0),
        ("arXiv preprint arXiv:2104.08663", "2104.08663", 0),
        ("arXiv:2104.08663v2 [cs.IR] 4 Mar 2021", "2104.08663", 2),
        ("arXiv:hep-th/9901001V3  [hep-th]  4 March 1999", "hep-th/9901001", 3),
    ],
)
def test_an_id_is_known_in_every_form(text: str, base: str, version: int) -> None:
    identifier = parse_arxiv_id(text)
    assert identifier == ArxivId(base, version)
    assert parse_arxiv_id(str(identifier)) == identifier


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2104",
        "2104.086",
        "2104.086631",
        "2104.08663v0",
        "2104.08663 v2",
        "2104.08663,2104.08664",
        "cs/01",
        "../2104.08663",
        "https://example.org/abs/2104.08663",
        "2104.08663&max_results=9",
        "2104.08663 [cs.IR] and 2104.08664",
        "https://arxiv.org/list/cs.IR/2104.08663",
        "https://example.org/?arxiv.org/abs/2104.08663",
        "٢١٠٤.٠٨٦٦٣",
    ],
)
def test_what_is_not_an_id_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not an arXiv id"):
        parse_arxiv_id(text)


@given(st.text())
def test_any_text_is_an_id_or_is_refused(text: str) -> None:
    try:
        identifier = parse_arxiv_id(text)
    except ValueError:
        return
    assert parse_arxiv_id(str(identifier)) == identifier
    assert str(identifier).isascii()


def test_a_paper_has_what_arxiv_says_of_it() -> None:
    with StandinArxiv({}, papers=(BEIR, OLD)) as server:
        beir, old = _papers(server, query="all:trail")
        (agent,) = {request.headers["User-Agent"] for request in server.requests}
    assert agent.startswith("Paper Trail/")
    paper = beir.paper
    assert (beir.name, paper.id, paper.arxiv_id) == ("2104.08663v4", "mine/2104.08663", "2104.08663v4")
    assert (paper.title, paper.abstract) == ("BEIR: A Benchmark & more", "We follow a trail: $x < y$.")
    assert paper.authors == (
        Author("Nandan", "Thakur", ("TU Darmstadt",)),
        Author("", "Plato"),
        Author("", "ATLAS Collaboration"),
    )
    assert (paper.year, paper.venue, paper.doi) == (2021, "arXiv cs.IR", "10.1000/beir")
    assert paper.keywords == ("cs.IR", "cs.CL")
    assert paper.url == "https://arxiv.org/abs/2104.08663v4"
    assert paper.pdf_url == "https://arxiv.org/pdf/2104.08663v4"
    assert paper.bibtex.startswith("@misc{thakur-2021-beir,\n    title = {BEIR: A Benchmark \\& more},\n")
    assert (
        "    eprint = {2104.08663},\n    archiveprefix = {arXiv},\n    primaryclass = {cs.IR},\n}"
        in paper.bibtex
    )
    assert (old.paper.id, old.paper.venue, old.paper.position) == ("mine/cs-0112017", "J. Old 1", 1)
    assert old.paper.authors == (Author("Ludwig", "van Beethoven"),)
    assert (beir.file, beir.problem, beir.notes) == (None, "", ())


def test_fault_names_were_cut_at_the_last_word() -> None:
    names = (
        *(
            "Martin Lock Uhu Jr.",
            "Jan van der Ito",
            "Sam Kauz, III",
            ":",
            "Night Team",
            "MossScience Workshop",
        ),
        *("Stone Team, AI @ Quarry", 'Ada K\\"uhn', "et al."),
    )
    with StandinArxiv(
        {}, papers=(Preprint("2101.00001v1", authors=tuple((name, "") for name in names)),)
    ) as server:
        (paper,) = _papers(server, query="x")
    assert paper.paper.authors == (
        Author("Martin Lock, Jr.", "Uhu"),
        Author("Jan", "van der Ito"),
        Author("Sam, III", "Kauz"),
        Author("", "Night Team"),
        Author("", "MossScience Workshop"),
        Author("", "Stone Team, AI @ Quarry"),
        Author("Ada", "Kühn"),
    )
    assert "author = {Uhu, Jr., Martin Lock and van der Ito, Jan and Kauz, III, Sam" in paper.paper.bibtex
    assert paper.paper.bibtex.startswith("@misc{uhu-2021-")


@pytest.mark.parametrize(
    ("tex", "text", "typeset"),
    [
        (r"The K\"uhn moss", "The Kühn moss", "The Kühn moss"),
        (r"\emph{Wet} and {\bf dry} 100\%", "Wet and dry 100%", r"Wet and dry 100\%"),
        (r"$\alpha$-moss in $O(n^2)$", r"$\alpha$-moss in $O(n^2)$", r"$\alpha$-moss in $O(n^2)$"),
        ("5% of A&B_1 at $5 and $6", "5% of A&B_1 at $5 and $6", r"5\% of A\&B\_1 at \$5 and \$6"),
        ("~90 of Fig.~1", "~90 of Fig. 1", r"\textasciitilde{}90 of Fig. 1"),
        (r"wet\\dry", "wet dry", "wet dry"),
        ("``Wet'' --- a {BERT}", "“Wet” — a BERT", "“Wet” — a BERT"),
        (r"$\input{x}$ moss", r"$\input{x}$ moss", r"\$\textbackslash{}input"),
    ],
)
def test_fault_tex_stood_in_titles_and_was_escaped_twice(tex: str, text: str, typeset: str) -> None:
    with StandinArxiv({}, papers=(Preprint("2101.00001v1", tex, tex),)) as server:
        (paper,) = _papers(server, query="x")
    assert (paper.paper.title, paper.paper.abstract) == (text, text)
    assert f"title = {{{typeset}" in paper.paper.bibtex


@pytest.mark.parametrize(
    ("summary", "comment", "is_withdrawn"),
    [
        ("We follow moss.", "This paper has been withdrawn by the authors due to an error", True),
        ("We follow moss.", "Withdrawn; see v1", True),
        ("This submission was withdrawn by arXiv administrators.", "", True),
        ("Withdrawn because of a mistake in Section 2.", "", True),
        ("The paper is now withdrawn, as Lemma 1 is wrong.", "3 pages", True),
        ("A moss that has been withdrawn from trade.", "9 pages", False),
        ("We list papers, and troops were withdrawn.", "", False),
    ],
)
def test_fault_withdrawn_papers_looked_like_others(summary: str, comment: str, is_withdrawn: bool) -> None:
    with StandinArxiv({}, papers=(Preprint("2101.00001v1", summary=summary, comment=comment),)) as server:
        (paper,) = _papers(server, query="x")
    assert [note.startswith("arXiv marks this paper as withdrawn: ") for note in paper.notes] == [
        True
    ] * is_withdrawn


def test_a_query_is_asked_page_by_page_up_to_the_limit() -> None:
    papers = _many(250)
    with StandinArxiv({}, papers=papers) as server:
        assert [it.name for it in _papers(server, query="cat:cs.CL AND ti:trail", limit=120)] == [
            paper.id for paper in papers[:120]
        ]
        assert [query["start"] for query in server.queries] == ["0", "100"]
        assert server.queries[0]["search_query"] == "cat:cs.CL AND ti:trail"
        listing = _listing(server, query="x", limit=2_000)
        assert len(listing) == len(list(listing.papers())) == 250
        assert len(_listing(server, query="x", limit=3)) == 3
        assert server.queries[-1]["max_results"] == "3"


def test_ids_come_in_the_order_asked_in_parts_and_in_their_newest_version() -> None:
    with StandinArxiv({}, papers=(BEIR, OLD)) as server:
        listing = _listing(
            server, ids=["9999.99999", "https://arxiv.org/abs/cs/0112017", "arXiv:2104.08663v4"]
        )
        papers = list(listing.papers())
    assert len(listing) == 3
    assert [paper.name for paper in papers] == ["9999.99999", "cs/0112017v1", "2104.08663v4"]
    assert [paper.problem for paper in papers] == ["arXiv knows no paper of this id.", "", ""]
    assert [paper.paper.position for paper in papers] == [0, 1, 2]
    versions = tuple(Preprint(f"2104.08663v{number}") for number in (2, 10, 9))
    with StandinArxiv({}, papers=(*versions, OLD)) as server:
        assert [it.name for it in _papers(server, query="x")] == ["2104.08663v10", "cs/0112017v1"]
        ids = ["2104.08663v2", "cs/0112017", "2104.08663v9", "2104.08663v2"]
        assert [it.name for it in _papers(server, ids=ids)] == ["2104.08663v9", "cs/0112017v1"]
    many = _many(230)
    with StandinArxiv({}, papers=many) as server:
        assert len(_papers(server, ids=[paper.id for paper in many])) == 230
        assert len(server.queries) == 3


def test_an_empty_page_is_asked_for_again_and_a_list_that_breaks_off_is_not_a_shorter_one() -> None:
    # Regression: arXiv sends an empty page now and then, which read as the end of the list.
    with StandinArxiv({}, papers=_many(3), empty=1) as server:
        assert len(_papers(server, query="x")) == 3
    with StandinArxiv({}, papers=_many(3), empty=1) as server:
        assert not any(it.problem for it in _papers(server, ids=[paper.id for paper in server.papers]))
    with StandinArxiv({}, papers=_many(150)) as server:
        first = server.feed({"search_query": "x", "start": "0", "max_results": "100"})
        server.bodies = deque([first])
        server.empty = 2
        assert len(_papers(server, query="x", limit=150)) == 150
    with StandinArxiv({}, papers=_many(150)) as server:
        server.bodies = deque([server.feed({"search_query": "x", "start": "0", "max_results": "100"})])
        server.empty = 99
        with pytest.raises(SourceError, match="broke off in the middle"):
            _listing(server, query="x", limit=150)


@pytest.mark.parametrize("trouble", [Trouble(503, (("Retry-After", "0.3"),)), Trouble(cut_after=900)])
def test_passing_trouble_passes(trouble: Trouble) -> None:
    with StandinArxiv({}, papers=(BEIR,)) as server:
        server.troubles.append(trouble)
        started = time.monotonic()
        assert len(_papers(server, query="x")) == 1
        assert not trouble.headers or time.monotonic() - started >= 0.3
        assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("trouble", "words"),
    [
        (Trouble(503), "HTTP 503"),
        (Trouble(404), "HTTP 404"),
        (Trouble(silent=0.8), "could not be reached"),
        (Trouble(cut_after=900), "could not be reached"),
    ],
)
def test_lasting_trouble_is_said_in_a_sentence(trouble: Trouble, words: str) -> None:
    with StandinArxiv({}, papers=(BEIR,)) as server:
        server.troubles.extend([trouble] * 4)
        with pytest.raises(SourceError, match=words):
            _listing(server, query="x")


def test_without_a_connection_a_sentence_says_so_and_requests_keep_their_distance() -> None:
    with StandinArxiv({}) as server:
        pass
    with pytest.raises(SourceError, match=r"could not be reached .* Check the connection"):
        _listing(server, query="x")
    with pytest.raises(SourceError, match="could not be reached"):
        ArxivPapers(MINE, query="x", site=ArxivSite("not an address", pause=0))
    with StandinArxiv({}, papers=_many(250)) as server:
        started = time.monotonic()
        ArxivPapers(MINE, query="x", limit=250, site=ArxivSite(server.url, pause=0.2))
        assert time.monotonic() - started >= 0.4


def test_what_arxiv_refuses_is_said_and_not_asked_again() -> None:
    with StandinArxiv({}, papers=(BEIR,), refuse="incorrect id format for 1234") as server:
        with pytest.raises(SourceError, match="refuses the request: incorrect id format for 1234"):
            _listing(server, query="x")
        assert len(server.requests) == 1
        body = server.refusal()
    # Some refusals come with HTTP 200.
    with (
        StandinArxiv({}, bodies=deque([body])) as server,
        pytest.raises(SourceError, match="refuses the request"),
    ):
        _listing(server, query="x")
    paper = Preprint("2101.00001v1", summary="See <id>http://arxiv.org/api/errors#bad for more.")
    with StandinArxiv({}, papers=(paper,)) as server:
        assert len(_papers(server, query="x")) == 1
    with StandinArxiv({}, bodies=deque([HOSTILE])) as server:
        (found,) = _papers(server, query="x")
    assert "root:" not in found.paper.title
    assert "aaaa" not in found.paper.title


HOSTILE = b"""<!DOCTYPE feed [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY f SYSTEM "file:///etc/passwd">]>
<feed xmlns="http://www.w3.org/2005/Atom"><entry><id>http://arxiv.org/abs/2101.00001v1</id><title>&b;&f;x</title>
<published>2021-01-01T00:00:00Z</published><updated>2021-01-01T00:00:00Z</updated></entry></feed>"""


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"<html>Log in to this network</html>", "What answers for arXiv is not arXiv"),
        (b"", "What answers for arXiv is not arXiv"),
        (HOSTILE.replace(b"abs/2101.00001v1", b"abs/../../etc"), "answer cannot be read"),
        (HOSTILE.replace(b"2021-01-01T", b"2021-99-99T"), "answer cannot be read"),
    ],
)
def test_an_answer_that_is_no_list_of_papers_is_reported(body: bytes, words: str) -> None:
    with StandinArxiv({}, bodies=deque([body])) as server, pytest.raises(SourceError, match=words):
        _listing(server, query="x")


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({}, "either a query or ids"),
        ({"query": "  "}, "either a query or ids"),
        ({"query": "x", "ids": ["2104.08663"]}, "either a query or ids"),
        ({"query": "x", "limit": 0}, "1 to 2,000"),
        ({"query": "x", "limit": 2_001}, "1 to 2,000"),
        ({"ids": ["2104.08663"] * 2_001}, "1 to 2,000"),
        ({"ids": ["2104.08663", "nonsense", "P19-1001"]}, "Not the id of an arXiv paper: nonsense, P19-1001"),
    ],
)
def test_an_order_that_makes_no_sense_is_not_sent(asked: dict[str, Any], words: str) -> None:
    with StandinArxiv({}) as server:
        with pytest.raises(SourceError, match=words):
            _listing(server, **asked)
        assert server.requests == []


@pytest.mark.parametrize(
    ("asked", "words"),
    [({"query": "x"}, "has no paper for"), ({"ids": ["2104.08663"]}, "knows none of these")],
)
def test_nothing_found_is_an_error(asked: dict[str, Any], words: str) -> None:
    with StandinArxiv({}) as server, pytest.raises(SourceError, match=words):
        _listing(server, **asked)


def test_pdfs_come_when_their_turn_comes_and_a_missing_one_costs_itself(tmp_path: Path) -> None:
    with StandinArxiv({}, papers=(BEIR, OLD)) as server, Downloads(tmp_path, pause=0) as downloads:
        del server.files["/pdf/2104.08663v4"]
        site = ArxivSite(server.url, pause=0)
        listing = ArxivPapers(MINE, query="x", site=site, downloads=downloads)
        assert not any(request.path.startswith("/pdf") for request in server.requests)
        beir, old = listing.papers()
    assert beir.file is None
    assert beir.notes == (f"There is no PDF at {server.url}/pdf/2104.08663v4 (HTTP 404).",)
    assert beir.problem == ""
    assert old.file == tmp_path / "cs-0112017v1.pdf"
    assert old.file.read_bytes() == PDF
