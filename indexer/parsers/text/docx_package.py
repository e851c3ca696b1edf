"""The archive of a Word file: checked before it is unpacked, and repaired for python-docx.

python-docx knows only the transitional namespaces and the type of plain documents, and fails on relations to
missing parts, which Word writes for lost pictures.
"""

import io
import posixpath
import re
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote

from lxml import etree

from indexer.errors import ParseError
from indexer.parsers.text.text_file import read_bytes

LARGEST_FILE = 64 * 1024 * 1024
LARGEST_UNPACKED = 256 * 1024 * 1024
"""Bytes of everything in the file, pictures too, when unpacked."""
LARGEST_XML = 32 * 1024 * 1024
"""Bytes of its XML when unpacked; that of a long thesis has about 10 MiB."""
MOST_PARTS = 10_000

_TYPES = "[Content_Types].xml"
_DOCUMENT = b"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
_OTHER_DOCUMENTS = re.compile(
    rb"application/vnd\.(?:ms-word\.(?:document\.macroEnabled|template\.macroEnabledTemplate)"
    rb"|openxmlformats-officedocument\.wordprocessingml\.template)\.main\+xml"
)
_STRICT = re.compile(rb"http://purl\.oclc\.org/ooxml/([A-Za-z]+(?:/[A-Za-z]+)?)")
_RELATION = "{http://schemas.openxmlformats.org/package/2006/relationships}Relationship"
_RENAMED = {b"extendedProperties": b"extended-properties", b"customProperties": b"custom-properties"}
_FAULTS = (zipfile.BadZipFile, zlib.error, EOFError, ValueError, NotImplementedError, RuntimeError, OSError)


def readable_package(path: Path) -> str | io.BytesIO:
    """Return the path of a Word file, or a repaired copy for python-docx; raises ParseError."""
    _check(path)
    try:
        with zipfile.ZipFile(path) as archive:
            names = {name.replace("\\", "/"): name for name in archive.namelist()}
            parts = {plain: archive.read(name) for plain, name in names.items() if _is_xml(plain)}
    except _FAULTS as error:
        raise ParseError(f"{path.name} is broken: it cannot be read as a Word file") from error
    mended = {name: _mended(name, content, names) for name, content in parts.items()}
    if mended == parts and all(plain == name for plain, name in names.items()):
        return str(path)
    copy = io.BytesIO()
    with zipfile.ZipFile(copy, "w") as archive:
        # Other parts, such as pictures, are not read.
        for name in names:
            archive.writestr(name, mended.get(name, b""))
    return copy


def _check(path: Path) -> None:
    """Raise ParseError for no zip archive, an encrypted one, or one that would fill the memory."""
    head = read_bytes(path, LARGEST_FILE)[:8]
    if not head.strip(b"\x00"):
        raise ParseError(f"{path.name} is empty")
    if head.startswith(b"\xd0\xcf\x11\xe0"):
        raise ParseError(
            f"{path.name} is encrypted, or an old Word file: save it as .docx without a password"
        )
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
    except (*_FAULTS, KeyError, TypeError, AttributeError) as error:
        raise ParseError(f"{path.name} is not a Word file: it is no zip archive, or cut off") from error
    if any(entry.flag_bits & 0x1 for entry in entries):
        raise ParseError(f"{path.name} is encrypted: save it without a password")
    xml = sum(entry.file_size for entry in entries if _is_xml(entry.filename))
    if xml > LARGEST_XML or sum(e.file_size for e in entries) > LARGEST_UNPACKED or len(entries) > MOST_PARTS:
        raise ParseError(f"{path.name} would unpack to more than any paper holds (a zip bomb?)")
    if any(entry.filename == "META-INF/manifest.xml" for entry in entries):
        raise ParseError(f"{path.name} is an OpenDocument file: save it as .docx")


def _is_xml(name: str) -> bool:
    return name.lower().endswith((".xml", ".rels"))


def _mended(name: str, content: bytes, names: Mapping[str, str]) -> bytes:
    if name == _TYPES:
        content = _OTHER_DOCUMENTS.sub(_DOCUMENT, content)
    if b"purl.oclc.org/ooxml" in content:
        content = _STRICT.sub(_transitional, content)
    return _with_whole_relations(name, content, names) if name.lower().endswith(".rels") else content


def _transitional(strict: re.Match[bytes]) -> bytes:
    """Return the transitional name of a namespace or relation of Strict Open XML (ISO/IEC 29500)."""
    area, _, part = strict[1].partition(b"/")
    return b"http://schemas.openxmlformats.org/%s/2006/%s" % (area, _RENAMED.get(part, part))


def _with_whole_relations(name: str, content: bytes, names: Mapping[str, str]) -> bytes:
    """Remove relations to missing parts; names of parts are case-insensitive."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False)
    try:
        relations = etree.fromstring(content, parser)
    except (etree.XMLSyntaxError, ValueError):
        return content  # python-docx reports the fault
    folder = posixpath.dirname(posixpath.dirname(name))
    by_lower = {part.lower(): part for part in names}
    is_changed = False
    for relation in list(relations.iter(_RELATION)):
        if relation.get("TargetMode") == "External":
            continue
        target = unquote(relation.get("Target", "").partition("#")[0])
        part = posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
        if part in names:
            continue
        is_changed = True
        if part.lower() in by_lower:
            relation.set("Target", f"/{by_lower[part.lower()]}")
        elif (parent := relation.getparent()) is not None:
            parent.remove(relation)
    return etree.tostring(relations, xml_declaration=True, encoding="UTF-8") if is_changed else content
