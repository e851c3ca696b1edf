"""Replies of a GROBID server, classified: TEI, nothing found, busy, failed, refused."""

import re
from typing import Literal

from corpus.text import storable

Kind = Literal["busy", "lost", "slow", "failed", "refused"]
"""How a request failed, which decides how often it is repeated."""

DETAIL_LENGTH = 200
ADVICE = "check that it runs and that PAPER_TRAIL_GROBID_URL is right"

# Faults of the PDF, which a repeated request would not change.
_PERMANENT = re.compile(rb"\s*\[(NO_BLOCKS|BAD_INPUT_DATA|TOO_MANY_[A-Z]+)\]")
_STARTS_AS_TEI = re.compile(
    rb"(?>\xef\xbb\xbf)?(?>\s+|<\?.*?\?>|<!--.*?-->)*<(?:[\w.-]+:)?TEI[\s>]", re.DOTALL
)
_ENDS_AS_TEI = re.compile(rb"</(?:[\w.-]+:)?TEI\s*+>(?>\s+|<!--(?:[^-]|-[^-])*+-->)*+\Z")
_TAIL = 512


class GrobidError(Exception):
    """The server did not parse a PDF; the message is for the build report."""

    def __init__(self, message: str, kind: Kind = "refused") -> None:
        super().__init__(message)
        self.kind: Kind = kind
        self.retry_after: float | None = None


class GrobidUnreachableError(GrobidError):
    """The server cannot be reached or is busy, whatever the PDF."""


def read_answer(server: str, status: int, body: bytes) -> bytes:
    """Return the unparsed TEI of a reply; raises GrobidError for every other reply."""
    match status:
        case 200:
            return _tei(server, body)
        case 204:
            raise GrobidError("GROBID found nothing in this PDF")
        case 500:
            kind: Kind = "refused" if _PERMANENT.match(body) else "failed"
            raise GrobidError(f"GROBID failed on this PDF: {detail(body)}", kind)
        case 503:
            raise GrobidUnreachableError(f"{server} has no free engine (HTTP 503)", "busy")
        case 502 | 504:
            raise GrobidUnreachableError(
                f"a proxy before {_within(server)} does not reach it (HTTP {status}); {ADVICE}", "lost"
            )
        case _:
            raise _refusal(server, status)


def _tei(server: str, body: bytes) -> bytes:
    if not body.strip():
        raise GrobidError("GROBID found nothing in this PDF")
    if not _STARTS_AS_TEI.match(body):
        raise GrobidError(
            f"{server} answered with something that is no TEI, perhaps a proxy's page; {ADVICE}", "failed"
        )
    # Without a length, only the end tag shows that the body is complete.
    if not _ENDS_AS_TEI.search(body[-_TAIL:]):
        raise GrobidError("GROBID's TEI of this PDF is cut off", "failed")
    return body


def _refusal(server: str, status: int) -> GrobidError:
    if 300 <= status < 400:
        return GrobidError(
            f"{server} redirects (HTTP {status}); set PAPER_TRAIL_GROBID_URL to the address it leads to"
        )
    if status in (401, 403):
        return GrobidError(f"{server} wants a login (HTTP {status}); {ADVICE}")
    if status == 413:
        return GrobidError(f"the PDF is too large for {_within(server)} or a proxy before it (HTTP 413)")
    if 400 <= status < 500:
        return GrobidError(f"{server} did not take the PDF (HTTP {status}); {ADVICE}")
    return GrobidError(f"{server} failed (HTTP {status})", "failed")


def detail(body: bytes) -> str:
    """Return a server's message on one short line."""
    if body.lstrip().startswith(b"<"):
        return "no reason given, a page of markup instead"
    words = " ".join(storable(body[: 8 * DETAIL_LENGTH].decode("utf-8", "replace")).split())
    return words[:DETAIL_LENGTH].rstrip(". ") or "no reason given"


def _within(server: str) -> str:
    """Return a server's name with a lower-case first letter."""
    return server[:1].lower() + server[1:]
