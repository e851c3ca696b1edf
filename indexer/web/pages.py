"""One document from the web, fetched with limits on bytes, time and redirects."""

import codecs
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from corpus import VERSION
from indexer.errors import ParseError
from indexer.web.addresses import Place, located, web_address

USER_AGENT = f"Paper Trail/{VERSION} (reads a page that its reader named)"
MOST_REDIRECTS = 5
SILENT_SECONDS = 10.0

_DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_SUFFIXES = {
    "text/html": ".html",
    "application/xhtml+xml": ".html",
    "application/pdf": ".pdf",
    "application/x-pdf": ".pdf",
    "text/plain": ".txt",
    "text/markdown": ".md",
    "text/x-markdown": ".md",
    _DOCX: ".docx",
}
_UNSPECIFIC = frozenset(
    " application/octet-stream binary/octet-stream application/x-octet-stream application/binary unknown "
    "unknown/unknown application/unknown application/force-download application/x-download "
    "application/download".split(" ")
)
_MARKDOWN = ("text/markdown", "text/x-markdown")
_TEXT_SUFFIXES = (".html", ".txt", ".md")
_PDF_WITHIN = 1024
_META_CHARSET = re.compile(
    rb"(?:<meta[^>]{0,200}charset|<\?xml[^>]{0,100}encoding)\s*=\s*[\"']?([\w-]{1,40})", re.IGNORECASE
)
_PAGE = re.compile(rb"\s*(?:<\?xml[^>]{0,200}\?>\s*)?<(?:!doctype html|html)\b", re.IGNORECASE)
_BYTE_MARKS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
# Single-byte encodings: text in them is hardly ever valid UTF-8.
_SINGLE_BYTES = re.compile(r"cp125\d|iso8859-\d+|cp874|latin_?1|koi8.*|tis-620")
_META_WITHIN = 4096
# As in browsers, these names mean their supersets, which add quotation marks and rare characters.
_WIDER = {
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "big5": "big5hkscs",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
}


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """The limits of one fetch; `allow_private` lets it reach hosts that are not on the public internet."""

    most_bytes: int
    seconds: float
    allow_private: bool = False


@dataclass(frozen=True, slots=True)
class FetchedPage:
    """A fetched document: its file, and its address after redirects."""

    path: Path
    url: str


def fetch_page(address: str, folder: Path, limits: FetchLimits) -> FetchedPage:
    """Fetch a web address into a file of `folder`, with the suffix of its kind; raises ParseError."""
    deadline = time.monotonic() + limits.seconds
    url = web_address(address)
    for _ in range(MOST_REDIRECTS + 1):
        place = located(url, allow_private=limits.allow_private)
        with _respond(place) as response:
            if not response.has_redirect_location:
                return FetchedPage(_save(response, url, folder, limits, deadline), str(url))
            url = _next(url, response)
        if time.monotonic() > deadline:
            raise ParseError(f"{url.host} took more than {limits.seconds:.0f} s")
    raise ParseError(f"{url.host} redirects more than {MOST_REDIRECTS} times")


def _next(url: httpx.URL, response: httpx.Response) -> httpx.URL:
    try:
        return url.join(response.headers["location"]).copy_with(fragment=None)
    except (httpx.InvalidURL, ValueError) as error:
        raise ParseError(f"{url.host} redirects to what is no web address") from error


@contextmanager
def _respond(place: Place) -> Iterator[httpx.Response]:
    """Send the request to the first checked address that accepts a connection."""
    # A proxy of the environment would resolve the name again.
    with httpx.Client(trust_env=False, timeout=SILENT_SECONDS) as client:
        try:
            response = _connected(client, place)
        except httpx.TimeoutException as error:
            raise ParseError(f"{place.url.host} stayed silent for {SILENT_SECONDS:.0f} s") from error
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
            raise ParseError(f"{place.url.host} could not be asked: {error}") from error
        try:
            yield response
        finally:
            response.close()


def _connected(client: httpx.Client, place: Place) -> httpx.Response:
    *others, last = place.addresses
    for address in others:
        try:
            return client.send(_request(client, place.url, address), stream=True)
        except httpx.ConnectError:
            continue
    return client.send(_request(client, place.url, last), stream=True)


