"""Which programs may ask, known by their keys, and how much."""

import hashlib
import hmac
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import unquote_to_bytes

from corpus.settings import ApiKey, read_settings
from explorer.app import questions_limit
from explorer.jobs import Allowed, Caller, RateLimit

# Under these names keys are sent in addresses.
_NAMES_OF_KEYS = frozenset(
    "access_token api-key api_key apikey auth auth_token authorization bearer key password secret token "
    "x-api-key".split()
)


@dataclass(frozen=True, slots=True)
class Program:
    """A program that may ask: what it owns things as, and its own number of questions, None for the usual."""

    owner: str
    questions: int | None = None

    @property
    def caller(self) -> Caller:
        return Caller(self.owner)


def program_of(authorization: str, keys: Sequence[ApiKey]) -> Program | None:
    """Return the program whose key a header holds, None for no known one; in the same time for any key."""
    scheme, _, given = authorization.partition(" ")
    sent = given.strip().encode() if scheme.lower() == "bearer" else b""
    found = None
    for key in keys:
        if hmac.compare_digest(key.secret.get_secret_value().encode(), sent):
            found = Program(_owner(key), key.questions)
    return found


def _owner(key: ApiKey) -> str:
    """Return an owner that no visitor can be; where a key has a name another can take its place."""
    secret = key.secret.get_secret_value().encode()
    return f"api-name-{key.name}" if key.name else f"api-key-{hashlib.sha256(secret).hexdigest()}"


def has_key_in_address(path: str, query: bytes, keys: Sequence[ApiKey]) -> bool:
    """Return True if an address holds a key, or what would be taken for one by its name."""
    names = {unquote_to_bytes(part.partition(b"=")[0]).lower() for part in query.split(b"&")}
    if any(name.encode() in names for name in _NAMES_OF_KEYS):
        return True
    address = b" ".join((path.encode("utf-8", "replace"), query, unquote_to_bytes(query)))
    return any(key.secret.get_secret_value().encode() in address for key in keys)


def take_request(program: Program) -> None:
    """Count a request of a program; raises TooSoonError where it is one too many."""
    said = ("request", "made", "", "It can be made again")
    _limit(Allowed(read_settings().api_requests_per_ten_minutes, 0, 0, *said)).take(program.caller)


def take_question(program: Program, cost: float = 1.0) -> None:
    """Count a question; a program with a number of its own does not count to what all may ask."""
    limit = questions_limit() if program.questions is None else _limit(Allowed(program.questions, 0, 0))
    limit.take(program.caller, cost)


@lru_cache(maxsize=64)
def _limit(allowed: Allowed) -> RateLimit:
    return RateLimit(allowed)
