"""rapidocr: PaddleOCR's networks in ONNX, contained in its wheel."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from PIL import Image
from rapidocr import RapidOCR

from indexer.parsers.ocr.engines import OcrWord

# Per process: a build reads several files at once.
_THREADS = 2
_LONGEST_SIDE = 4_000


class RapidEngine:
    """Finds lines, recognises each, and locates the words within it."""

    name = "rapidocr"

    def __init__(self) -> None:
        threads = "EngineConfig.onnxruntime"
        self._engine = RapidOCR(
            params={
                "Global.log_level": "error",
                "Global.return_word_box": True,
                "Global.max_side_len": _LONGEST_SIDE,
                # scans.py rotates whole pages, not lines.
                "Global.use_cls": False,
                # Lines of a batch are padded to the longest.
                "Rec.rec_batch_num": 1,
                f"{threads}.intra_op_num_threads": _THREADS,
                f"{threads}.inter_op_num_threads": 1,
            }
        )

    def read(self, picture: Image.Image) -> list[OcrWord]:
        result: Any = self._engine(np.asarray(picture.convert("RGB"))[:, :, ::-1])
        if result.boxes is None or not result.txts:
            return []
        lines = zip(result.txts, result.boxes, result.scores, result.word_results, strict=True)
        return [word for number, line in enumerate(lines) for word in _words(number, *line)]


def _words(number: int, text: str, corners: Any, score: float, pieces: Sequence[Any]) -> Iterator[OcrWord]:
    """Yield the words of a line, located by the positions of their letters."""
    left, top = (float(value) for value in np.min(corners, axis=0))
    right, bottom = (float(value) for value in np.max(corners, axis=0))
    places = _letter_places(text, pieces, left, right)
    index = 0
    for word in text.split():
        index = text.index(word, index)
        first, last = places[index][0], places[index + len(word) - 1][1]
        yield OcrWord(word, max(left, first), top, min(right, max(last, first + 1)), bottom, score, number)
        index += len(word)


def _letter_places(text: str, pieces: Sequence[Any], left: float, right: float) -> list[tuple[float, float]]:
    """Return the left and right edge of each letter of a line, in pixels."""
    step = (right - left) / max(1, len(text))
    places = [(left + step * index, left + step * (index + 1)) for index in range(len(text))]
    searched = 0
    for piece, _, corners in pieces:
        start = text.find(piece, searched)
        if start < 0 or not piece:
            continue
        begins, ends = float(np.min(corners, axis=0)[0]), float(np.max(corners, axis=0)[0])
        width = (ends - begins) / len(piece)
        for index in range(len(piece)):
            places[start + index] = (begins + width * index, begins + width * (index + 1))
        searched = start + len(piece)
    return places
