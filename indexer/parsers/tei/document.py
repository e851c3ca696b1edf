"""GROBID's TEI to a document: the flat, gapped and sometimes doubled XML of its server, as a paper reads.

The XML comes from a server that read somebody's PDF, so nothing in it is trusted: no entities, no document
type, no network, no huge trees.
"""

import re
from dataclasses import replace
from pathlib import Path

from lxml import etree

from corpus.records import Reference
from indexer.errors import ParseError
from indexer.parsers.document import Document, Paragraph, Piece
from indexer.parsers.identifiers import read_arxiv_stamp
from indexer.parsers.tei.body import Body, read_body
from indexer.parsers.tei.boxes import Element, count_pages, drop_bad_boxes
from indexer.parsers.tei.citations import bibliography, link_citations
from indexer.parsers.tei.header import read_header, read_reference
from indexer.parsers.tei.text import pieces_of, strip_invisible, text_of

LARGEST_TEI = 32 * 1024 * 1024
"""The most bytes of one file that are read; a book of a thousand pages has about 10 MiB."""

DEEPEST_TEI = 100
"""The levels of elements that are read; GROBID writes about a dozen."""

NO_TEXT = "GROBID found no text in this paper"

_DOCTYPE = re.compile(r"(?>\s+|<\?.*?\?>|<!--.*?-->)*<!DOCTYPE(\s+html\b)?", re.DOTALL | re.IGNORECASE)


def read_tei(source: Path | bytes) -> Document:
    """Read a TEI file of GROBID, or what its server sent; raises ParseError for all that is wrong with it."""
    root = _parse(_read_source(source))
    bad_boxes = drop_bad_boxes(root)
    references = _read_references(root)
    header = root.find("teiHeader")
    header = etree.Element("teiHeader") if header is None else header
    text = root.find("text")
    body = read_body(etree.Element("text") if text is None else text)
    document = replace(
        read_header(header),
        abstract=_read_abstract(header),
        sections=body.sections,
        references=references,
        page_count=count_pages(root),
    )
    remarks = (f"{bad_boxes} box{'es' * (bad_boxes != 1)} could not be read",) if bad_boxes else ()
    document = _complete(document, body)
    return replace(document, notes=(*document.notes, *remarks))


def _read_references(root: Element) -> tuple[Reference, ...]:
    """Read the entries of the bibliography that have any text, and link what cites them to their places."""
    read = [read_reference(entry) for entry in bibliography(root)]
    kept = [place for place, reference in enumerate(read) if reference.text]
    link_citations(root, {place: number for number, place in enumerate(kept)})
    return tuple(read[place] for place in kept)


def _read_source(source: Path | bytes) -> str:
    if isinstance(source, bytes):
        content = source
    else:
        try:
            with source.open("rb") as file:
                content = file.read(LARGEST_TEI + 1)
        except OSError as error:
            raise ParseError(f"the TEI file cannot be read: {error.strerror or error}") from error
    if len(content) > LARGEST_TEI:
        raise ParseError(f"the TEI is larger than {LARGEST_TEI // 1024**2} MiB, more than any paper's")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ParseError(f"the TEI is not UTF-8: byte {error.start} cannot be decoded") from error


def _parse(source: str) -> Element:
    if not source.strip():
        raise ParseError("the TEI is empty")
    if doctype := _DOCTYPE.match(source):
        if doctype[1]:
            raise ParseError("this is an HTML page, not TEI")
        raise ParseError("the TEI declares a document type, which can carry entities; GROBID writes none")
    try:
        root = etree.fromstring(strip_invisible(source).encode(), _parser())
    except etree.XMLSyntaxError as error:
        raise ParseError(f"the TEI is not well-formed XML, perhaps cut off: {error.msg}") from error
    if root.xpath("/".join("*" * DEEPEST_TEI)):
        raise ParseError("the TEI is nested too deeply for a paper")
    _drop_namespaces(root)
    if root.tag != "TEI":
        raise ParseError(f"the XML is not TEI: its root element is <{root.tag}>")
    return root


def _parser() -> etree.XMLParser:
    # Once per call: lxml's parsers are not meant to be shared between threads.
    return etree.XMLParser(
        encoding="utf-8",
        resolve_entities=False,
        load_dtd=False,
        no_network=True,
        huge_tree=False,
        collect_ids=False,
        remove_comments=True,
        remove_pis=True,
    )


def _drop_namespaces(root: Element) -> None:
    """Make tags plain: GROBID declares the namespace again and again, and some copies have lost it."""
    for element in root.iter("*"):
        element.tag = etree.QName(element).localname


def _read_abstract(header: Element) -> tuple[Paragraph, ...]:
    """Read the abstract; the headings of a structured one open their paragraphs."""
    paragraphs: list[Paragraph] = []
    label = ""
    for element in header.iterfind("profileDesc/abstract//*"):
        if element.tag == "head":
            label = text_of(element)
        elif element.tag == "p" and (pieces := pieces_of(element)):
            paragraphs.append(Paragraph(_labelled(label, pieces), "abstract"))
            label = ""
    return tuple(dict.fromkeys(paragraphs))


def _labelled(label: str, pieces: tuple[Piece, ...]) -> tuple[Piece, ...]:
    if not label:
        return pieces
    stop = "" if label.endswith((".", ":")) else ":"
    text = pieces[0].text.lstrip(" :")
    return (replace(pieces[0], text=f"{label}{stop} {text}"), *pieces[1:])


def _complete(document: Document, body: Body) -> Document:
    """Fill gaps from the body and say what is missing; raises ParseError for a document without any text."""
    stamp = next((stamp for heading in body.artifacts if (stamp := read_arxiv_stamp(heading))), None)
    if stamp:
        document = replace(document, arxiv_id=document.arxiv_id or stamp[0], year=document.year or stamp[1])
    if not document.abstract:
        document = _abstract_from_body(document)
    if not (document.title or document.abstract or document.sections):
        raise ParseError(NO_TEXT)
    gaps = {"title": document.title, "abstract": document.abstract, "body": document.sections}
    remarks = (f"GROBID found no {name}" for name, value in gaps.items() if not value)
    return replace(document, notes=(*remarks, *body.remarks))


def _abstract_from_body(document: Document) -> Document:
    """Move a section called "Abstract" to where abstracts are looked for."""
    for place, section in enumerate(document.sections):
        if section.path and section.path[-1].title.strip(" .:").casefold() == "abstract":
            body = (paragraph for paragraph in section.paragraphs if paragraph.kind == "body")
            floats = tuple(paragraph for paragraph in section.paragraphs if paragraph.kind != "body")
            left = (replace(section, paragraphs=floats),) if floats else ()
            return replace(
                document,
                abstract=tuple(replace(paragraph, kind="abstract") for paragraph in body),
                sections=document.sections[:place] + left + document.sections[place + 1 :],
            )
    return document
