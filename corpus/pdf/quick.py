"""Fast bindings of PDFium functions that are called for every character, with addresses as integers.

The overhead dominates such short calls: with integer arguments, and without releasing the interpreter lock,
they take a third of the time. As with all of PDFium, callers hold the lock of `file.py`.
"""

import ctypes
from collections.abc import Callable
from typing import Any

import pypdfium2.raw as pdfium_c

_ADDRESS, _INT, _DOUBLE = ctypes.c_void_p, ctypes.c_int, ctypes.c_double


def address(of: Any) -> int:
    """Return the address of a PDFium object or a buffer."""
    return ctypes.cast(of, ctypes.c_void_p).value or 0


def _quick(function: Any, result: type, *arguments: type) -> Callable[..., Any]:
    prototype: Any = ctypes.PYFUNCTYPE(result, *arguments)
    made: Callable[..., Any] = prototype(address(function))
    return made


# These take a text page and the index of a character, and write results to the addresses.
unicode_of = _quick(pdfium_c.FPDFText_GetUnicode, ctypes.c_uint, _ADDRESS, _INT)
box_of = _quick(pdfium_c.FPDFText_GetCharBox, _INT, _ADDRESS, _INT, *4 * (_ADDRESS,))
origin_of = _quick(pdfium_c.FPDFText_GetCharOrigin, _INT, _ADDRESS, _INT, *2 * (_ADDRESS,))
font_size = _quick(pdfium_c.FPDFText_GetFontSize, _DOUBLE, _ADDRESS, _INT)
font_weight = _quick(pdfium_c.FPDFText_GetFontWeight, _INT, _ADDRESS, _INT)
matrix_of = _quick(pdfium_c.FPDFText_GetMatrix, _INT, _ADDRESS, _INT, _ADDRESS)
font_info = _quick(
    pdfium_c.FPDFText_GetFontInfo, ctypes.c_ulong, _ADDRESS, _INT, _ADDRESS, ctypes.c_ulong, _ADDRESS
)
object_of = _quick(pdfium_c.FPDFText_GetTextObject, ctypes.c_size_t, _ADDRESS, _INT)
# These take a text object.
font_of = _quick(pdfium_c.FPDFTextObj_GetFont, ctypes.c_size_t, _ADDRESS)
render_mode = _quick(pdfium_c.FPDFTextObj_GetTextRenderMode, _INT, _ADDRESS)
# These take any object of a page or a form.
_HANDLE = ctypes.c_size_t
object_on_page = _quick(pdfium_c.FPDFPage_GetObject, _HANDLE, _ADDRESS, _INT)
object_in_form = _quick(pdfium_c.FPDFFormObj_GetObject, _HANDLE, _ADDRESS, ctypes.c_ulong)
count_in_form = _quick(pdfium_c.FPDFFormObj_CountObjects, _INT, _ADDRESS)
type_of = _quick(pdfium_c.FPDFPageObj_GetType, _INT, _ADDRESS)
bounds_of = _quick(pdfium_c.FPDFPageObj_GetBounds, _INT, _ADDRESS, *4 * (_ADDRESS,))
matrix_of_object = _quick(pdfium_c.FPDFPageObj_GetMatrix, _INT, _ADDRESS, _ADDRESS)
fill_colour = _quick(pdfium_c.FPDFPageObj_GetFillColor, _INT, _ADDRESS, *4 * (_ADDRESS,))
draw_mode = _quick(pdfium_c.FPDFPath_GetDrawMode, _INT, _ADDRESS, _ADDRESS, _ADDRESS)
is_transparent = _quick(pdfium_c.FPDFPageObj_HasTransparency, _INT, _ADDRESS)
count_marks = _quick(pdfium_c.FPDFPageObj_CountMarks, _INT, _ADDRESS)
mark_of = _quick(pdfium_c.FPDFPageObj_GetMark, _HANDLE, _ADDRESS, ctypes.c_ulong)
name_of_mark = _quick(pdfium_c.FPDFPageObjMark_GetName, _INT, _ADDRESS, _ADDRESS, ctypes.c_ulong, _ADDRESS)
type_of_value = _quick(pdfium_c.FPDFPageObjMark_GetParamValueType, _INT, _ADDRESS, _ADDRESS)
clip_of = _quick(pdfium_c.FPDFPageObj_GetClipPath, _HANDLE, _ADDRESS)
count_clips = _quick(pdfium_c.FPDFClipPath_CountPaths, _INT, _ADDRESS)
count_segments = _quick(pdfium_c.FPDFClipPath_CountPathSegments, _INT, _ADDRESS, _INT)
segment_of = _quick(pdfium_c.FPDFClipPath_GetPathSegment, _HANDLE, _ADDRESS, _INT, _INT)
point_of = _quick(pdfium_c.FPDFPathSegment_GetPoint, _INT, _ADDRESS, _ADDRESS, _ADDRESS)
set_active = _quick(pdfium_c.FPDFPageObj_SetIsActive, _INT, _ADDRESS, _INT)
