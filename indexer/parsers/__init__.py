"""Files to documents, by the parser for their kind."""

from indexer.parsers.decoding import Decoded, EncodingError, decode
from indexer.parsers.document import Document, DocumentSection, Paragraph, Piece
from indexer.parsers.grobid.answers import GrobidError
from indexer.parsers.grobid.status import GrobidStatus
from indexer.parsers.identifiers import find_arxiv_id, find_doi, letters_of, year_in
from indexer.parsers.ocr.engines import (
    INSTALL,
    NO_OCR,
    SECONDS_PER_PAGE,
    OcrOptions,
    engine_name,
    program_folders,
)
from indexer.parsers.registry import (
    SUFFIXES,
    ParserChoice,
    TeiParser,
    file_sha256,
    is_pdf,
    open_tei_parser,
    read_document,
)
from indexer.parsers.sandbox import IsolatedProcesses, ParserFaultError, needed_environment

__all__ = [
    "INSTALL", "NO_OCR", "SECONDS_PER_PAGE", "SUFFIXES", "Decoded", "Document", "DocumentSection",
    "EncodingError", "GrobidError", "GrobidStatus", "IsolatedProcesses", "OcrOptions", "Paragraph",
    "ParserChoice", "ParserFaultError", "Piece", "TeiParser", "decode", "engine_name", "file_sha256",
    "find_arxiv_id", "find_doi", "is_pdf", "letters_of", "needed_environment", "open_tei_parser",
    "program_folders", "read_document", "year_in"
]  # fmt: skip
