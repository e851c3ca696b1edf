"""Web addresses that may be fetched for a reader: public hosts only, by http and https.

A server that fetches any address could be sent to machines of its own network (SSRF). A host's name is
therefore resolved here, all its addresses are checked, and only these are connected to: a second look-up
could return others.
"""

import ipaddress
import re
import socket
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address

import httpx

from indexer.errors import ParseError

LONGEST_ADDRESS = 2_000
MOST_TRIED = 3
"""How many of a host's addresses are tried in turn."""

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_PORT = re.compile(r"[^/?#]*:\d+(?:[/?#]|$)")
# Ports below 1024 belong to other services, which a request could confuse.
_WEB_PORTS = (80, 443)
_FIRST_FREE_PORT = 1024
_ARXIV_HOSTS = ("arxiv.org", "www.arxiv.org", "export.arxiv.org")
_ARXIV_PAGE = re.compile(r"/abs/(?P<id>[\w.-]+(?:/\d+(?:v\d+)?)?)/?")
_ANTHOLOGY_PAGE = re.compile(r"/(?P<id>[A-Z]\d\d-\d{4}|\d{4}\.[a-z0-9]+-[a-z0-9]+\.\d+)/?")


@dataclass(frozen=True, slots=True)
class Place:
    """A web address and the checked IP addresses of its host, the only ones to connect to."""

    url: httpx.URL
    addresses: tuple[str, ...]


def web_address(text: str) -> httpx.URL:
    """Parse a typed address; a paper's page on arXiv or the Anthology becomes its PDF. Raises ParseError."""
    typed = text.strip()
    if not typed or len(typed) > LONGEST_ADDRESS or not typed.isprintable() or " " in typed:
        raise ParseError("this is no web address: one looks like https://arxiv.org/abs/2203.10244")
    if not _SCHEME.match(typed) or _PORT.match(typed):
        typed = f"https://{typed}"
    try:
        url = httpx.URL(typed).copy_with(fragment=None)
    except (httpx.InvalidURL, ValueError) as error:
        raise ParseError("this is no web address: one looks like https://arxiv.org/abs/2203.10244") from error
    _check(url)
    return _paper_of(url)


def located(url: httpx.URL, *, allow_private: bool = False) -> Place:
    """Resolve the host of an address and check all its IP addresses; raises ParseError."""
    _check(url)
    addresses = _resolved(url.host, url.port or (443 if url.scheme == "https" else 80))
    if not allow_private and not all(map(is_public, addresses)):
        raise ParseError(
            f"{url.host} is not on the public internet; only pages that anybody can open are read"
        )
    return Place(url, addresses[:MOST_TRIED])


def is_public(address: str) -> bool:
    """Return True if an IP address, and any IPv4 address embedded in it, is on the public internet."""
    try:
        outer = ipaddress.ip_address(address)
    except ValueError:
        return False
    embedded: tuple[IPv4Address | None, ...] = ()
    if isinstance(outer, IPv6Address):
        embedded = (outer.ipv4_mapped, outer.sixtofour, *(outer.teredo or ()))
    return all(
        part.is_global
        and not (part.is_multicast or part.is_reserved or getattr(part, "is_site_local", False))
        for part in (outer, *filter(None, embedded))
    )


def _check(url: httpx.URL) -> None:
    if url.scheme not in ("http", "https") or not url.host:
        raise ParseError("only addresses that begin with http:// or https:// can be read")
    if url.userinfo:
        raise ParseError("an address with a user name or a password in it is not asked")
    if url.port is not None and url.port not in _WEB_PORTS and url.port < _FIRST_FREE_PORT:
        raise ParseError(f"port {url.port} is not one of the web")


def _resolved(host: str, port: int) -> tuple[str, ...]:
    try:
        entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise ParseError(f"there is no host {host}, or it cannot be found now") from error
    # A zone ("%eth0") marks an address of this machine's own networks.
    return tuple(dict.fromkeys(str(entry[4][0]) for entry in entries))


def _paper_of(url: httpx.URL) -> httpx.URL:
    """Return the PDF's address for a paper's page on arXiv or the Anthology, else `url`."""
    if url.host in _ARXIV_HOSTS and (page := _ARXIV_PAGE.fullmatch(url.path)):
        return url.copy_with(path=f"/pdf/{page['id']}", query=None)
    if url.host == "aclanthology.org" and (page := _ANTHOLOGY_PAGE.fullmatch(url.path)):
        return url.copy_with(path=f"/{page['id']}.pdf", query=None)
    return url
