"""Which parser a build has for PDFs: a GROBID server, what one left behind, or PDFium alone."""

from corpus.errors import CorpusError
from corpus.records import Remark
from corpus.settings import Settings
from indexer.grobid_answers import GrobidError
from indexer.grobid_kept import KeptParser, KeptTei
from indexer.preparing import ParserChoice, TeiParser


def open_tei_parser(settings: Settings, choice: ParserChoice) -> tuple[TeiParser | None, Remark | None]:
    """Return what makes TEI of PDFs, if anything, and what the report should say of it.

    Raises CorpusError when a GROBID server is insisted on and cannot be had.
    """
    if choice == "pypdfium2":
        return None, None
    kept = KeptParser(KeptTei(settings.tei_path))
    if not settings.grobid_url:
        if choice == "grobid":
            raise CorpusError(
                "No GROBID server is set. Start one (compose.yaml does) and set PAPER_TRAIL_GROBID_URL, "
                "such as http://127.0.0.1:8070, or choose --parser pypdfium2."
            )
        return kept, None
    from indexer.grobid import open_grobid  # noqa: PLC0415 - half a second, for builds with a server alone

    try:
        grobid = open_grobid(settings)
    except GrobidError as error:
        raise CorpusError(f"{error}.") from error
    status = grobid.server.known_status()
    if status.reachable:
        return grobid, None
    if choice == "grobid":
        raise CorpusError(f"{status.problem}.")
    advice = "read by it later with: python -m indexer reparse --parser grobid"
    return kept, Remark("GROBID", f"{status.problem}; PDFs are read with pypdfium2. They can be {advice}")
