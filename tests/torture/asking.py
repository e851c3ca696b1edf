"""A visitor at the Ask screen of the real app who types a question, over the websocket as a browser would."""

import asyncio
import re
from typing import Any

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from evaluation.bench.visitor import VisitError, Visitor, connected

# The address that a browser is told to show.
_ADDRESS = re.compile(rb'"address": \{"conversation": "([\w-]+)"')


class Asking(Visitor):
    """Types into the box; `conversation` is the one that the address names, `seen` all that ever came."""

    def __init__(self, connection: Any, address: str, page: str = "ask") -> None:
        super().__init__(connection, address, page)
        self.conversation, self.seen = "", b""
        self._box, self._typed = "", ""

    async def ask(self, question: str) -> None:
        self._typed = question
        await self.show(f"conversation={self.conversation}" if self.conversation else "")

    def _request(self, query: str) -> BackMsg:
        request = super()._request(query)
        if self._typed:
            state = request.rerun_script.widget_states.widgets.add(id=self._box)
            state.chat_input_value.data = self._typed
            self._typed = ""
        return request

    def _take(self, raw: bytes) -> bool:
        is_end = super()._take(raw)
        self.seen += raw
        message = ForwardMsg.FromString(raw)
        if named := _ADDRESS.search(raw):
            self.conversation = named[1].decode()
        if message.delta.new_element.WhichOneof("type") == "chat_input":
            self._box = message.delta.new_element.chat_input.id
        return is_end


def asked(address: str, question: str) -> str:
    """Have a visitor ask a question; return its conversation, "" where the app ended before that."""

    async def visit() -> str:
        visitor = None
        try:
            async with connected(address) as connection:
                visitor = Asking(connection, address)
                await visitor.show("")
                await visitor.ask(question)
        except VisitError:
            pass
        return visitor.conversation if visitor else ""

    return asyncio.run(visit())


def seen(address: str, conversation: str) -> str:
    """Return the text that the screen shows of a conversation."""

    async def visit() -> bytes:
        async with connected(address) as connection:
            visitor = Asking(connection, address)
            await visitor.show(f"conversation={conversation}")
            return visitor.seen

    return asyncio.run(visit()).decode(errors="replace")
