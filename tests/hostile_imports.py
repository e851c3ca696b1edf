"""Files to import that somebody made to do harm: trails and comparisons with something changed."""

import copy
import io
import json
import random
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

Kind = Literal["conversation", "comparison"]
_FILES = Path(__file__).parent / "assistant" / "trail" / "files"
KINDS: tuple[Kind, ...] = ("conversation", "comparison")
_WHOLE: dict[Kind, dict[str, Any]] = {
    kind: json.loads((_FILES / f"{kind}.json").read_text(encoding="utf-8")) for kind in KINDS
}
LIBRARY = "your-documents.Qm9vbWVyYW5nTGlicmF"
PATHS = (
    "../../etc/passwd",
    "/etc/passwd",
    "..\\..\\boot.ini",
    "a/../../b",
    "file:///etc/passwd",
    "CON",
    "%2e%2e/",
)
UNSEEN = "\u200b\u202e\u2066\ufeff\u00ad\U000e0041\x1b[31m"


@dataclass(frozen=True, slots=True)
class HostileFile:
    """A file of one family; `family` names what is wrong with it."""

    kind: Kind
    family: str
    data: bytes


def whole(kind: Kind) -> dict[str, Any]:
    """Return a file as the product has written it, to be changed."""
    return copy.deepcopy(_WHOLE[kind])


def hostile_import(seed: int, number: int) -> HostileFile:
    """Return the file of that number; the same for the same seed."""
    drawn = random.Random(seed * 1_000_003 + number)
    family, change = list(FAMILIES.items())[number % len(FAMILIES)]
    kind = drawn.choice(KINDS)
    document = whole(kind)
    changed = change(document, drawn)
    data = changed if isinstance(changed, bytes) else json.dumps(document).encode()
    return HostileFile(kind, family, data)


Place = tuple[dict[str, Any] | list[Any], str | int]


def places(document: Any, *types: type) -> Iterator[Place]:
    """Yield where values of these types stand in a document."""
    items = document.items() if isinstance(document, dict) else enumerate(document)
    for key, value in items:
        if type(value) in types:
            yield document, key
        if isinstance(value, dict | list):
            yield from places(value, *types)


def put(place: Place, value: object) -> None:
    place[0][place[1]] = value  # type: ignore[index,call-overload]


def value_at(place: Place) -> Any:
    return place[0][place[1]]  # type: ignore[index,call-overload]


def _held(document: dict[str, Any]) -> Any:
    return document.get("conversation") or document["comparison"]


def _some(document: dict[str, Any], drawn: random.Random, *types: type) -> list[Place]:
    found = list(places(_held(document), *types))
    return drawn.sample(found, min(len(found), drawn.choice((1, 1, 3, 20))))


def _huge_numbers(document: dict[str, Any], drawn: random.Random) -> None:
    for place in _some(document, drawn, int, float):
        put(place, drawn.choice((9e8, -9e8, 1e300, 10**40, -1, 2**63, 5e-324)))


def _no_numbers(document: dict[str, Any], drawn: random.Random) -> None:
    for place in _some(document, drawn, float):
        put(place, drawn.choice((float("nan"), float("inf"), float("-inf"))))


def _deep(document: dict[str, Any], drawn: random.Random) -> bytes:
    deep = 10 ** drawn.randint(2, 5)
    mark = f"deep{drawn.random()}"
    put(_some(document, drawn, str, list)[0], mark)
    opening, closing = drawn.choice((("[", "]"), ('{"a":', "}")))
    inner = opening * deep + "1" + closing * deep
    return json.dumps(document).replace(json.dumps(mark), inner).encode()


