"""GROBID's TEI to a document.

The XML comes from a server that read a foreign PDF and is not trusted: no entities, no document type, no
network, no huge trees.
"""

import codecs
import re
from dataclasses import replace
from pathlib import Path

from lxml import etree

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

_LANG = "{http://www.w3.org/XML/1998/namespace}lang"

NO_TEXT = "GROBID found no text in this paper"

# Error messages of GROBID's server, which some clients save as TEI files.
_SERVER_REPORT = re.compile(rb"\s*\[([A-Z]{2,20}(?:_[A-Z]{1,20}){0,4})\]")
_DECLARED = re.compile(rb"\s*<\?xml[^>]{0,100}?encoding\s*=\s*[\"']([A-Za-z0-9_.:-]{1,40})[\"']")
_ENCODING = re.compile(
    r"utf-?(?:8|16|32)(?:-?[bl]e)?|(?:us-)?ascii|iso-?8859-\d{1,2}|latin-?\d|(?:windows-?|cp)\d{3,4}|koi8-\w"
    r"|gbk|gb2312|gb18030|big5|shift[_-]jis|euc-\w\w",
    re.IGNORECASE,
)
_DECLARATION = re.compile(r"\A\s*+<\?xml[^>]{0,200}\?>")
_OTHER_XML = {
    "article": "JATS, as publishers and PubMed Central have it: use its PDF",
    "PubmedArticleSet": "PubMed's: export the references as RIS or BibTeX",
    "html": "a web page",
    "feed": "a list of arXiv: use the command for arXiv",
}
_DOCTYPE = re.compile(
    r"(?>\s+|<\?.*?\?>|<!--.*?-->)*<!DOCTYPE(?:(\s+html\b)|\s+(\w{1,40}))?", re.DOTALL | re.IGNORECASE
)


def read_tei(source: Path | bytes) -> Document:
    """Read a TEI file, or a server's reply; raises ParseError for anything but usable TEI."""
    root = _parse(_read_source(source))
    bad_boxes = drop_bad_boxes(root)
    entries = [read_reference(entry) for entry in bibliography(root)]
    printed = [place for place, reference in enumerate(entries) if reference.text]
    link_citations(root, {place: number for number, place in enumerate(printed)})
    header = root.find("teiHeader")
    header = etree.Element("teiHeader") if header is None else header
    text = root.find("text")
    body = read_body(etree.Element("text") if text is None else text)
    document = replace(
        read_header(header),
        abstract=_read_abstract(header),
        sections=body.sections,
        references=tuple(entries[place] for place in printed),
        page_count=count_pages(root),
    )
    remarks = (f"{bad_boxes} box{'es' * (bad_boxes != 1)} could not be read",) if bad_boxes else ()
    document = _complete(document, body)
    return replace(document, notes=(*document.notes, *remarks))


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
    if report := _SERVER_REPORT.match(content):
        raise ParseError(f"GROBID made no TEI of this paper: {report[1].decode('ascii')}")
    declared = _DECLARED.match(content)
    encoding = declared[1].decode("ascii") if declared else "utf-8"
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16"
    if not _ENCODING.fullmatch(encoding):
        raise ParseError(f"the TEI says that it is in {encoding}, which is no encoding of text")
    try:
        return content.decode("utf-8-sig" if encoding.lower() in ("utf-8", "utf8") else encoding)
    except UnicodeDecodeError as error:
        raise ParseError(
            f"the TEI is not {encoding.upper()}: byte {error.start} cannot be decoded"
        ) from error


def _parse(source: str) -> Element:
    if not source.strip():
        raise ParseError("the TEI is empty")
    if doctype := _DOCTYPE.match(source):
        if doctype[1]:
            raise ParseError("this is an HTML page, not TEI")
        if other := _OTHER_XML.get(doctype[2] or ""):
            raise ParseError(f"the XML is not TEI, it is {other}")
        raise ParseError("the TEI declares a document type, which can carry entities; GROBID writes none")
    try:
        # The text is encoded as UTF-8 below, whatever it declares.
        plain = _DECLARATION.sub("", strip_invisible(source), count=1)
        root = etree.fromstring(plain.encode(), _parser())
    except etree.XMLSyntaxError as error:
        raise ParseError(f"the TEI is not well-formed XML, perhaps cut off: {error.msg}") from error
    if root.xpath("/".join("*" * DEEPEST_TEI)):
        raise ParseError("the TEI is nested too deeply for a paper")
    # GROBID declares the namespace repeatedly, and some copies have lost it.
    for element in root.iter("*"):
        element.tag = etree.QName(element).localname
    if root.tag != "TEI":
        other = _OTHER_XML.get(str(root.tag))
        raise ParseError(
            f"the XML is not TEI, it is {other}"
            if other
            else f"the XML is not TEI: its root element is <{root.tag}>"
        )
    return root


def _parser() -> etree.XMLParser:
    # One per call: lxml's parsers must not be shared between threads.
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


def _read_abstract(header: Element) -> tuple[Paragraph, ...]:
    """Read the abstract in the paper's language; headings of a structured abstract begin its paragraphs."""
    paragraphs: list[Paragraph] = []
    label = ""
    root = header.getparent()
    body = None if root is None else root.find("text")
    declared = [part.get(_LANG, "") for part in (body, header) if part is not None]
    language = next(filter(None, declared), "")
    for abstract in _in_one_language(header.findall("profileDesc/abstract"), language):
        for element in abstract.iter("*"):
            if element.tag == "head":
                label = text_of(element)
            elif element.tag in ("p", "ab", "abstract") and not any(
                inner is not element for inner in element.iter("p", "ab", "head")
            ):
                if pieces := pieces_of(element):
                    paragraphs.append(Paragraph(_labelled(label, pieces), "abstract"))
                label = ""
    return tuple(dict.fromkeys(paragraphs))


def _in_one_language(abstracts: list[Element], language: str) -> list[Element]:
    """Return the abstracts of a paper in its language, else in English, else in that of the first."""
    languages = [abstract.get(_LANG, "") for abstract in abstracts]
    if len(set(languages)) < 2 or "" in languages:
        return abstracts
    chosen = next((code for code in (language, "en") if code in languages), languages[0])
    return [abstract for abstract, code in zip(abstracts, languages, strict=True) if code == chosen]


def _labelled(label: str, pieces: tuple[Piece, ...]) -> tuple[Piece, ...]:
    if not label:
        return pieces
    stop = "" if label.endswith((".", ":")) else ":"
    text = pieces[0].text.lstrip(" :")
    return (replace(pieces[0], text=f"{label}{stop} {text}"), *pieces[1:])


def _complete(document: Document, body: Body) -> Document:
    """Fill gaps from the body and note what is missing; raises ParseError for a document without text."""
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
    """Move a section called "Abstract" to the abstract."""
    for place, section in enumerate(document.sections):
        if section.path and section.path[-1].title.strip(" .:").casefold() == "abstract":
            body = (paragraph for paragraph in section.paragraphs if paragraph.kind == "body")
            floats = tuple(paragraph for paragraph in section.paragraphs if paragraph.kind != "body")
            remaining = (replace(section, paragraphs=floats),) if floats else ()
            return replace(
                document,
                abstract=tuple(replace(paragraph, kind="abstract") for paragraph in body),
                sections=document.sections[:place] + remaining + document.sections[place + 1 :],
            )
    return document
