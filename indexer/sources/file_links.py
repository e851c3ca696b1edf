"""Files that references name, in the notations of reference managers, found below one folder."""

import os
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple
from urllib.parse import unquote

from corpus.bibtex.latex import latex_to_text, typed_text
from indexer.sources.containment import file_within, is_file
from indexer.sources.library import best_first

# "Full Text:files/12/a.pdf:application/pdf"; a colon or semicolon in a name is escaped. A semicolon that no
# suffix or type precedes is part of a name.
_PARTS = re.compile(r"(?<=\w)(?<!\\);\s*")
_ENDS_LINK = re.compile(r"(?:\.\w{1,5}|:[\w.+-]+(?:/[\w.+-]+)?)\s*$|^\s*$|^[a-z]{2,}://", re.IGNORECASE)
_FIELDS = re.compile(r"(?<!\\):")
_ESCAPED = re.compile(r"\\([:;\\{}_$&%#])")
_ADDRESS = re.compile(r"(?!file:|internal-pdf:)[a-z][a-z0-9+.-]+:(?://|.*@)", re.IGNORECASE)
_OF_A_FILE = re.compile(r"^(?:file:(?://(?:localhost)?)?|internal-pdf://)", re.IGNORECASE)
_DRIVE = re.compile(r"^/*[A-Za-z]:(?=[\\/])")
_TYPE = re.compile(r"(?:[\w.+-]+/[\w.+-]+|[A-Za-z]{0,12})")
_LONGEST_PATH = 4_096
_MOST_FOLDERS = 200
"""How many folders of a library are searched for a path without its parent folders."""


class NamedFiles(NamedTuple):
    """The files that an entry names: those found, and the names of those missing or outside the folder."""

    files: tuple[Path, ...]
    missing: tuple[str, ...]
    outside: tuple[str, ...]


def find_files(folder: Path, fields: Iterable[str]) -> NamedFiles:
    """Return the files below a folder that fields name; a field holds one path or several.

    An export may be hostile and name any file: only its own folder is read. Paths of another machine are
    matched by their tail. Web addresses are ignored.
    """
    files: dict[Path, None] = {}
    missing, outside = [], []
    for field in fields:
        # Try the whole field first: a name may contain separators.
        whole = _find(folder, [field])
        links = [[field]] if whole else [list(_spellings(part)) for part in _split(field)]
        for link in links:
            if not link or _ADDRESS.match(link[0]):
                continue
            if path := _find(folder, link):
                files[path] = None
            elif _lies_outside(folder, link[0]):
                outside.append(_name(link[0]))
            else:
                missing.append(_name(link[0]))
    return NamedFiles(best_first(files), tuple(dict.fromkeys(missing)), tuple(dict.fromkeys(outside)))


def _split(field: str) -> Iterator[str]:
    """Yield the links of a field, separated by semicolons."""
    waiting = ""
    for part in _PARTS.split(field):
        waiting = f"{waiting}; {part}" if waiting else part
        if _ENDS_LINK.search(waiting):
            yield waiting
            waiting = ""
    if waiting.strip():
        yield waiting


def _spellings(link: str) -> Iterator[str]:
    """Yield the possible paths of a link, likeliest first: "Description:path:type", or a path alone."""
    link = link.strip()
    if not link:
        return
    if _ADDRESS.match(link) or _OF_A_FILE.match(link):
        yield link
        return
    fields = _with_drives(_FIELDS.split(link))
    if len(fields) >= 3 and _TYPE.fullmatch(fields[-1].strip()):
        yield ":".join(fields[1:-1])
        yield ":".join(fields[:-1])
    elif len(fields) == 2:
        path_first = bool(_TYPE.fullmatch(fields[1].strip()))
        yield fields[0] if path_first else fields[1]
        yield fields[1] if path_first else fields[0]
    yield link


def _with_drives(fields: Sequence[str]) -> list[str]:
    r"""Join drive letters with the paths after them: "C", "\Users" is one field."""
    joined: list[str] = []
    for field in fields:
        bare = field.lstrip("\\/ ") != field.lstrip(" ")
        if joined and bare and re.fullmatch(r"\s*[A-Za-z](?:\$\\backslash\$|\\)?", joined[-1]):
            joined[-1] = f"{joined[-1].strip()[0]}:{field}"
        else:
            joined.append(field)
    return joined


