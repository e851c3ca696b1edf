"""Web addresses that may be fetched for a reader: public hosts only, by http and https.

A server that fetches what anybody names could be sent to the machines beside it. So a host's name is resolved
here, every address that it stands for is checked, and only these are connected to: asked a second time, a
name could stand for something else.
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
"""Of a host's addresses, how many are connected to in turn."""

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_PORT = re.compile(r"[^/?#]*:\d+(?:[/?#]|$)")
# Below 1024 other services live than the web, which a request could confuse.
_WEB_PORTS = (80, 443)
_FIRST_FREE_PORT = 1024
_ARXIV_HOSTS = ("arxiv.org", "www.arxiv.org", "export.arxiv.org")
_ARXIV_PAGE = re.compile(r"/abs/(?P<id>[\w.-]+(?:/\d+(?:v\d+)?)?)/?")
_ANTHOLOGY_PAGE = re.compile(r"/(?P<id>[A-Z]\d\d-\d{4}|\d{4}\.[a-z0-9]+-[a-z0-9]+\.\d+)/?")


@dataclass(frozen=True, slots=True)
class Place:
    """A web address and the checked addresses of its host, the only ones to be connected to."""

    url: httpx.URL
    addresses: tuple[str, ...]


def web_address(text: str) -> httpx.URL:
    """Return an address as somebody types it, of a paper's page that of its PDF; raises ParseError."""
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
    """Resolve the host of an address and check all that it stands for; raises ParseError."""
    _check(url)
    addresses = _resolved(url.host, url.port or (443 if url.scheme == "https" else 80))
    if not allow_private and not all(map(is_public, addresses)):
        raise ParseError(
            f"{url.host} is not on the public internet; only pages that anybody can open are read"
        )
    return Place(url, addresses[:MOST_TRIED])


def is_public(address: str) -> bool:
    """Return True if an IP address is one of the public internet, whatever it is wrapped in."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return False
    return all(_is_public(one) for one in (found, *_wrapped(found)))


def _is_public(address: IPv4Address | IPv6Address) -> bool:
    is_odd = address.is_multicast or address.is_reserved or getattr(address, "is_site_local", False)
    return address.is_global and not is_odd


def _wrapped(address: IPv4Address | IPv6Address) -> tuple[IPv4Address, ...]:
    """Return the IPv4 addresses that an IPv6 address leads to."""
    if isinstance(address, IPv4Address):
        return ()
    teredo = address.teredo or ()
    return tuple(one for one in (address.ipv4_mapped, address.sixtofour, *teredo) if one is not None)


def _check(url: httpx.URL) -> None:
    if url.scheme not in ("http", "https") or not url.host:
        raise ParseError("only addresses that begin with http:// or https:// can be read")
    if url.userinfo:
        raise ParseError("an address with a user name or a password in it is not asked")
    if url.port is not None and url.port not in _WEB_PORTS and url.port < _FIRST_FREE_PORT:
        raise ParseError(f"port {url.port} is not one of the web")


def _resolved(host: str, port: int) -> tuple[str, ...]:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise ParseError(f"there is no host {host}, or it cannot be found now") from error
    # A zone ("%eth0") marks an address of this machine's own networks.
    return tuple(dict.fromkeys(str(entry[4][0]) for entry in found))


def _paper_of(url: httpx.URL) -> httpx.URL:
    """Return the address of the PDF where an address is that of a paper's page on arXiv or the Anthology."""
    if url.host in _ARXIV_HOSTS and (page := _ARXIV_PAGE.fullmatch(url.path)):
        return url.copy_with(path=f"/pdf/{page['id']}", query=None)
    if url.host == "aclanthology.org" and (page := _ANTHOLOGY_PAGE.fullmatch(url.path)):
        return url.copy_with(path=f"/{page['id']}.pdf", query=None)
    return url
