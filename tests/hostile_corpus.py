"""A small corpus all of whose texts are hostile: titles, names, text, topics, addresses, PDF."""

import hashlib
from collections.abc import Iterator
from itertools import accumulate, pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa

from corpus.encoders.base import Encoder
from corpus.records import (
    Aspect,
    Author,
    Box,
    Build,
    Cluster,
    Collection,
    Failure,
    Paper,
    Passage,
    Reference,
    Remark,
    Section,
    Sentence,
    Topic,
    passage_id,
)
from corpus.store import rows
from corpus.store.writer import CorpusWriter
from tests.hostile_texts import all_in_one, payloads
from tests.small_pdf import write_pdf

COLLECTION = "hostile"
IDS = ("hostile/first", "hostile/x' OR '1'='1", "hostile/<img src=x>#2 [x](y)")
PAPERS = len(IDS)
QUESTION = "What does the hostile paper report about retrieval?"
# The last one in the middle of the map.
_PLACES = ((0.0, 0.0), (4.0, 4.0), (2.0, 2.0))


def build_hostile_home(home: Path, encoder: Encoder, host: str) -> Path:
    """Return a PAPER_TRAIL_HOME with the corpus, whose texts point at `host`."""
    pdf = _put_pdf(home / "pdf", host)
    papers = [_paper(number, host, pdf) for number in range(PAPERS)]
    passages = [passage for number, paper in enumerate(papers) for passage in _passages(number, paper, host)]
    texts = [passage.text for passage in passages]
    vectors = np.stack(list(encoder.encode_passages(texts)))
    writer = CorpusWriter(home / "corpus", encoder)
    writer.put_collections([_collection(host)])
    entries = [rows.PaperEntry(paper, tuple(_references(paper, papers, host))) for paper in papers]
    written = rows.passage_rows(passages, {paper.id: paper for paper in papers}, texts, vectors)
    writer.add_papers(rows.paper_rows(entries).to_batches(), written.to_batches())
    writer.add_builds([_build(host)])
    writer.put_map(
        _places(), [Cluster(number, text, 1) for number, text in enumerate(payloads(host)[:PAPERS])]
    )
    writer.publish()
    return home


def plain_address(host: str) -> str:
    """Return the one address in these papers that is a plain one, and so may become a link."""
    return f"{host}/own-page"


def _collection(host: str) -> Collection:
    hostile = all_in_one(host)
    return Collection(COLLECTION, f"Hostile {hostile}", hostile, f"folder {hostile}", 2024, hostile)


def _paper(number: int, host: str, pdf: str) -> Paper:
    families = payloads(host)
    said = families[number % 3 :: 3]
    hostile = all_in_one(host)
    return Paper(
        id=IDS[number],
        collection_id=COLLECTION,
        title=f"{families[9] if number == 1 else 'Hostile'} {' '.join(said)}",
        authors=(
            Author("Eve", families[0], (hostile,)),
            Author(families[1], f"=1+1 {families[6]}"),
            *(Author("", f"{text} {number}") for text in families),
        ),
        year=2020 + number,
        venue=f"{families[number]} {families[4]}",
        abstract=" ".join(_sentences(host)),
        pages=families[4],
        url=(plain_address(host), "javascript:alert(1)", f'{host}/own"onmouseover="alert(1)')[number],
        pdf_url=f"data:text/html,<script>fetch('{host}')</script>",
        doi=f'10.1/x"><img src={host}/doi.png>',
        arxiv_id="../../evil?x=1",
        bibtex=f"@article{{evil,\n  title = {{{families[10]} {families[7]}}},\n  url = {{{host}/bib}}\n}}",
        keywords=families,
        source=hostile,
        parser=hostile,
        parser_version=families[1],
        pdf_sha256=pdf,
        page_count=1,
        full_text=True,
        position=number,
        aspects=tuple(
            Aspect(name, text, 0, 0, text, 0.1)
            for name, text in zip(("challenge", "approach", "outcome"), families, strict=False)
        ),
        topics=tuple(
            Topic(kind, text, 0.9)
            for kind in ("field", "task", "method", "dataset", "metric")
            for text in families[number : number + 2]
        ),
    )


def _sentences(host: str) -> Iterator[str]:
    for number, text in enumerate(payloads(host), start=1):
        yield f"The hostile paper reports result {number} about retrieval: {text} "


def _passages(number: int, paper: Paper, host: str) -> Iterator[Passage]:
    """Yield an abstract and a body of one sentence for each family, with places on the PDF's page."""
    hostile, sentences = all_in_one(host), tuple(_sentences(host))
    ends = accumulate(map(len, sentences), initial=0)
    spans = tuple(
        Sentence(start, end, (Box(1, 60, 60 + 20 * place, 400, 16),), (0, 1, 7))
        for place, (start, end) in enumerate(pairwise(ends))
    )
    text = "".join(sentences)
    section = (Section("1", f"Introduction {payloads(host)[number]}"), Section("<b>1.1</b>", hostile))
    for place, kind in enumerate(("abstract", "body")):
        yield Passage(
            passage_id(paper.id, place),
            paper.id,
            COLLECTION,
            place,
            kind,  # type: ignore[arg-type]
            section if place else (),
            text,
            spans,
            1,
        )


def _references(paper: Paper, papers: list[Paper], host: str) -> Iterator[Reference]:
    for text in payloads(host):
        yield Reference(f"Eve. {text}. 2001.", text, (text,), 2001, f"10.1/{text}", text)
    for other in papers:
        if other.id != paper.id:
            yield Reference(f"Eve. {other.title}. 2020.", other.title)


def _build(host: str) -> Build:
    hostile = all_in_one(host)
    return Build(
        id="20240101",
        collection_id=COLLECTION,
        started="2024-01-01T00:00:00+00:00",
        seconds=1.0,
        encoder=hostile,
        encoder_sha256="0" * 64,
        added=PAPERS,
        changed=0,
        unchanged=0,
        removed=0,
        passages=2 * PAPERS,
        failures=tuple(Failure(text, text) for text in payloads(host)),
        remarks=tuple(Remark(text, text) for text in payloads(host)),
    )


def _places() -> pa.Table:
    placed = [
        {"paper_id": identifier, "x": x, "y": y, "cluster": number}
        for number, (identifier, (x, y)) in enumerate(zip(IDS, _PLACES, strict=True))
    ]
    return pa.Table.from_pylist(placed, schema=rows.PLACES)


def _put_pdf(folder: Path, host: str) -> str:
    """Put a PDF where the app looks for it that would ask the host when it is opened, and at every click."""
    folder.mkdir(parents=True)
    action = f"<< /S /URI /URI ({host}/pdf) >>"
    script = f"<< /S /JavaScript /JS (app.launchURL\\('{host}/script'\\)) >>"
    page = (
        f"/AA << /O {script} >> /Annots [<< /Type /Annot /Subtype /Link /Rect [0 0 612 792] /A {action} >>]"
    )
    lines = " ".join("(Hostile results) Tj 0 -40 Td" for _ in range(6))
    made = write_pdf(folder / "made.pdf", [f"BT 60 720 Td /F 11 Tf {lines} ET"], page)
    name = hashlib.sha256(made.read_bytes()).hexdigest()
    made.rename(folder / f"{name}.pdf")
    return name