def _find(folder: Path, spellings: Iterable[str]) -> Path | None:
    for spelling in spellings:
        if len(spelling) <= _LONGEST_PATH:
            for path in dict.fromkeys(_paths(spelling)):
                if file := _find_path(folder, path):
                    return file
    return None


def _paths(spelling: str) -> Iterator[str]:
    """Yield a path as it is, and without the escapes of LaTeX, URLs and Windows."""
    spelling = spelling.strip()
    local = _OF_A_FILE.sub("", spelling)
    for text in (local, _ESCAPED.sub(r"\1", local), typed_text(local), latex_to_text(local)):
        line = " ".join(text.split()) if "\n" in text else text
        for path in (line, unquote(line) if "%" in line else line):
            yield path
            if "\\" in path:
                yield re.sub(r"[\\/]+", "/", path)


def _find_path(folder: Path, path: str) -> Path | None:
    """Return the file of a path below a folder; for a foreign path, the file that matches its tail."""
    path = _DRIVE.sub("/", path)
    parts = [part for part in path.split("/") if part not in ("", ".")]
    file = file_within(folder, path) if parts else None
    if file and is_file(file):
        return file
    if ".." in parts:
        return None
    return next(filter(None, (_follow(place, tail) for place, tail in _ends(folder, path, parts))), None)


def _ends(folder: Path, path: str, parts: Sequence[str]) -> Iterator[tuple[Path, Sequence[str]]]:
    """Yield folders to start from, each with the tail of the path to follow there."""
    for start in range(len(parts)):
        # A bare file name is too ambiguous, unless its parent has the folder's name.
        enters = parts[start - 1] if start else "" if path.startswith("/") else folder.name
        if start < len(parts) - 1 or _plain(enters) == _plain(folder.name):
            yield folder, parts[start:]
    if len(parts) == 2:
        yield from ((below, parts) for below in _folders(folder))


def _folders(folder: Path) -> Iterator[Path]:
    """Yield the subfolders, and those where EndNote keeps its PDFs."""
    names = [name for name in sorted(_names(folder).values()) if (folder / name).is_dir()]
    for name in names[:_MOST_FOLDERS]:
        yield folder / name
        if name.endswith(".Data"):
            yield folder / name / "PDF"


def _follow(folder: Path, parts: Sequence[str]) -> Path | None:
    """Return the file at a path whose names may differ in Unicode form or case."""
    place = folder
    for part in parts:
        direct = place / part
        try:
            if not direct.exists():
                name = _names(place).get(_plain(part))
                if name is None:
                    return None
                direct = place / name
        except (OSError, ValueError):
            return None
        place = direct
    within = file_within(folder, place.relative_to(folder))
    return within if within and is_file(within) else None


def _names(folder: Path) -> Mapping[str, str]:
    """Return the names in a folder by their normal form, without ambiguous ones."""
    try:
        return _listed(folder, folder.stat().st_mtime_ns)
    except (OSError, ValueError):
        return MappingProxyType({})


@lru_cache(maxsize=64)
def _listed(folder: Path, _changed: int) -> Mapping[str, str]:
    names: dict[str, str] = {}
    double = set()
    for name in os.listdir(folder):  # noqa: PTH208 - names alone, of folders of any size
        form = _plain(name)
        if form in names:
            double.add(form)
        names[form] = name
    return MappingProxyType({form: name for form, name in names.items() if form not in double})


def _plain(name: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def _lies_outside(folder: Path, link: str) -> bool:
    path = _DRIVE.sub("/", re.sub(r"[\\/]+", "/", _OF_A_FILE.sub("", typed_text(link))))
    return bool(_DRIVE.match(link.strip())) or file_within(folder, path) is None


def _name(link: str) -> str:
    """Return a file's name for the report, without its folders."""
    if re.search(r"\\\\|\\\w{2}|[A-Za-z]\\?:\\", link) and "{" not in link:
        # a Windows path, whose backslashes are not LaTeX
        link = _ESCAPED.sub(r"\1", link).replace("\\", "/")
    path = unquote(latex_to_text(link))
    return re.split(r"[\\/]", path.rstrip("\\/ "))[-1].strip() or "a file"
