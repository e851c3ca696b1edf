"""Pages without a text layer, read from their pictures: words with boxes, as from any other page."""

from indexer.parsers.ocr.engines import (
    INSTALL,
    NO_OCR,
    SECONDS_PER_PAGE,
    OcrEngine,
    OcrOptions,
    OcrWord,
    engine_name,
    open_engine,
)
from indexer.parsers.ocr.scans import Scan, read_scans

__all__ = [
    "INSTALL", "NO_OCR", "SECONDS_PER_PAGE", "OcrEngine", "OcrOptions", "OcrWord", "Scan", "engine_name",
    "open_engine", "read_scans"
]  # fmt: skip
