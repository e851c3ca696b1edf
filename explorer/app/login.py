"""Signing in by OpenID Connect, if the operator requires it."""

import logging
from collections.abc import Mapping
from pathlib import Path

import streamlit as st
from streamlit import config as st_config
from streamlit.web.server.server_util import get_cookie_secret

from corpus.errors import CorpusError
from corpus.settings import Settings, read_settings
from explorer.app.owner import owner_of_person
from explorer.presenters.safe_text import escaped, shortened

# Written to the home folder once an [auth] section was seen: otherwise losing the secrets file would admit
# everyone.
_MARKER = (
    "Visitors of this Paper Trail sign in: its secrets have had an [auth] section.\n"
    "To admit everyone again, start it with PAPER_TRAIL_SIGN_IN=off, which removes this file.\n"
)

logger = logging.getLogger(__name__)
# Homes whose visitors sign in, in case the marker cannot be written or is removed while the server runs.
_homes_with_sign_in: set[Path] = set()


class SecretsError(Exception):
    """The secrets file exists and cannot be read, so it is not known whether visitors have to sign in."""


def check_sign_in() -> None:
    """Raise SystemExit before the server starts if its settings, secrets or cookie secret cannot be used."""
    try:
        secrets = _secrets()
    except SecretsError as error:
        raise SystemExit(f"Paper Trail does not start: {error}") from error
    if not get_cookie_secret():
        raise SystemExit(
            "Paper Trail does not start: its cookie secret is empty, so that anyone could sign in as "
            "anybody. Set STREAMLIT_SERVER_COOKIE_SECRET (PAPER_TRAIL_COOKIE_SECRET with compose.yaml) to a "
            "long random text."
        )
    try:
        settings = read_settings()
    except CorpusError as error:
        raise SystemExit(f"Paper Trail does not start: {error}") from error
    if settings.sign_in == "off":
        settings.sign_in_path.unlink(missing_ok=True)
    elif is_sign_in_asked(settings) and not secrets.get("auth"):
        logger.warning(
            "Visitors have to sign in and cannot: the secrets have no [auth] section with settings "
            "(written in small letters). Put it back, or admit everyone with PAPER_TRAIL_SIGN_IN=off."
        )


def is_sign_in_asked(settings: Settings) -> bool:
    """Return True if visitors have to sign in; an [auth] section that was seen once is remembered."""
    if settings.sign_in != "auto":
        return settings.sign_in == "required"
    try:
        has_section = any(name.casefold() == "auth" for name in _secrets())
    except SecretsError:
        return True
    if has_section and settings.home not in _homes_with_sign_in:
        _remember(settings)
    return settings.home in _homes_with_sign_in or settings.sign_in_path.exists()


def is_admitted() -> bool:
    """Return True if this visitor may see the papers."""
    return not is_sign_in_asked(read_settings()) or _user().get("is_logged_in") is True


def signed_in_owner() -> str:
    """Return the owner id of a signed-in visitor, "" for one who is not signed in."""
    user = _user()
    return owner_of_person(user.get("iss"), user.get("sub")) if user.get("is_logged_in") is True else ""


def render_sign_in() -> None:
    """Draw the page of a visitor who has not signed in."""
    with st.container(key="reading_sign_in"):
        st.title("Sign in to read", anchor=False)
        st.markdown("Whoever runs this Paper Trail has asked that visitors sign in first.")
        # Streamlit sets this key only if a provider is configured.
        if "is_logged_in" in _user():
            st.button("Sign in", type="primary", key="sign_in", on_click=st.login)
        else:
            st.markdown("Signing in is not set up at the moment: only they can mend that.")


def draw_signed_in() -> None:
    """Draw who is signed in, with a button to sign out."""
    user = _user()
    if user.get("is_logged_in") is not True:
        return
    name = str(user.get("name") or user.get("email") or user.get("sub") or "somebody")
    with st.container(horizontal=True, vertical_alignment="center", key="signed_in"):
        st.markdown(f"Signed in as {escaped(shortened(name, 80))}.", width="content")
        st.button("Sign out", type="tertiary", key="sign_out", on_click=st.logout)


def _user() -> dict[str, object]:
    """Return the claims of the identity provider, empty if the secrets cannot be read."""
    try:
        return dict(st.user.to_dict())
    except (OSError, ValueError):
        return {}


def _secrets() -> Mapping[str, object]:
    """Return the secrets, empty without a secrets file; raises SecretsError if it cannot be read."""
    try:
        return st.secrets.to_dict()
    except (OSError, ValueError) as error:
        places = [str(place) for place in st_config.get_option("secrets.files")]
        if not st_config.is_manually_set("secrets.files") and not any(map(_may_exist, places)):
            return {}
        raise SecretsError(
            f"its secrets ({', '.join(places)}) cannot be read, so it is not known who may see the papers "
            f"({error}). Correct them, or take the file away and set PAPER_TRAIL_SIGN_IN."
        ) from error


def _may_exist(place: str) -> bool:
    try:
        Path(place).lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return True


def _remember(settings: Settings) -> None:
    """Record that visitors of this home sign in, for this process and, in a marker file, for later ones."""
    _homes_with_sign_in.add(settings.home)
    try:
        settings.home.mkdir(parents=True, exist_ok=True)
        settings.sign_in_path.write_text(_MARKER, encoding="utf-8")
    except OSError as error:
        logger.warning(
            "That visitors sign in cannot be noted at %s (%s): set PAPER_TRAIL_SIGN_IN=required.",
            settings.sign_in_path, error.strerror,
        )  # fmt: skip
