"""Who is admitted where visitors are asked to sign in, whatever has become of the secrets."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import streamlit as st
from streamlit import config as st_config
from streamlit.testing.v1 import AppTest

from explorer.app.login import check_sign_in
from tests.demo_home import PROJECT
from tests.explorer.asking import texts

AUTH = '[auth]\nredirect_uri = "http://x/oauth2callback"\ncookie_secret = "c"\nclient_id = "paper-trail"\n'
Secrets = Callable[[str | bytes | None], Path]


@pytest.fixture
def secrets(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Secrets:
    """Put text in the secrets file that is in use, or with None take it away; with a home of its own."""
    own, file = tmp_path / "home", tmp_path / "secrets.toml"
    own.mkdir()
    (own / "corpus").symlink_to(home / "corpus")
    monkeypatch.setenv("PAPER_TRAIL_HOME", str(own))
    monkeypatch.setitem(st_config._config_options, "secrets.files", _option([str(file)]))
    monkeypatch.setattr(st.secrets, "_file_watchers_installed", True)

    def put(text: str | bytes | None) -> Path:
        monkeypatch.setattr(st.secrets, "_secrets", None)
        if text is None:
            file.unlink(missing_ok=True)
        else:
            file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return own

    put(None)
    return put


def _option(files: list[str]) -> st_config.ConfigOption:
    option = st_config.ConfigOption("secrets.files", default_val=files)
    option.set_value(files, st_config.ConfigOption.DEFAULT_DEFINITION)
    return option


def is_let_in(screen: Callable[..., AppTest]) -> bool:
    said = texts(screen("collection"))
    assert ("Sign in to read" in said) is not ("papers" in said.replace("Sign in to read", "")), said
    return "Sign in to read" not in said


def test_without_secrets_nobody_is_asked(screen: Callable[..., AppTest], secrets: Secrets) -> None:
    assert is_let_in(screen)
    secrets('[other]\nkey = "value"\n')
    assert is_let_in(screen)
    check_sign_in()


@pytest.mark.parametrize(
    "text", [AUTH, AUTH.replace("auth", "Auth", 1), "[auth]\n", "[AUTH]\n", "[auth\n", b"\xff\xfe", ""]
)
def test_sign_in_fails_closed(screen: Callable[..., AppTest], secrets: Secrets, text: str | bytes) -> None:
    secrets(text)
    assert is_let_in(screen) is (text == "")


@pytest.mark.parametrize("left", [None, "", '[other]\nkey = "value"\n', "[auth]\n"])
def test_a_removed_section_admits_nobody_until_its_mark_is_deleted(
    screen: Callable[..., AppTest], secrets: Secrets, monkeypatch: pytest.MonkeyPatch, left: str | None
) -> None:
    home = secrets(AUTH)
    assert not is_let_in(screen)
    secrets(left)
    assert not is_let_in(screen)
    monkeypatch.setattr("explorer.app.login._homes_with_sign_in", set())  # another process
    assert not is_let_in(screen)
    (home / "sign-in-required").unlink()
    secrets(AUTH)
    assert not is_let_in(screen)
    (home / "sign-in-required").unlink(missing_ok=True)
    secrets(left)
    assert not is_let_in(screen), "forgotten while the server runs"
    monkeypatch.setenv("PAPER_TRAIL_SIGN_IN", "off")
    check_sign_in()
    assert is_let_in(screen) and not (home / "sign-in-required").exists()


def test_required_asks_without_secrets_and_says_that_there_is_no_way_in(
    screen: Callable[..., AppTest], secrets: Secrets, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PAPER_TRAIL_SIGN_IN", "required")
    check_sign_in()
    assert not is_let_in(screen)
    test = screen("ask")
    assert "not set up at the moment" in texts(test) and not test.button
    test.user = {"is_logged_in": "yes"}
    assert "Sign in to read" in texts(test.run())
    test.user = {"is_logged_in": True, "iss": "https://login.example.org", "sub": "ada"}
    assert "Sign in to read" not in texts(test.run())


@pytest.mark.parametrize("text", ["[auth\n", b"\xff\xfe"])
def test_unreadable_secrets_stop_the_server(secrets: Secrets, text: str | bytes) -> None:
    secrets(text)
    with pytest.raises(SystemExit, match=r"does not start: its secrets .*secrets\.toml.* cannot be read"):
        check_sign_in()


def test_the_server_does_not_start_with_a_rejected_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAPER_TRAIL_QUESTIONS_PER_TEN_MINUTES", "-4")
    with pytest.raises(SystemExit, match=r"does not start: The setting PAPER_TRAIL_QUESTIONS"):
        check_sign_in()


def test_a_server_whose_secrets_are_a_folder_without_files_ends_with_a_reason(tmp_path: Path) -> None:
    (tmp_path / "secrets").mkdir()
    ran = subprocess.run(
        [sys.executable, "-m", "streamlit", "run", "streamlit_app.py", "--server.port", "0",
         "--secrets.files", str(tmp_path / "secrets")],
        cwd=PROJECT, env={**os.environ, "PAPER_TRAIL_HOME": str(tmp_path)},
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert ran.returncode != 0
    assert "Paper Trail does not start: its secrets" in ran.stderr


def test_fault_with_an_empty_cookie_secret_anyone_could_sign_in_as_anybody(
    secrets: Secrets, tmp_path: Path
) -> None:
    secrets(AUTH.replace('cookie_secret = "c"', 'cookie_secret = ""'))
    with pytest.raises(SystemExit, match="its cookie secret is empty"):
        check_sign_in()
    ran = subprocess.run(
        [sys.executable, "-m", "streamlit", "run", "streamlit_app.py", "--server.port", "0"],
        cwd=PROJECT,
        env={**os.environ, "PAPER_TRAIL_HOME": str(tmp_path), "STREAMLIT_SERVER_COOKIE_SECRET": ""},
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert ran.returncode != 0
    assert "does not start: its cookie secret is empty" in ran.stderr
