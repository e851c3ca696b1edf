"""Uploads to a started server: nothing comes in before sign-in, or beyond the budget."""

import http.client
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Origin, Subprotocol

from tests.browser.conftest import serving
from tests.standin_chat import StandinChat

ROUTE = "/_stcore/upload_file"


@contextmanager
def visit(address: str) -> Iterator[str]:
    """Have the server draw a screen, without papers; yield the id of its session while it is connected."""
    stream = f"ws{address.removeprefix('http')}/_stcore/stream"
    with connect(stream, subprotocols=[Subprotocol("streamlit")], max_size=None) as socket:
        request, session, is_drawn = BackMsg(), "", False
        request.rerun_script.page_name = "about"
        socket.send(request.SerializeToString())
        while not is_drawn:
            message = ForwardMsg.FromString(socket.recv(timeout=120, decode=False))
            session = message.new_session.initialize.session_id or session
            is_drawn = message.WhichOneof("type") == "script_finished"
        yield session


def announce(address: str, session: str, size: int) -> tuple[int, str]:
    """Return the reply to an upload of that size of which no byte is sent."""
    connection = http.client.HTTPConnection(address.removeprefix("http://"), timeout=60)
    connection.putrequest("PUT", f"{ROUTE}/{session}/file")
    connection.putheader("Content-Length", str(size))
    connection.endheaders()
    reply = connection.getresponse()
    status, said = reply.status, reply.read().decode()
    connection.close()
    return status, said


def upload(address: str, session: str, content: bytes) -> int:
    """Return the status with which an upload is answered that is made as by Streamlit's page."""
    with httpx.Client(base_url=address, timeout=60) as client:
        client.get("/_stcore/health")
        token = {"X-Xsrftoken": client.cookies.get("_streamlit_xsrf", "")}
        return client.put(
            f"{ROUTE}/{session}/file", files={"file": ("a.txt", content)}, headers=token
        ).status_code


@pytest.mark.parametrize("sign_in", ["required", "off"])
def test_a_server_refuses_uploads_before_sign_in_and_beyond_the_budget(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, sign_in: str
) -> None:
    monkeypatch.setenv("PAPER_TRAIL_SIGN_IN", sign_in)
    monkeypatch.setenv("PAPER_TRAIL_UPLOAD_MEGABYTES_PER_TEN_MINUTES", "1")
    with (
        StandinChat() as model,
        serving(tmp_path, model.url, tmp_path_factory) as address,
        visit(address) as session,
    ):
        refusal = announce(address, "invented", 10)
        assert refusal == (403, "Open the page first, and sign in where that is asked for.")
        if sign_in == "required":
            assert announce(address, session, 10) == refusal
            return
        assert upload(address, session, bytes(900_000)) == 204
        status, said = announce(address, session, 500_000)
        assert status == 429 and said.startswith("1 megabyte can be uploaded in 10 minutes.")


def test_fault_a_page_of_another_port_of_this_host_could_open_a_screen(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with StandinChat() as model, serving(tmp_path, model.url, tmp_path_factory) as address:
        stream = f"ws{address.removeprefix('http')}/_stcore/stream"
        for origin, is_open in (
            (address, True),
            ("http://127.0.0.1:1", False),
            ("http://evil.example", False),
        ):
            try:
                with connect(stream, origin=Origin(origin), subprotocols=[Subprotocol("streamlit")]):
                    assert is_open
            except InvalidStatus as refusal:
                assert not is_open and refusal.response.status_code == 403


def test_a_site_without_uploads_refuses_all_of_them(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PAPER_TRAIL_UPLOADS", "false")
    with (
        StandinChat() as model,
        serving(tmp_path, model.url, tmp_path_factory) as address,
        visit(address) as session,
    ):
        assert announce(address, session, 10) == (403, "Nothing can be brought to this site.")
