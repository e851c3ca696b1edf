"""The body of a chat server's reply, read into chunks: server-sent events, JSON lines, or one JSON object."""

import json
import re
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping

# The end of a complete reply, as the server marks it.
DONE = object()
# Far above any chunk, against endless lines.
LONGEST_EVENT = 8 * 2**20
# Lines after each of which parsing is tried; a longer JSON object is parsed at the end.
_MOST_TRIED = 200
_ENDINGS = frozenset({"done", "end", "complete", "completed", "finish", "finished", "message_stop", "close"})
# A return at the end may be the first half of the next part's.
_LINE_END = re.compile(rb"\r\n|\n|\r(?!\Z)")


class ReportedError(Exception):
    """An error that a server reports in the body of a reply."""

    def __init__(self, body: object) -> None:
        super().__init__("the server reports an error")
        self.body = body


async def read_chunks(parts: AsyncIterator[bytes]) -> AsyncGenerator[object, None]:
    """Yield the chunks of a body as soon as they are complete, and DONE at the server's end mark.

    The body is read to its very end so that its connection can be reused. Raises ReportedError, and
    ValueError for invalid JSON.
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
    """Parses events leniently: the data of an event ends with its JSON, even without an empty line."""

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
                    chunk = _loads(b"\n".join(self._data))
                except ValueError:
                    return
                yield from self._chunks(chunk)

    def _chunks(self, chunk: object) -> Iterator[object]:
        self._data = []
        self._objects += 1
        if isinstance(chunk, Mapping):
            self._has_choices = self._has_choices or "choices" in chunk
            is_error = chunk.get("object") == "error" or self._event == "error"
            is_detail = "detail" in chunk and "choices" not in chunk
            if chunk.get("error") or is_error or is_detail:
                raise ReportedError(chunk.get("error") or chunk)
        if chunk is not None:
            yield chunk


def _loads(data: bytes) -> object:
    try:
        return json.loads(data)
    except RecursionError:
        raise ValueError("too deep") from None
