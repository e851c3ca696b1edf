"""Owner ids of stored items: a browser's, from a token in an HTTP-only cookie, or a signed-in person's."""

import hashlib
import hmac
import logging
import os
import re
import secrets
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path

OWNER_COOKIE = "paper_trail_owner"
# Browsers accept a cookie of this name only over HTTPS and from this very host, not from a sibling domain.
HOST_COOKIE = f"__Host-{OWNER_COOKIE}"
# Set on each request by explorer/app/security.py: "1" if the browser uses HTTPS.
HTTPS_HEADER = "x-paper-trail-https"
# The longest that browsers keep a cookie.
COOKIE_SECONDS = 400 * 24 * 60 * 60

# Older tokens have no signature; they are accepted from browsers with stored items.
_TOKEN = re.compile(r"([A-Za-z0-9_-]{43})(?:\.([0-9a-f]{64}))?")
_KEY_BYTES = 32

logger = logging.getLogger(__name__)


class OwnerTokens:
    """Issues and verifies browser tokens, which are signed with the server's key.

    `is_known` tells whether something of an owner is stored: such a token is accepted without a valid
    signature, so that browsers from before signatures, or before a lost key, keep their conversations.
    """

    def __init__(self, key: bytes, is_known: Callable[[str], bool]) -> None:
        self._key = key
        self._is_known = is_known

    def new(self) -> str:
        return self._signed(secrets.token_urlsafe(32))

    def of(self, cookies: Mapping[str, object], is_https: bool) -> str:
        """Return the valid token in a browser's cookies, signed; "" if there is none.

        Over HTTPS the plain cookie is ignored: a sibling host may have set it to a token of its own, to read
        what this visitor stores.
        """
        if match := _TOKEN.fullmatch(str(cookies.get(cookie_name(is_https), ""))):
            token = self._signed(match[1])
            is_ours = hmac.compare_digest(token, match[0])
            if is_ours or self._is_known(owner_of(token)):
                return token
        return ""

    def has_stored_over_http(self, cookies: Mapping[str, object]) -> bool:
        """Return True if something is stored for the browser of the plain HTTP cookie."""
        token = self.of(cookies, is_https=False)
        return bool(token) and self._is_known(owner_of(token))

    def _signed(self, token: str) -> str:
        return f"{token}.{hmac.new(self._key, token.encode(), hashlib.sha256).hexdigest()}"


def cookie_name(is_https: bool) -> str:
    """Return the name of the cookie with a browser's token, over HTTPS or HTTP."""
    return HOST_COOKIE if is_https else OWNER_COOKIE


def owner_of(token: str) -> str:
    """Return the owner id of a token, "" for no token.

    A hash, so that whoever reads the database does not learn the owners' cookies.
    """
    return f"browser-{hashlib.sha256(token.partition('.')[0].encode()).hexdigest()}" if token else ""


def owner_of_person(issuer: object, subject: object) -> str:
    """Return the owner id of a signed-in person, in any browser; "" without a subject.

    A subject is unique to its issuer (OpenID Connect Core, section 8).
    """
    if not (isinstance(subject, str) and subject):
        return ""
    return f"person-{hashlib.sha256(f'{issuer} {subject}'.encode()).hexdigest()}"


@lru_cache(maxsize=4)
def server_key(path: Path) -> bytes:
    """Return the key stored at `path`, created the first time, readable by its file owner only."""
    try:
        return _read_key(path) or _write_key(path, secrets.token_bytes(_KEY_BYTES))
    except OSError as error:
        logger.warning("The key of the server cannot be kept at %s: %s.", path, error.strerror)
        return secrets.token_bytes(_KEY_BYTES)


def _read_key(path: Path) -> bytes:
    """Return the key at `path`, b"" if there is no valid one."""
    try:
        key = path.read_bytes()
    except FileNotFoundError:
        return b""
    return key if len(key) == _KEY_BYTES else b""


def _write_key(path: Path, key: bytes) -> bytes:
    """Write a key and return it; if another process was faster, return that one's key."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.{os.getpid()}")
    part.touch(mode=0o600)
    part.write_bytes(key)
    try:
        os.link(part, path)
    except OSError:  # There is a key, or this file system has no hard links.
        if stored := _read_key(path):
            return stored
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return key
