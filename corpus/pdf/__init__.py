"""Pages of PDFs: words with boxes, and pictures."""

from corpus.pdf.file import PDFIUM_VERSION, PdfError, page_count, page_size, title_in_properties
from corpus.pdf.glyphs import UNKNOWN_LETTER
from corpus.pdf.images import page_image, page_picture
from corpus.pdf.pages import PdfPage, read_pages, shares_of_pictures
from corpus.pdf.words import RAISED, Word, raised_figures

__all__ = [
    "PDFIUM_VERSION", "RAISED", "UNKNOWN_LETTER", "PdfError", "PdfPage", "Word", "page_count", "page_image",
    "page_picture", "page_size", "raised_figures", "read_pages", "shares_of_pictures", "title_in_properties"
]  # fmt: skip