def _request(client: httpx.Client, url: httpx.URL, address: str) -> httpx.Request:
    """Return a request to an IP address whose certificate must be the host's."""
    headers = {
        "Host": url.netloc.decode("ascii"),
        "User-Agent": USER_AGENT,
        "Accept": "text/html, application/pdf, text/plain, text/markdown, */*;q=0.5",
        "Accept-Encoding": "identity",
    }
    return client.build_request(
        "GET", url.copy_with(host=address), headers=headers, extensions={"sni_hostname": url.host}
    )


def _save(
    response: httpx.Response, url: httpx.URL, folder: Path, limits: FetchLimits, deadline: float
) -> Path:
    if response.status_code != httpx.codes.OK:
        raise ParseError(f"{url.host} has no such page, or does not show it (HTTP {response.status_code})")
    length = response.headers.get("content-length", "")
    if length.isdecimal() and int(length) > limits.most_bytes:
        raise _too_large(limits)
    content = _content(response, url, limits, deadline)
    suffix = _suffix(response, url, content)
    if suffix in _TEXT_SUFFIXES:
        content = _as_utf8(response, content)
    path = folder / f"page{suffix}"
    try:
        path.write_bytes(content)
    except OSError as error:
        raise ParseError(f"what {url.host} sent cannot be kept: {error.strerror}") from error
    return path


def _content(response: httpx.Response, url: httpx.URL, limits: FetchLimits, deadline: float) -> bytes:
    content = bytearray()
    try:
        for chunk in response.iter_bytes():
            content += chunk
            if len(content) > limits.most_bytes:
                raise _too_large(limits)
            if time.monotonic() > deadline:
                raise ParseError(f"{url.host} took more than {limits.seconds:.0f} s")
    except httpx.TimeoutException as error:
        raise ParseError(f"{url.host} stayed silent for {SILENT_SECONDS:.0f} s") from error
    except httpx.HTTPError as error:
        raise ParseError(f"the connection to {url.host} broke off: {error}") from error
    return bytes(content)


def _too_large(limits: FetchLimits) -> ParseError:
    return ParseError(f"it is larger than {limits.most_bytes / 2**20:.0f} MB, the most that is read")


def _suffix(response: httpx.Response, url: httpx.URL, content: bytes) -> str:
    """Return the suffix of a response by its first bytes, else by its content type."""
    kind = response.headers.get("content-type", "").partition(";")[0].strip(" \t\"'").lower()
    # Servers label PDFs as pages or downloads, and sign-in pages as PDFs.
    if content[:_PDF_WITHIN].lstrip().startswith(b"%PDF-"):
        return ".pdf"
    if _PAGE.match(content[:_PDF_WITHIN]) and kind not in _MARKDOWN:
        return ".html"
    if kind in _UNSPECIFIC:
        return ".docx" if content.startswith(b"PK\x03\x04") else ".md" if _is_markdown(url) else ".txt"
    if kind not in _SUFFIXES:
        raise ParseError(f"{url.host} sent {kind[:80]}; a web page, a PDF, a Word file or text can be read")
    return ".md" if kind == "text/plain" and _is_markdown(url) else _SUFFIXES[kind]


def _is_markdown(url: httpx.URL) -> bool:
    return url.path.lower().endswith((".md", ".markdown"))


def _as_utf8(response: httpx.Response, content: bytes) -> bytes:
    """Return text in UTF-8 with a byte order mark, if it declares another encoding and is in it."""
    if content.startswith(_BYTE_MARKS):
        return content
    try:
        name = _encoding(response, content)
        if name in ("utf-8", "ascii", "") or (_SINGLE_BYTES.fullmatch(name) and _is_utf8(content)):
            return content
        return codecs.BOM_UTF8 + content.decode(name, "replace").encode("utf-8", "replace")
    except (LookupError, ValueError):
        return content


def _encoding(response: httpx.Response, content: bytes) -> str:
    """Return the encoding that the server declares, or the page where the server sends its default."""
    declared = _META_CHARSET.search(content[:_META_WITHIN])
    of_page = _known_name(declared[1].decode("ascii")) if declared else ""
    name = _known_name(response.charset_encoding or "") or of_page
    if name == "iso8859-1" and of_page not in ("", "utf-8"):
        name = of_page
    return _WIDER.get(name, name)


def _known_name(encoding: str) -> str:
    try:
        return codecs.lookup(encoding).name
    except LookupError:
        return ""


def _is_utf8(content: bytes) -> bool:
    try:
        return not content.decode("utf-8").isascii()
    except UnicodeDecodeError:
        return False
