"""The export of a library: a signed link for its owner, and the route that streams the zip.

Streamlit's download button would hold the zip in memory until no session refers to it, so it has a route of
its own. The link is signed and valid for an hour, as only screens know who has signed in.
"""

import asyncio
import base64
import hashlib
import hmac
import json
import logging
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import IO
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.types import Message, Receive, Scope, Send

from assistant.records import AssistantError
from assistant.storage.libraries import StoredLibrary
from corpus.errors import CorpusError
from corpus.places.disk import NoRoomError, check_free_disk
from corpus.settings import Settings, read_settings
from explorer.app.owner import server_key
from explorer.app.resources import documents_limit, open_libraries
from explorer.jobs.rate_limit import ADDRESS_HEADER, EXPORT_COST, Caller, TooSoonError

EXPORT_ROUTE = "/library-export/{link}"
GOOD_FOR_SECONDS = 3600
# Per process; each export holds a temporary file until it is sent.
MOST_AT_ONCE = 4
# A download that takes no bytes for this long is given up.
STALLED_SECONDS = 60.0
_CHUNK_BYTES = 2**18

logger = logging.getLogger(__name__)


def export_link(settings: Settings, stored: StoredLibrary, file_name: str) -> str:
    """Return the address, relative to a page, at which the owner can download a library for an hour."""
    content = json.dumps([stored.id, stored.owner, file_name, int(time.time()) + GOOD_FOR_SECONDS])
    return f"{EXPORT_ROUTE.partition('{')[0].strip('/')}/{_signed(settings, content)}"


def export_library(request: Request) -> Response:
    """Reply with the zip of a link, or with the reason why there is none (404, 429 or 507)."""
    with ExitStack() as held:
        try:
            settings = read_settings()
            library_id, owner, file_name = _read_link(settings, request.path_params["link"])
            held.enter_context(_exports.place(owner))
            caller = Caller(owner, request.headers.get(ADDRESS_HEADER, ""))
            file = held.enter_context(_write_zip(settings, library_id, caller))
        except TooSoonError as error:
            return PlainTextResponse(str(error), 429)
        except NoRoomError as error:
            return PlainTextResponse(str(error), 507)
        except (AssistantError, CorpusError) as error:
            return PlainTextResponse(str(error), 404)
        return _FileReply(file, file_name, held.pop_all())


class _Exports:
    """The running exports of this process."""

    def __init__(self) -> None:
        self._owners: set[str] = set()
        self._lock = threading.Lock()
        # Zips are written one at a time, so that each sees the disk space that the others left.
        self.writing = threading.Lock()

    @contextmanager
    def place(self, owner: str) -> Iterator[None]:
        """Hold a place until the export is sent; raises TooSoonError if there is none."""
        with self._lock:
            if owner in self._owners:
                raise TooSoonError("A library of yours is being downloaded. Wait until that is done.")
            if len(self._owners) >= MOST_AT_ONCE:
                raise TooSoonError("Too many libraries are being downloaded. Try again in a few minutes.")
            self._owners.add(owner)
        try:
            yield
        finally:
            with self._lock:
                self._owners.discard(owner)


_exports = _Exports()


def _write_zip(settings: Settings, library_id: str, caller: Caller) -> IO[bytes]:
    """Write a library's zip to an unnamed temporary file, after counting it against the caller's limit.

    Raises AssistantError and CorpusError.
    """
    libraries, owners = open_libraries(settings), (caller.visitor,)
    libraries.own(library_id, owners)
    documents_limit().take(caller, EXPORT_COST)
    with _exports.writing, ExitStack() as opened:
        size = libraries.room.size_of(libraries.folder(library_id).path)
        check_free_disk(settings.home, settings.free_disk_megabytes, size)
        try:
            file = opened.enter_context(tempfile.TemporaryFile(dir=settings.home))
            libraries.export(library_id, owners, file)
        except OSError as error:
            logger.warning("the library %s cannot be exported: %s", library_id, error.strerror)
            raise NoRoomError(f"The export cannot be written on the server: {error.strerror}.") from error
        opened.pop_all()
        return file


class _FileReply(StreamingResponse):
    """A download sent in chunks; `held` is released however it ends."""

    def __init__(self, file: IO[bytes], name: str, held: ExitStack) -> None:
        self._held = held
        size = file.seek(0, 2)
        file.seek(0)
        headers = {
            "content-length": str(size),
            "content-disposition": f"attachment; filename*=UTF-8''{quote(name)}",
            "cache-control": "no-store",
            # Without this nginx buffers the reply in a file of its own.
            "x-accel-buffering": "no",
        }
        parts = iter(lambda: file.read(_CHUNK_BYTES), b"")
        super().__init__(parts, headers=headers, media_type="application/zip")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_in_time(message: Message) -> None:
            async with asyncio.timeout(STALLED_SECONDS):
                await send(message)

        with self._held:
            try:
                await super().__call__(scope, receive, send_in_time)
            except TimeoutError:
                logger.info("an export was given up: nothing of it was taken for %.0f s", STALLED_SECONDS)


def _signed(settings: Settings, content: str) -> str:
    return f"{_encoded(content.encode())}.{_encoded(_signature(settings, content))}"


def _read_link(settings: Settings, link: str) -> tuple[str, str, str]:
    """Return the library's id, its owner and a file name; raises AssistantError for a link not valid."""
    try:
        content, signature = (base64.urlsafe_b64decode(f"{part}==") for part in link.split("."))
        if hmac.compare_digest(signature, _signature(settings, content.decode())):
            library_id, owner, file_name, until = json.loads(content)
            if time.time() < until:
                return library_id, owner, file_name
    except ValueError:
        pass
    raise AssistantError("This link is not good any more. Open the library again, and press Export there.")


def _signature(settings: Settings, content: str) -> bytes:
    key = server_key(settings.server_key_path)
    return hmac.new(key, f"library export {content}".encode(), hashlib.sha256).digest()


def _encoded(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode().rstrip("=")
