"""Whose conversations are: a browser's, by a token in a cookie that only the server reads, or a person's."""

import hashlib
import re
import secrets

OWNER_COOKIE = "paper_trail_owner"
# As long as browsers keep a cookie at most.
COOKIE_SECONDS = 400 * 24 * 60 * 60

_TOKEN = re.compile(r"[A-Za-z0-9_-]{43}")


def new_token() -> str:
    return secrets.token_urlsafe(32)


def is_token(value: object) -> bool:
    """Tell whether a cookie's value is one that was given out here; anything else is as good as none."""
    return isinstance(value, str) and _TOKEN.fullmatch(value) is not None


def owner_of(token: object) -> str:
    """Return the owner that a token stands for, "" for no token of ours.

    Only a hash: who reads the stored conversations must not learn the cookies of their owners.
    """
    return f"browser-{hashlib.sha256(str(token).encode()).hexdigest()}" if is_token(token) else ""


def owner_of_person(issuer: object, subject: object) -> str:
    """Return the owner that a signed-in person is, whatever browser they use; "" for nobody in particular.

    Only a hash, as for browsers; a subject is unique to its issuer (OpenID Connect Core, section 8).
    """
    if not (isinstance(subject, str) and subject):
        return ""
    named = f"{issuer} {subject}"
    return f"person-{hashlib.sha256(named.encode()).hexdigest()}"
