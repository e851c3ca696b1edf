"""Rate limits of visitors: their messages, what is kept, and no way around them."""

from ipaddress import ip_network
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from assistant.trail.transcript import to_json
from explorer.app.security import ClientAddress, client_address
from explorer.app.upload_guard import MOST_SESSIONS, AdmittedSessions, UploadGuard, admitted
from explorer.jobs.rate_limit import ADDRESS_HEADER, Caller
from tests.assistant.comparing.comparing_model import ComparingModel
from tests.explorer.app.asgi import replied
from tests.explorer.asking import ask, take_in, texts, visitor_of
from tests.explorer.comparing import Model, Screen, modelled, over, session_of
from tests.explorer.uploads.test_documents_screen import NOTES, bring, hand_in, uploads_of


def test_resuming_is_counted(screen: Screen, writer: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAPER_TRAIL_QUESTIONS_PER_TEN_MINUTES", "4")
    writer(ComparingModel(seconds=0.3))
    test = modelled(screen)
    test.button(key="stop_comparison").click().run()
    over(test)
    test.button(key="go_on").click().run()
    assert "It can be asked again in 10 minutes" in texts(test)
    assert not session_of(test).is_running and test.button(key="go_on")


def test_imports_are_counted(screen: Screen, asked: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAPER_TRAIL_DOCUMENTS_PER_TEN_MINUTES", "1")
    written = to_json(visitor_of(asked).conversation()).encode()
    test = screen("ask")
    take_in(test, written)
    first = visitor_of(test).conversation_id
    key = next(uploader.key for uploader in test.file_uploader if str(uploader.key).startswith("import_"))
    test.file_uploader(key=key).upload("again.json", written, "application/json").run()
    assert "1 document can be brought or imported in 10 minutes" in texts(test)
    assert visitor_of(test).conversation_id == first


def test_uploads_are_counted_and_typed_text_stays(screen: Screen, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAPER_TRAIL_DOCUMENTS_PER_TEN_MINUTES", "1")
    test = bring(screen("ask"), ("notes.md", NOTES))
    hand_in(test, ("notes.md", NOTES), ("more.md", NOTES + b" "))
    assert "more.md was left out: 1 document can be brought" in texts(test)
    test.text_input(key="own_address").set_value("https://example.org/paper")
    test.button(key="read_address").click().run()
    assert "It can be tried again in 10 minutes" in texts(test)
    assert test.text_input(key="own_address").value == "https://example.org/paper"
    assert len(uploads_of(test).documents()) == 1


def test_unstored_answers_are_kept(screen: Screen, asked: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAPER_TRAIL_STORED_ROWS_PER_VISITOR", "2")
    test = ask(asked, "What about its storage cost?")
    assert len(visitor_of(test).turns) == 2
    assert "2 entries and 200 MB of conversations are kept for one visitor" in texts(test)
    monkeypatch.setenv("PAPER_TRAIL_STORED_ROWS_PER_VISITOR", "3")
    test.run().button(key="store_again").click().run()
    assert visitor_of(test).notes == ()


def answered(path: str, method: str = "PUT", **headers: str) -> tuple[int, str]:
    """Return the status and the text with which an upload is answered; 204 where it is let in."""
    start, body = replied(UploadGuard, headers, method=method, path=path)
    return start["status"], body["body"].decode()


def test_uploads_need_a_visitor_and_disk_space(home: object, monkeypatch: pytest.MonkeyPatch) -> None:
    path = "/_stcore/upload_file/session-a/file"
    assert answered(path, content_length="10")[0] == 403
    admitted.admit("session-a", Caller("a"))
    assert answered(path, content_length="10")[0] == 204
    assert answered(path)[0] == 411
    assert answered("/papers" + path, content_length="ten")[0] == 411
    admitted.turn_away("session-a")
    assert answered(path, content_length="10")[0] == 403
    assert answered(path, "OPTIONS")[0] == answered("/_stcore/health", "GET")[0] == 204
    path = "/_stcore/upload_file/session-b/file"
    admitted.admit("session-b", Caller("b"))
    assert answered(path, content_length="10")[0] == 204
    monkeypatch.setenv("PAPER_TRAIL_FREE_DISK_MEGABYTES", str(10**12))
    status, said = answered(path, content_length="10")
    assert status == 507 and "disk of this server is nearly full" in said
    assert admitted.take_refusal("session-b") == said
    admitted.turn_away("session-b")


def test_uploads_have_a_budget_of_bytes(home: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAPER_TRAIL_UPLOAD_MEGABYTES_PER_TEN_MINUTES", "3")
    monkeypatch.setenv("PAPER_TRAIL_LIMIT_OF_ALL", "2")
    for name in "abcd":
        admitted.admit(f"session-{name}", Caller(name))
    megabytes = {"content_length": str(2 * 2**20)}
    path = "/_stcore/upload_file/session-{}/file"
    assert answered(path.format("a"), **megabytes)[0] == 204
    status, said = answered(path.format("a"), **megabytes)
    assert status == 429 and said.startswith(
        "3 megabytes can be uploaded in 10 minutes. What came after that was not"
    )
    assert admitted.take_refusal("session-a") == said and not admitted.take_refusal("session-a")
    assert [answered(path.format(name), **megabytes)[0] for name in "bcd"] == [204, 204, 429]
    assert "6 megabytes can be uploaded by all visitors together" in admitted.take_refusal("session-d")


def test_a_refused_upload_is_told_on_the_screen(screen: Screen) -> None:
    test = screen("ask")
    test.button(key="open_documents").click().run()
    admitted.note_refusal("test session id", "3 megabytes can be uploaded in 10 minutes.")
    assert "3 megabytes can be uploaded in 10 minutes." in texts(test.run())


def test_sessions_that_drew_no_screen_for_long_make_way() -> None:
    sessions = AdmittedSessions()
    for number in range(MOST_SESSIONS + 1):
        sessions.admit(str(number), Caller("a"))
        sessions.note_refusal(str(number), "no")
    assert sessions.caller("0") is None and sessions.caller("1") and not sessions.take_refusal("0")


TRUSTED = (ip_network("10.0.0.0/8"), ip_network("fd00::/8"))


@pytest.mark.parametrize(
    ("peer", "forwarded", "address"),
    [
        ("203.0.113.7", "", "203.0.113.7/32"),
        ("203.0.113.7", "198.51.100.1", "203.0.113.7/32"),
        ("10.0.0.1", "198.51.100.1", "198.51.100.1/32"),
        ("10.0.0.1", "198.51.100.66, 198.51.100.1, 10.0.0.2", "198.51.100.1/32"),
        ("10.0.0.1", "", "10.0.0.1/32"),
        ("fd00::1", "2001:db8:1:2:3::4", "2001:db8:1:2::/64"),
        ("10.0.0.1", "<script>", "unknown"),
        ("10.0.0.1", "198.51.100.1:", "unknown"),
        ("10.0.0.1", "[]:80", "unknown"),
    ],
)
def test_only_a_trusted_proxy_says_where_requests_come_from(peer: str, forwarded: str, address: str) -> None:
    headers = [(b"x-forwarded-for", forwarded.encode())] if forwarded else []
    scope = {"type": "http", "client": (peer, 1), "headers": headers}
    assert client_address(scope, TRUSTED) == address
    assert client_address(scope, ()) == ""


@pytest.mark.parametrize("peer", ["10.0.0.1", "::ffff:10.0.0.1", "::ffff:a00:1"])
@pytest.mark.parametrize(
    ("spellings", "address"),
    [
        (
            ("198.51.100.1", "198.51.100.1:5678", "::ffff:198.51.100.1", "[::FFFF:c633:6401]:80"),
            "198.51.100.1/32",
        ),
        (
            (
                "2001:db8:1:2::4", "[2001:db8:1:2::5]", "[2001:DB8:1:2::6]:80", "2001:db8:1:2::7%eth0",
                "[2001:db8:1:2::8%25eth0]:443", "2001:0db8:0001:0002:0000:0000:0000:0009",
            ),
            "2001:db8:1:2::/64",
        ),
    ],
)  # fmt: skip
def test_fault_one_address_was_several_by_its_spelling(
    peer: str, spellings: tuple[str, ...], address: str
) -> None:
    """Regression: ports and mapped addresses each had an allowance of their own."""
    scopes = (
        {"type": "http", "client": (peer, 1), "headers": [(b"x-forwarded-for", spelling.encode())]}
        for spelling in spellings
    )
    assert {client_address(scope, TRUSTED) for scope in scopes} == {address}
    mapped = (ip_network("::ffff:10.0.0.0/104"),)
    scope = {"type": "http", "client": (peer, 1), "headers": [(b"x-forwarded-for", spellings[0].encode())]}
    assert client_address(scope, mapped) == address


def test_a_browser_cannot_name_its_own_address(home: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAPER_TRAIL_TRUSTED_PROXIES", "10.0.0.1")
    seen: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.append(scope["headers"])

    scope = {"type": "websocket", "client": ("203.0.113.7", 1), "headers": [(ADDRESS_HEADER.encode(), b"me")]}
    with pytest.raises(StopIteration):
        ClientAddress(app)(scope, None, None).send(None)  # type: ignore[arg-type, attr-defined]
    assert (ADDRESS_HEADER.encode(), b"203.0.113.7/32") in seen[0]
    assert [name for name, _ in seen[0]].count(ADDRESS_HEADER.encode()) == 1
