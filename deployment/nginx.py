"""The configuration of nginx: who is sent to which process, and what is believed of a request."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template

TEMPLATE = Path(__file__).with_name("nginx.conf")
MOST_OPEN_FILES = 32_768
# The bytes a form adds to its file.
_FORM_MEGABYTES = 1
# nginx's error for programs, in the form of all errors (explorer/api).
_TOO_LARGE = {"error": "too_large", "message": "This request is too large. Send less at once."}
_UNREADABLE = {
    "error": "invalid_request",
    "message": "This request cannot be read: it is malformed, or its address or a header is too long.",
}
_CROWDED = {
    "error": "too_many_requests",
    "message": "Your address has too many connections open. Close some, or try again in a few seconds.",
}
_NOBODY = {"error": "busy", "message": "The server is starting or stopping. Try again in a few seconds."}


class _Filled(Template):
    """A text with @{name} where something is filled in: $ is nginx's own."""

    delimiter = "@"


@dataclass(frozen=True, slots=True)
class Frontend:
    """The configuration of nginx: the `processes` as HOST:PORT, and an address to `listen` at.

    `folder` is its own, for what it writes; `proxies` are the networks whose X-Forwarded-For is believed;
    `hosts` the names under which screens are shown, where they are not shown under any;
    `open_files` is how many each of its workers may have, of which a request takes two: the client's
    connection and that to a process. `upload_megabytes` is the largest file the app takes. With a
    `certificate` and its `key` it speaks HTTPS.
    """

    processes: Sequence[str]
    listen: str
    folder: str
    upload_megabytes: int
    proxies: Sequence[str] = ()
    certificate: str = ""
    key: str = ""
    hosts: Sequence[str] = ()
    open_files: int = MOST_OPEN_FILES


def configuration(frontend: Frontend) -> str:
    """Return the text of nginx's configuration file."""
    named = {f"p{number}": address for number, address in enumerate(frontend.processes, 1)}
    everyone = frontend.processes
    return _Filled(TEMPLATE.read_text(encoding="utf-8")).substitute(
        folder=frontend.folder,
        open_files=str(frontend.open_files),
        connections=str(frontend.open_files // 2),
        listen=f"{frontend.listen} ssl" if frontend.certificate else frontend.listen,
        tls=_lines(8, _tls(frontend)),
        largest_upload=frontend.upload_megabytes + _FORM_MEGABYTES,
        hosts=_lines(8, _hosts(frontend.hosts)),
        unreadable=json.dumps(_UNREADABLE),
        crowded=json.dumps(_CROWDED),
        too_large=json.dumps(_TOO_LARGE),
        nobody=json.dumps(_NOBODY),
        real_ip=_lines(4, (f"set_real_ip_from {network};" for network in frontend.proxies)),
        proxies=_lines(8, (f"{network} 1;" for network in frontend.proxies)),
        to_upstreams=_lines(8, (f"{name} to_{name};" for name in named)),
        to_names=_lines(8, (f'"~(^|[ ,:]){_escaped(address)}$" {name};' for name, address in named.items())),
        all_servers=_lines(8, (f"server {address} max_fails=0;" for address in everyone)),
        upstreams="\n".join(_upstream(name, named) for name in named),
    )


def _upstream(name: str, named: dict[str, str]) -> str:
    """Return the servers of whom a cookie names: its own process, and while that is gone the others."""
    # nginx would take a process for gone that refuses new visitors alone: it asks each time (max_fails).
    own = f"server {named[name]} max_fails=0;"
    others = [f"server {address} max_fails=0 backup;" for other, address in named.items() if other != name]
    return f"    upstream to_{name} {{\n{_lines(8, [own, *others])}\n    }}"


def _tls(frontend: Frontend) -> Iterable[str]:
    if not frontend.certificate:
        return ()
    return (
        f"ssl_certificate {_quoted(frontend.certificate)};",
        f"ssl_certificate_key {_quoted(frontend.key)};",
        "ssl_protocols TLSv1.2 TLSv1.3;",
    )


def _hosts(hosts: Sequence[str]) -> Iterable[str]:
    if not hosts or "*" in hosts:
        return ("default 1;",)
    return ("default 0;", *(f"{_quoted(f'[{host}]' if ':' in host else host)} 1;" for host in hosts))


def _quoted(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _lines(spaces: int, lines: Iterable[str]) -> str:
    return "\n".join(f"{' ' * spaces}{line}" for line in lines)


def _escaped(address: str) -> str:
    return address.replace(".", r"\.")
