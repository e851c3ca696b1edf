"""Texts by which a PDF replaces the letters that it draws ("ActualText"), removed if they differ.

PDFium reads such a text instead of the letters of its span, but a file can contain any text there. So texts
that differ from the drawn letters are removed from the page before its text is read.
"""

import codecs
import ctypes
import unicodedata
from collections.abc import Sequence
from itertools import repeat

import numpy as np
import pypdfium2
import pypdfium2.raw as pdfium_c
from numpy.typing import NDArray

from corpus.pdf import quick
from corpus.pdf.glyphs import Characters
from corpus.pdf.painting import Painting, read_painting
from corpus.pdf.words import Word

_KEY = ctypes.create_string_buffer(b"ActualText")
_KEY_ADDRESS = ctypes.addressof(_KEY)
_LONGEST_REORDERED = 8  # letters; some scripts are drawn in another order than they are spelled
_LETTERS_OF_GLYPH = 3  # the most of a glyph without a character, such as the ligature "ffi"
_ENCODINGS = (
    (codecs.BOM_UTF16_BE, "utf-16-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF8, "utf-8"),
)


def remove_false_texts(
    document: pypdfium2.PdfDocument, index: int, page: pypdfium2.PdfPage, painting: Painting
) -> tuple[Word, ...]:
    """Remove the texts of a page that differ from its drawn letters, and return their words.

    Call it before the page's text is read. The box of each word is the whole page.
    """
    texts = list(painting.texts)
    spans: dict[int, list[int]] = {}
    for place, text in enumerate(texts):
        for mark in _marks(text):
            spans.setdefault(mark, []).append(place)
    if not spans:
        return ()
    drawn = _drawn(document, index)
    if len(drawn) != len(texts):
        drawn = [("", 0)] * len(texts)
    false = {}
    for mark, places in spans.items():
        letters = "".join(drawn[at][0] for at in places)
        actual = _string(mark)
        if actual is None or not _agree(actual, letters, sum(drawn[at][1] for at in places)):
            false[mark] = actual or ""
    for mark in false:
        for place in spans[mark]:
            pdfium_c.FPDFPageObj_RemoveMark(
                ctypes.cast(texts[place], pdfium_c.FPDF_PAGEOBJECT),
                ctypes.cast(mark, pdfium_c.FPDF_PAGEOBJECTMARK),
            )
    width, height = page.get_size()
    return tuple(
        Word(word, 0.0, 0.0, width, height, height, height)
        for actual in false.values()
        for word in actual.split()
        if _letters(word)
    )


def unchecked_texts(painting: Painting, text: object, characters: Characters) -> NDArray[np.bool_]:
    """Flag the characters that may come from ActualText on an unchecked part of the page."""
    page = quick.address(text)
    objects = list(map(quick.object_of, repeat(page), characters.places.tolist()))
    unchecked = {
        handle for handle in set(objects) if handle and handle not in painting.texts and _marks(handle)
    }
    return np.array([handle in unchecked for handle in objects], bool)


def _marks(text: int) -> list[int]:
    """Return the marks of a text object that replace its text."""
    count = quick.count_marks(text)
    marks = map(quick.mark_of, repeat(text), range(max(0, count)))
    return [mark for mark in marks if quick.type_of_value(mark, _KEY_ADDRESS)]


def _string(mark: int) -> str | None:
    """Return the text of a mark, None if it is not a plain string."""
    handle = ctypes.cast(mark, pdfium_c.FPDF_PAGEOBJECTMARK)
    size = ctypes.c_ulong()
    if not pdfium_c.FPDFPageObjMark_GetParamBlobValue(handle, _KEY.value, None, 0, size):
        return None
    value = (ctypes.c_ubyte * size.value)()
    pdfium_c.FPDFPageObjMark_GetParamBlobValue(handle, _KEY.value, value, size.value, size)
    raw = bytes(value)
    for start, encoding in _ENCODINGS:
        if raw.startswith(start):
            return raw[len(start) :].decode(encoding, "replace")
    return raw.decode("latin-1")


def _drawn(document: pypdfium2.PdfDocument, index: int) -> list[tuple[str, int]]:
    """Return the drawn text of each text object, and the number of its glyphs without a character."""
    page = document[index]
    try:
        texts = list(read_painting(page.raw).texts)
        for handle in texts:
            for mark in _marks(handle):
                pdfium_c.FPDFPageObj_RemoveMark(
                    ctypes.cast(handle, pdfium_c.FPDF_PAGEOBJECT),
                    ctypes.cast(mark, pdfium_c.FPDF_PAGEOBJECTMARK),
                )
        text = page.get_textpage()
        try:
            return _by_object(text.raw, texts)
        finally:
            text.close()
    finally:
        page.close()


def _by_object(text: object, handles: Sequence[int]) -> list[tuple[str, int]]:
    page, count = quick.address(text), pdfium_c.FPDFText_CountChars(text)
    signs: dict[int, list[str]] = {handle: [] for handle in handles}
    unmapped = dict.fromkeys(handles, 0)
    for index, handle in enumerate(map(quick.object_of, repeat(page), range(count))):
        if handle not in signs:
            continue
        if pdfium_c.FPDFText_HasUnicodeMapError(text, index) == 1:
            unmapped[handle] += 1
        elif 0 < (code := quick.unicode_of(page, index)) < 0x110000:
            signs[handle].append(chr(code))
    # Joins pairs of surrogates.
    return [
        (
            "".join(signs[handle]).encode("utf-16", "surrogatepass").decode("utf-16", "ignore"),
            unmapped[handle],
        )
        for handle in handles
    ]


def _agree(actual: str, drawn: str, unmapped: int) -> bool:
    """Return True if a text has the drawn letters, and at most a few more for glyphs without a character."""
    actual, drawn = _letters(actual), _letters(drawn)
    if len(actual) == len(drawn) <= _LONGEST_REORDERED:
        actual, drawn = "".join(sorted(actual)), "".join(sorted(drawn))
    return actual == drawn or 0 < len(actual) - len(drawn) <= _LETTERS_OF_GLYPH * unmapped


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKD", text).casefold()))
