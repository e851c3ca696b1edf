"""Whose conversations are: a browser's, by a token in a cookie that only the server reads, or a person's."""

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
# Browsers take this name over HTTPS alone and from this very host, not from a sibling of it.
HOST_COOKIE = f"__Host-{OWNER_COOKIE}"
# Set on each request by us alone (explorer/app/security.py): "1" where the browser speaks HTTPS.
HTTPS_HEADER = "x-paper-trail-https"
# As long as browsers keep a cookie at most.
COOKIE_SECONDS = 400 * 24 * 60 * 60

# The signature came later: a token without one is still good for a browser that has something stored.
_TOKEN = re.compile(r"([A-Za-z0-9_-]{43})(?:\.([0-9a-f]{64}))?")
_KEY_BYTES = 32

logger = logging.getLogger(__name__)


class OwnerTokens:
    """Tokens given out by this installation, told from invented ones by a signature.

    `is_known` says whether something is stored of an owner: such a token is good without our signature too,
    so that browsers from before it, or from before the key was lost, keep their conversations.
    """

    def __init__(self, key: bytes, is_known: Callable[[str], bool]) -> None:
        self._key = key
        self._is_known = is_known

    def new(self) -> str:
        return self._signed(secrets.token_urlsafe(32))

    def of(self, cookies: Mapping[str, object], is_https: bool) -> str:
        """Return the token that a browser's cookies hold, signed; "" where there is none of ours.

        Over HTTPS the plain cookie counts for nothing: a sibling host may have set it to a token of its own,
        with which it reads what this visitor stores.
        """
        if found := _TOKEN.fullmatch(str(cookies.get(cookie_name(is_https), ""))):
            token = self._signed(found[1])
            is_ours = hmac.compare_digest(token, found[0])
            if is_ours or self._is_known(owner_of(token)):
                return token
        return ""

    def has_stored_over_http(self, cookies: Mapping[str, object]) -> bool:
        """Return True if something is stored of the browser that the plain cookie names."""
        token = self.of(cookies, is_https=False)
        return bool(token) and self._is_known(owner_of(token))

    def _signed(self, token: str) -> str:
        return f"{token}.{hmac.new(self._key, token.encode(), hashlib.sha256).hexdigest()}"


def cookie_name(is_https: bool) -> str:
    """Return the name of the cookie that holds a browser's token, by how it comes."""
    return HOST_COOKIE if is_https else OWNER_COOKIE


def owner_of(token: str) -> str:
    """Return the owner that a token stands for, "" for no token.

    Only a hash: who reads the stored conversations must not learn the cookies of their owners.
    """
    return f"browser-{hashlib.sha256(token.partition('.')[0].encode()).hexdigest()}" if token else ""


def owner_of_person(issuer: object, subject: object) -> str:
    """Return the owner that a signed-in person is, whatever browser they use; "" for nobody in particular.

    Only a hash, as for browsers; a subject is unique to its issuer (OpenID Connect Core, section 8).
    """
    if not (isinstance(subject, str) and subject):
        return ""
    named = f"{issuer} {subject}"
    return f"person-{hashlib.sha256(named.encode()).hexdigest()}"


@lru_cache(maxsize=4)
def server_key(path: Path) -> bytes:
    """Return the key kept at `path`, made and kept there the first time, readable for its owner alone."""
    try:
        return _kept_key(path) or _keep(path, secrets.token_bytes(_KEY_BYTES))
    except OSError as error:
        logger.warning("The key of the server cannot be kept at %s: %s.", path, error.strerror)
        return secrets.token_bytes(_KEY_BYTES)


def _kept_key(path: Path) -> bytes:
    try:
        key = path.read_bytes()
    except FileNotFoundError:
        return b""
    return key if len(key) == _KEY_BYTES else b""


def _keep(path: Path, key: bytes) -> bytes:
    """Write a key where there is no good one; of processes that do so at once, the first one's is kept."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.{os.getpid()}")
    part.touch(mode=0o600)
    part.write_bytes(key)
    try:
        os.link(part, path)
    except OSError:  # There is one, or this file system has no links.
        if kept := _kept_key(path):
            return kept
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return key
