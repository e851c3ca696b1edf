"""The programs that may use the API, identified by their keys, and their limits."""

import hashlib
import hmac
import logging
import re
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import unquote_to_bytes

from assistant.records import AssistantError
from corpus.settings import ApiKey, Settings, read_settings
from explorer.app.owner import server_key
from explorer.app.resources import change_owner, questions_limit, rate_limit
from explorer.jobs.rate_limit import Allowed, Caller

# deployment/nginx.conf parses the header in the same way, to send all requests of a key to one process.
_BEARER = re.compile(r"bearer[ \t]+([^ \t]+)[ \t]*", re.IGNORECASE | re.ASCII)
# Seconds for which a database that has failed is not tried again.
_PAUSE_SECONDS = 30.0
# From one address in ten minutes.
MOST_WRONG_KEYS = 20
# Parameters of an address that look like keys: such requests are refused.
_NAMES_OF_KEYS = frozenset(
    "access_token api-key api_key apikey auth auth_token authorization bearer key password secret token "
    "x-api-key".split()
)


logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Program:
    """A program with an API key: its owner id, and its own limit of questions, None for the common one.

    `earlier` is its owner id in versions that hashed keys without a secret, "" for none.
    """

    owner: str
    questions: int | None = None
    earlier: str = ""

    @property
    def caller(self) -> Caller:
        return Caller(self.owner)

    def owns(self, owner: str | None) -> bool:
        """Return True if a stored item is this program's; `owner` is None for an item that does not exist."""
        return bool(owner) and owner in (self.owner, self.earlier)


def program_of(authorization: str, settings: Settings) -> Program | None:
    """Return the program of the key in a header, None for an unknown key, in constant time."""
    match = _BEARER.fullmatch(authorization)
    sent = match[1].encode() if match else b""
    program = None
    for key in settings.api_keys:
        if hmac.compare_digest(key.secret.get_secret_value().encode(), sent):
            program = _program(key, settings)
    return program


def _program(key: ApiKey, settings: Settings) -> Program:
    """Return the program of a key; a named key can be replaced, as the owner id derives from its name."""
    if key.name:
        return Program(f"api-name-{key.name}", key.questions)
    secret = key.secret.get_secret_value().encode()
    # Hashed with the server's key, so that reading the database is not enough to guess keys.
    keyed = hmac.new(server_key(settings.server_key_path), b"api key " + secret, hashlib.sha256).hexdigest()
    return Program(f"api-key-{keyed}", key.questions, f"api-key-{hashlib.sha256(secret).hexdigest()}")


class _Adoption:
    """Moves what earlier versions have stored of a program to its present owner id, once a process."""

    def __init__(self) -> None:
        self._try_again = 0.0

    def adopt(self, program: Program, settings: Settings) -> None:
        if program.earlier and time.monotonic() >= self._try_again:
            try:
                _change_owner_once(settings, program.earlier, program.owner)
            except AssistantError as error:
                self._try_again = time.monotonic() + _PAUSE_SECONDS
                logger.warning("what is stored of a key keeps its earlier owner for now: %s", error)


adoption = _Adoption()


@lru_cache(maxsize=64)
def _change_owner_once(settings: Settings, before: str, after: str) -> None:
    change_owner(settings, before, after)


def names_key_in_query(query: bytes) -> bool:
    """Return True if a query has a parameter with a name in which keys are sent."""
    names = {unquote_to_bytes(part.partition(b"=")[0]).lower() for part in query.split(b"&")}
    return any(name.encode() in names for name in _NAMES_OF_KEYS)


def has_key_in_address(path: str, query: bytes, keys: Sequence[ApiKey]) -> bool:
    """Return True if an address contains a key; only senders of a valid key in the header may learn that."""
    address = b" ".join((path.encode("utf-8", "replace"), query, unquote_to_bytes(query)))
    return any(key.secret.get_secret_value().encode() in address for key in keys)


def take_wrong_key(address: str) -> None:
    """Count a wrong key from an address; raises TooSoonError for one too many."""
    wording = ("wrong key", "sent", "", "Another can be tried")
    rate_limit(Allowed(MOST_WRONG_KEYS, 0, 0, *wording)).take(Caller(address))


def take_request(program: Program) -> None:
    """Count a request of a program; raises TooSoonError for one too many."""
    wording = ("request", "made", "", "It can be made again")
    rate_limit(Allowed(read_settings().api_requests_per_ten_minutes, 0, 0, *wording)).take(program.caller)


def counting_question(program: Program, cost: float = 1.0) -> AbstractContextManager[None]:
    """Count a question started in the block, as `RateLimit.counting` does.

    Questions of a program with its own limit do not count towards the common limit.
    """
    limit = questions_limit() if program.questions is None else rate_limit(Allowed(program.questions, 0, 0))
    return limit.counting(program.caller, cost)
