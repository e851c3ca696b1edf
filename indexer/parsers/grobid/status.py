"""The status of a GROBID server; versions up to 0.8 report little, from 0.9 on more."""

import json
import re
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, Field, ValidationError

from indexer.parsers.grobid.answers import detail

LARGEST_POOL = 256
_VERSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+_-]{0,59}")
_NOT_GROBID = "something answers at this address, but not as GROBID does"


@dataclass(frozen=True, slots=True)
class GrobidStatus:
    """A server's state; `pool` is the number of PDFs it processes at once, None if not reported.

    `problem` is the reason why it is not ready, else empty.
    """

    url: str
    reachable: bool = False
    ready: bool = False
    version: str = ""
    revision: str = ""
    pool: int | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """An HTTP response with a bounded body."""

    status: int
    body: bytes
    retry_after: float | None = None


class _Pool(BaseModel):
    size: int | None = Field(default=None, alias="maxActive")


class _Health(BaseModel):
    ready: bool | None = None
    pool: _Pool | None = None
    error: str | None = Field(default=None, alias="initializationError")


class _Version(BaseModel):
    version: str = ""
    revision: str = ""


def read_status(url: str, alive: Answer, version: Answer, health: Answer) -> GrobidStatus:
    """Combine the responses of /api/isalive, /api/version and /api/health."""
    if alive.body.strip().lower() not in (b"true", b"false"):
        return GrobidStatus(url, reachable=True, problem=f"{_NOT_GROBID} (HTTP {alive.status})")
    try:
        reported = _Health.model_validate(_json(health.body))
    except ValidationError:
        reported = _Health()
    versions, problem = _read_version(version), _problem(alive, health, reported)
    size = reported.pool.size if reported.pool else None
    return GrobidStatus(
        url=url,
        reachable=True,
        ready=not problem,
        version=_named(versions.version),
        revision=_named(versions.revision),
        pool=min(size, LARGEST_POOL) if size and size > 0 else None,
        problem=problem,
    )


def _problem(alive: Answer, health: Answer, reported: _Health) -> str:
    if reported.error:
        return f"it failed to start: {detail(reported.error.encode())}"
    is_alive = alive.status == 200 and alive.body.strip().lower() == b"true"
    if not is_alive or health.status == 503 or reported.ready is False:
        return "it is not ready: its models are still loading, or could not be loaded (its log says which)"
    return ""


def _read_version(answer: Answer) -> _Version:
    if answer.status != 200:
        return _Version()
    try:
        return _Version.model_validate(_json(answer.body))
    except ValidationError:
        # Old servers send the bare number.
        return _Version(version=answer.body[:100].decode("utf-8", "replace").strip())


def _json(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _named(version: str) -> str:
    """Return a version that is safe in messages and file names, else ""."""
    return version if _VERSION.fullmatch(version) else ""
