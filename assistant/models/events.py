"""The body of a chat server's reply, read into chunks: server-sent events, JSON lines, or one JSON object."""

import json
import re
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping

# The end of a stream, in the server's own words: its reply is whole.
DONE = object()
# Far above any chunk; a line that does not end is not read for ever.
LONGEST_EVENT = 8 * 2**20
# Lines after each of which a JSON object is tried; one of more lines is read at the end.
_MOST_TRIED = 200
_ENDINGS = frozenset({"done", "end", "complete", "completed", "finish", "finished", "message_stop", "close"})
# A return at the end may be the first half of the next part's.
_LINE_END = re.compile(rb"\r\n|\n|\r(?!\Z)")


class ReportedError(Exception):
    """An error that a server reports in the body of a reply; `body` is what it tells."""

    def __init__(self, body: object) -> None:
        super().__init__("the server reports an error")
        self.body = body


async def read_chunks(parts: AsyncIterator[bytes]) -> AsyncGenerator[object, None]:
    """Yield the chunks of a body as soon as they are whole, and DONE where the server says that it is done.

    The body is read to its very end: the connection of one that is left unread is lost, and the next question
    would pay for a new one. Raises ValueError for what is no JSON, ReportedError.
    """
    reader, is_done = _Reader(), False
    async for part in parts:
        for chunk in reader.take(part):
            if not is_done:
                is_done = chunk is DONE
                yield chunk
    for chunk in () if is_done else reader.end():
        yield chunk


class _Reader:
    """Reads events, however lenient their ends: the data of one ends where its JSON does."""

    def __init__(self) -> None:
        self._rest = b""
        self._data: list[bytes] = []
        self._event = ""
        self._is_bare = False
        self._is_first = True
        self._objects = 0
        self._has_choices = False

    def take(self, part: bytes) -> Iterator[object]:
        """Yield the chunks that a part of the body completes."""
        *lines, self._rest = _LINE_END.split(self._rest + part)
        if len(self._rest) + sum(map(len, self._data)) > LONGEST_EVENT:
            raise ValueError("an event without an end")
        for line in lines:
            yield from self._line(line)

    def end(self) -> Iterator[object]:
        """Yield the chunks that the end of the body completes: the last event needs no empty line."""
        yield from self._line(self._rest.rstrip(b"\r"))
        if self._data and self._is_bare:
            yield from self._chunks(_loads(b"\n".join(self._data)))
        # Half an event at the end is not whole.
        if self._is_bare and self._objects == 1:
            if not self._has_choices:
                raise ValueError("JSON that is no chat reply")
            yield DONE

    def _line(self, line: bytes) -> Iterator[object]:
        if self._is_first and line.strip():
            line = line.removeprefix(b"\xef\xbb\xbf")
            self._is_first = False
        name, _, value = line.partition(b":")
        if not line.strip():
            if self._data and not self._is_bare:
                yield from self._chunks(_loads(b"\n".join(self._data)))
            self._event = ""
        elif self._data and self._is_bare:
            yield from self._add(line)
        elif name.strip() == b"event":
            self._event = value.decode("utf-8", "replace").strip().lower()
        elif name.strip() == b"data":
            while value.lstrip().startswith(b"data:"):  # some proxies write it twice
                value = value.lstrip().removeprefix(b"data:")
            yield from self._add(value.removeprefix(b" "))
        elif line.lstrip().startswith((b"{", b"[")):
            self._is_bare = True
            yield from self._add(line)

    def _add(self, data: bytes) -> Iterator[object]:
        """Yield the chunks of the event's data where this line of it completes them."""
        bare = data.strip()
        if self._event in _ENDINGS or bare.strip(b'"').upper() == b"[DONE]":
            self._data = []
            yield DONE
        elif bare or self._data:
            self._data.append(data)
            if bare.endswith((b"}", b"]")) and len(self._data) <= _MOST_TRIED:
                try:
                    found = _loads(b"\n".join(self._data))
                except ValueError:
                    return
                yield from self._chunks(found)

    def _chunks(self, found: object) -> Iterator[object]:
        self._data = []
        self._objects += 1
        if isinstance(found, Mapping):
            self._has_choices = self._has_choices or "choices" in found
            is_error = found.get("object") == "error" or self._event == "error"
            is_detail = "detail" in found and "choices" not in found
            if found.get("error") or is_error or is_detail:
                raise ReportedError(found.get("error") or found)
        if found is not None:
            yield found


def _loads(data: bytes) -> object:
    try:
        return json.loads(data)
    except RecursionError:
        raise ValueError("too deep") from None