def _endless_lists(document: dict[str, Any], drawn: random.Random) -> bytes:
    if drawn.random() < 0.4:
        return b"[" + drawn.choice((b"[],", b"{},", b'"",', b"0,", b'{"a":1},')) * 2_000_000 + b"0]"
    place = _some(document, drawn, list)[0]
    entries = value_at(place)
    put(place, (entries or [0]) * (1_000_000 // max(1, len(entries) * len(json.dumps(entries)))))
    return json.dumps(document).encode()


def _long_runs(document: dict[str, Any], drawn: random.Random) -> None:
    run = drawn.choice((" ", "\n", "a", "[", "](", "$", "-", "*", "\\", "1, ", "<", "\u200b"))
    length = drawn.choice((1_900, 18_000, 59_000, 200_000, 3_000_000))
    for place in _some(document, drawn, str)[:3]:
        put(place, f"a{run * (length // len(run))}b")


def _other_library(document: dict[str, Any], drawn: random.Random, *, whole_file: bool) -> bytes:
    papers = sorted({labelled["paper"]["id"] for labelled in _papers_of(document)})
    moved = papers if whole_file else drawn.sample(papers, drawn.randint(1, max(1, len(papers) - 1)))
    text = json.dumps(document)
    for paper in moved:
        for end in ('"', "#"):
            text = text.replace(f'"{paper}{end}', f'"{LIBRARY}/{paper.rpartition("/")[2]}{end}')
        if drawn.random() < 0.7:
            text = text.replace(
                f'"collection_id": "{paper.rpartition("/")[0]}"', f'"collection_id": "{LIBRARY}"'
            )
    return text.encode()


def _mixed_libraries(document: dict[str, Any], drawn: random.Random) -> bytes:
    return _other_library(document, drawn, whole_file=False)


def _foreign_library(document: dict[str, Any], drawn: random.Random) -> bytes:
    return _other_library(document, drawn, whole_file=True)


def _papers_of(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for container, key in places(document, list):
        if key == "papers" and isinstance(container, dict):
            yield from (
                entry for entry in container["papers"] if isinstance(entry, dict) and "paper" in entry
            )


def _paths(document: dict[str, Any], drawn: random.Random) -> None:
    ids = [place for place in places(_held(document), str) if str(place[1]) in _NAMES]
    for place in drawn.sample(ids, min(len(ids), 3)):
        put(place, drawn.choice(PATHS))


_NAMES = ("id", "paper_id", "passage_id", "collection_id", "pdf_sha256", "url", "source", "pdf_url")


def _other_types(document: dict[str, Any], drawn: random.Random) -> None:
    for place in _some(document, drawn, str, int, float, list, dict, bool, type(None)):
        put(place, drawn.choice(("x", 7, 1.5, True, None, [], {}, [[]], {"a": {}})))


def _half_pairs(document: dict[str, Any], drawn: random.Random) -> None:
    for place in _some(document, drawn, str):
        half = drawn.choice(("\ud800", "\udc00 x", "\udfff\ud800"))
        put(place, f"{value_at(place)}{half}")


def _keys_twice(document: dict[str, Any], drawn: random.Random) -> bytes:
    text = json.dumps(document)
    key = drawn.choice(("id", "text", "question", "title", "label", "turns", "papers"))
    value = drawn.choice(('"other"', "1e999", "[]", "null", '"../x"'))
    return text.replace(f'"{key}":', f'"{key}": {value}, "{key}":').encode()


def _unseen(document: dict[str, Any], drawn: random.Random) -> None:
    for place in _some(document, drawn, str):
        put(place, f"{UNSEEN}{value_at(place)}{UNSEEN}")


def _nul(document: dict[str, Any], drawn: random.Random) -> None:
    for place in _some(document, drawn, str):
        put(place, f"a\x00{value_at(place)}\x00")


def _boxes(document: dict[str, Any], drawn: random.Random) -> None:
    many = drawn.choice((100, 1_900, 20_000))
    size = drawn.choice((5, 600, 90_000, 9e5))
    for labelled in _papers_of(document):
        for passage in labelled["passages"][:3]:
            for sentence in passage["sentences"][:3]:
                box = {"page": 1, "x": drawn.uniform(-size, size), "y": 0.0, "width": size, "height": size}
                sentence["boxes"] = [box] * many


def _zip_bomb(document: dict[str, Any], drawn: random.Random) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("library.json", json.dumps(document))
        archive.writestr(drawn.choice(PATHS), b"0" * 20_000_000)
    return written.getvalue()


FAMILIES: dict[str, Callable[[dict[str, Any], random.Random], bytes | None]] = {
    "huge numbers": _huge_numbers,
    "no numbers": _no_numbers,
    "boxes by the thousand": _boxes,
    "mixed libraries": _mixed_libraries,
    "long runs": _long_runs,
    "endless lists": _endless_lists,
    "foreign library": _foreign_library,
    "half pairs": _half_pairs,
    "deep nesting": _deep,
    "paths for ids": _paths,
    "other types": _other_types,
    "keys twice": _keys_twice,
    "characters that are not seen": _unseen,
    "NUL": _nul,
    "zip bomb": _zip_bomb,
}
