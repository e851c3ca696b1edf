"""The hostile corpus with a hostile model, asked by programs over the API and MCP, its files taken away."""

import os
import random
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

import anyio
import httpx
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from corpus.encoders.base import SentenceEncoder
from explorer.api.http import ComparisonTrail, ConversationTrail
from tests.demo_home import PROJECT
from tests.exported_text import exported_text
from tests.hostile_corpus import IDS, QUESTION, build_hostile_home, plain_address
from tests.hostile_files import assert_harmless_file
from tests.hostile_listener import Listener
from tests.hostile_model import HostileModel
from tests.hostile_texts import payloads
from tests.standin_chat import StandinChat
from tests.torture.counts import Counts
from tests.torture.running_app import PENDING, RunningApp, running_app, with_model

_CONVERSATION, _COMPARISON = (
    get_args(trail.model_fields["format"].annotation) for trail in (ConversationTrail, ComparisonTrail)
)


def hostile_corpus(seed: int, questions: int) -> Counts:
    """Ask questions with hostile texts in them; nothing may contact the host they point at."""
    counts, drawn = Counts("hostile papers and model"), random.Random(seed)
    with tempfile.TemporaryDirectory() as name, Listener() as listener:
        folder = Path(name)
        home = build_hostile_home(folder / "home", SentenceEncoder(), listener.address)
        with (
            StandinChat(default=HostileModel(listener.address)) as model,
            running_app(home, folder, **with_model(folder, model.url)) as app,
        ):
            trial = _Trial(app, listener, counts)
            for _ in range(questions):
                trial.ask(f"{QUESTION} {drawn.choice(payloads(listener.address))}")
            trial.compare(" ".join(payloads(listener.address)))
            anyio.run(trial.ask_over_mcp, drawn.choice(payloads(listener.address)))
        for heard in listener.heard:
            counts.note("foreign", heard[:100])
    return counts


class _Trial:
    def __init__(self, app: RunningApp, listener: Listener, counts: Counts) -> None:
        self.app, self.listener, self.counts = app, listener, counts

    def ask(self, question: str) -> None:
        """Ask, search and read, and take the trail away in every form."""
        with self.app.api() as api:
            self.told(api.post("/search", json={"query": question}))
            for paper in IDS:
                self.told(api.get("/paper", params={"id": paper}))
            form = {"question": question[:1000], "writer": "standin"}
            answer = self.told(api.post("/ask", json=form))
            if answer and (conversation := answer["conversation"]):
                self.take_away(api, f"/conversations/{conversation}/trail", _CONVERSATION)
        self.counts.tried += 1

    def compare(self, about: str) -> None:
        with self.app.api() as api:
            form = {"papers": list(IDS[:2]), "about": about[:2000], "writer": "standin"}
            begun = self.told(api.post("/comparisons", json=form))
            while begun and begun["state"] in PENDING:
                time.sleep(0.1)
                begun = self.told(api.get(f"/comparisons/{begun['id']}"))
            if begun and begun["state"] == "finished":
                self.take_away(api, f"/comparisons/{begun['id']}/trail", _COMPARISON)
        self.counts.tried += 1

    async def ask_over_mcp(self, payload: str) -> None:
        calls: dict[str, dict[str, Any]] = {
            "search": {"query": payload[:300]},
            "read_paper": {"id": IDS[0]},
            "ask": {"question": f"{QUESTION} {payload}"[:1000]},
            "cite": {"papers": list(IDS), "format": "bib"},
        }
        environment = {**os.environ, **self.app.settings}
        command = ["-m", "assistant", "mcp"]
        server = StdioServerParameters(
            command=sys.executable, args=command, env=environment, cwd=str(PROJECT)
        )
        async with Client(stdio_client(server)) as client:
            for tool, arguments in calls.items():
                result = await client.call_tool(tool, arguments)
                self.counts.tried += 1
                if result.is_error:
                    self.counts.note("unexplained", f"{tool}: {str(result.content)[:200]}")

    def told(self, reply: httpx.Response) -> Mapping[str, Any] | None:
        if reply.status_code in (200, 202):
            return dict(reply.json())
        self.counts.told += 1
        if reply.status_code == 500:
            self.counts.note("unexplained", reply.text[:200])
        return None

    def take_away(self, api: httpx.Client, trail: str, formats: Sequence[str]) -> None:
        for form in formats:
            reply = api.get(trail, params={"format": form})
            text = exported_text(reply.content if form == "docx" else reply.text)
            ending = "json" if form == "csl" else form
            try:
                assert reply.status_code == 200, text[:200]
                assert_harmless_file(f"trail.{ending}", text, plain_address(self.listener.address))
            except AssertionError as error:
                self.counts.note("leaked", f"{form}: {str(error)[:200]}")
