"""Signing in by OpenID Connect, where the operator asks for it; else nobody is asked."""

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

# A mark left in the home folder once an [auth] section was seen: without it, emptying or losing the secrets
# would open the papers to everyone.
_MARKER = (
    "Visitors of this Paper Trail sign in: its secrets have had an [auth] section.\n"
    "To admit everyone again, start it with PAPER_TRAIL_SIGN_IN=off, which removes this file.\n"
)

logger = logging.getLogger(__name__)
# Homes whose visitors sign in, should the marker not have been written or be removed while the server runs.
_asked: set[Path] = set()


class SecretsError(Exception):
    """Secrets are there and cannot be read: nobody knows whether visitors have to sign in."""


def check_sign_in() -> None:
    """Make sure, before the server starts, that its settings can be used and who is admitted is known."""
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
    if has_section and settings.home not in _asked:
        _remember(settings)
    return settings.home in _asked or settings.sign_in_path.exists()


def is_admitted() -> bool:
    """Return True if this visitor may see the papers."""
    return not is_sign_in_asked(read_settings()) or _user().get("is_logged_in") is True


def signed_in_owner() -> str:
    """Return whose conversations a signed-in visitor's are, "" for one who is not signed in."""
    user = _user()
    return owner_of_person(user.get("iss"), user.get("sub")) if user.get("is_logged_in") is True else ""


def render_sign_in() -> None:
    """Draw the one thing that a visitor can do who has not signed in."""
    with st.container(key="reading_sign_in"):
        st.title("Sign in to read", anchor=False)
        st.markdown("Whoever runs this Paper Trail has asked that visitors sign in first.")
        # Streamlit's own word that there is a provider to go to.
        if "is_logged_in" in _user():
            st.button("Sign in", type="primary", key="sign_in", on_click=st.login)
        else:
            st.markdown("Signing in is not set up at the moment: only they can mend that.")


def draw_signed_in() -> None:
    """Say who is signed in, with the way out; nothing where no sign-in is set up."""
    user = _user()
    if user.get("is_logged_in") is not True:
        return
    name = str(user.get("name") or user.get("email") or user.get("sub") or "somebody")
    with st.container(horizontal=True, vertical_alignment="center", key="signed_in"):
        st.markdown(f"Signed in as {escaped(shortened(name, 80))}.", width="content")
        st.button("Sign out", type="tertiary", key="sign_out", on_click=st.logout)


def _user() -> dict[str, object]:
    """Return the identity provider's claims, none without `is_logged_in` or where it was not reached."""
    try:
        return dict(st.user.to_dict())
    except (OSError, ValueError):  # of a secrets file that cannot be read
        return {}


def _secrets() -> Mapping[str, object]:
    """Return the secrets, none where there is no file of them; raises SecretsError for unreadable ones."""
    try:
        return st.secrets.to_dict()
    except (OSError, ValueError) as error:
        places = [str(place) for place in st_config.get_option("secrets.files")]
        if not st_config.is_manually_set("secrets.files") and not any(map(_is_there, places)):
            return {}
        raise SecretsError(
            f"its secrets ({', '.join(places)}) cannot be read, so it is not known who may see the papers "
            f"({error}). Correct them, or take the file away and set PAPER_TRAIL_SIGN_IN."
        ) from error


def _is_there(place: str) -> bool:
    try:
        Path(place).lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return True


def _remember(settings: Settings) -> None:
    """Note that visitors of this home sign in, for this process and for those that come after it."""
    _asked.add(settings.home)
    try:
        settings.home.mkdir(parents=True, exist_ok=True)
        settings.sign_in_path.write_text(_MARKER, encoding="utf-8")
    except OSError as error:
        logger.warning(
            "That visitors sign in cannot be noted at %s (%s): set PAPER_TRAIL_SIGN_IN=required.",
            settings.sign_in_path, error.strerror,
        )  # fmt: skip
