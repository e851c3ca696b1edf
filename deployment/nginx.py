"""The configuration of nginx, filled in from the template nginx.conf."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template

TEMPLATE = Path(__file__).with_name("nginx.conf")
MOST_OPEN_FILES = 32_768
# The room for the form around an uploaded file.
_FORM_MEGABYTES = 1
# nginx's own error replies to API requests, in the form of all errors (explorer/api/errors.py).
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
    """A template with placeholders @{name}, as nginx uses $."""

    delimiter = "@"


@dataclass(frozen=True, slots=True)
class Frontend:
    """The values of nginx's configuration: the `processes` as HOST:PORT, and the address to `listen` at.

    nginx writes to `folder`. `proxies` are the networks whose X-Forwarded-For is trusted, `hosts` the host
    names that are served, all if empty. `open_files` is the limit of each worker, of which a request takes
    two: the connections to the client and to a process. `upload_megabytes` is the size of the largest file
    accepted. With a `certificate` and its `key` nginx serves HTTPS.
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
        all_servers=_lines(8, (f"server {address} max_fails=0;" for address in frontend.processes)),
        upstreams="\n".join(_upstream(name, named) for name in named),
    )


def _upstream(name: str, named: dict[str, str]) -> str:
    """Return the servers for visitors whose cookie names a process: that one, and the others as a backup."""
    # max_fails=0: a process that refuses only new visitors is not marked as failed.
    process = f"server {named[name]} max_fails=0;"
    others = [f"server {address} max_fails=0 backup;" for other, address in named.items() if other != name]
    return f"    upstream to_{name} {{\n{_lines(8, [process, *others])}\n    }}"


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
