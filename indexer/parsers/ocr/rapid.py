"""rapidocr: PaddleOCR's networks in ONNX, which come with its wheel."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from PIL import Image
from rapidocr import RapidOCR

from indexer.parsers.ocr.engines import OcrWord

# Two threads a process: a build reads several files at once.
_THREADS = 2
_LONGEST_SIDE = 4_000


class RapidEngine:
    """Finds lines, reads each, and says where in a line its words stand."""

    name = "rapidocr"

    def __init__(self) -> None:
        threads = "EngineConfig.onnxruntime"
        self._engine = RapidOCR(
            params={
                "Global.log_level": "error",
                "Global.return_word_box": True,
                "Global.max_side_len": _LONGEST_SIDE,
                # A page is turned as a whole, not line by line: see scans.py.
                "Global.use_cls": False,
                # Lines of one batch are made as long as its longest.
                "Rec.rec_batch_num": 1,
                f"{threads}.intra_op_num_threads": _THREADS,
                f"{threads}.inter_op_num_threads": 1,
            }
        )

    def read(self, picture: Image.Image) -> list[OcrWord]:
        found: Any = self._engine(np.asarray(picture.convert("RGB"))[:, :, ::-1])
        if found.boxes is None or not found.txts:
            return []
        lines = zip(found.txts, found.boxes, found.scores, found.word_results, strict=True)
        return [word for number, line in enumerate(lines) for word in _words(number, *line)]


def _words(number: int, text: str, corners: Any, score: float, pieces: Sequence[Any]) -> Iterator[OcrWord]:
    """Yield the words of a line; where its pieces are not its words, their letters say where these stand."""
    left, top = (float(value) for value in np.min(corners, axis=0))
    right, bottom = (float(value) for value in np.max(corners, axis=0))
    places = _letter_places(text, pieces, left, right)
    at = 0
    for word in text.split():
        at = text.index(word, at)
        first, last = places[at][0], places[at + len(word) - 1][1]
        yield OcrWord(word, max(left, first), top, min(right, max(last, first + 1)), bottom, score, number)
        at += len(word)


def _letter_places(text: str, pieces: Sequence[Any], left: float, right: float) -> list[tuple[float, float]]:
    """Return where each letter of a line begins and ends, in pixels from the left of the picture."""
    step = (right - left) / max(1, len(text))
    places = [(left + step * at, left + step * (at + 1)) for at in range(len(text))]
    at = 0
    for piece, _, corners in pieces:
        start = text.find(piece, at)
        if start < 0 or not piece:
            continue
        begins, ends = float(np.min(corners, axis=0)[0]), float(np.max(corners, axis=0)[0])
        width = (ends - begins) / len(piece)
        for index in range(len(piece)):
            places[start + index] = (begins + width * index, begins + width * (index + 1))
        at = start + len(piece)
    return places
