"""All of it: the processes and nginx before them, from the first start to the last answer."""

import errno
import fcntl
import os
import resource
import secrets
import shutil
import signal
import socket
import stat
import subprocess
import time
import tomllib
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir

from corpus.settings import LAST_PORT, PROJECT, Settings
from deployment.app_process import ENTRY, HOST, AppProcess, ended_how
from deployment.errors import AddressTakenError, ServeError
from deployment.guardian import Guardian
from deployment.listeners import listening_at
from deployment.nginx import MOST_OPEN_FILES, Frontend, configuration

# Until a process has loaded its encoder; a machine that is busy takes its time.
READY_WITHIN_SECONDS = 300.0
# Until nginx listens. Its address is told then.
REACHED_WITHIN_SECONDS = 30.0
# The time a process may take to end after its last answer.
ENDS_WITHIN_SECONDS = 15.0
NGINX_ENDS_WITHIN_SECONDS = 3.0
# A process that has died so often at the first start is not tried again: its settings are to be looked at.
_MOST_DEATHS = 3
_LOOK_SECONDS = 0.2
_FOLDER = "paper-trail-nginx-"
# In that folder; it is locked from soon after the folder is made until the site has ended.
_LOCK, _NEW_SECONDS = "lock", 60.0
# In the commands of what serves a site.
_OF_A_SITE = ("-m deployment", "paper-trail serve", _FOLDER, str(ENTRY))
# Below those that a system gives to whoever calls out, so that a process which is started again finds its own
# free, and above those that the workers of a Ray take.
_PORTS = range(20_000, 32_000)
_EVERY_ADDRESS = ("0.0.0.0", "::")  # noqa: S104 - compared with, not listened at
STREAMLIT_CONFIG = PROJECT / ".streamlit" / "config.toml"
# Where Debian keeps what only its administrator has in the path.
_SBIN = "/usr/sbin:/usr/local/sbin"

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Wanted:
    """The site to serve: the number of processes, the address, and the hosts of requests."""

    processes: int
    address: str = "127.0.0.1"
    port: int = 8501
    hosts: tuple[str, ...] = ()
    certificate: Path | None = None
    key: Path | None = None


@dataclass(slots=True)
class Site:
    """The processes of the app and nginx, while they run; a signal to stop is heeded at every step."""

    wanted: Wanted
    settings: Settings
    tell: Tell
    processes: Sequence[AppProcess] = ()
    _signals: list[int] = field(default_factory=list)
    _guardian: Guardian = field(default_factory=Guardian)

    def run(self) -> int:
        """Serve until a signal comes or nginx ends; return an exit code. Raises ServeError."""
        nginx = find_nginx()
        with ExitStack() as stack:
            remove_left_behind()
            folder = self._guardian.folder = stack.enter_context(TemporaryDirectory(prefix=_FOLDER))
            stack.enter_context(_locked(Path(folder)))
            # Where root starts nginx its workers are another user.
            Path(folder).chmod(0o755)
            self.processes = self._planned()
            self._wait_for_addresses()
            config = self._configured(Path(folder))
            check_configuration(nginx, config)
            stack.enter_context(self._guardian)
            stack.enter_context(_heeding(self._signals))
            try:
                return self._serve([nginx, "-p", folder, "-c", str(config), "-e", "stderr"])
            finally:
                self._stop_processes()

    @property
    def _is_told_to_stop(self) -> bool:
        return signal.SIGTERM in self._signals or signal.SIGINT in self._signals

    @property
    def _host(self) -> str:
        """The address as it stands in a URL."""
        address = self.wanted.address
        return f"[{address}]" if ":" in address else address

    def _planned(self) -> list[AppProcess]:
        for_metrics = ports_of_metrics(self.settings.metrics, self.wanted.processes)
        if self.wanted.port in for_metrics:
            raise ServeError(
                f"Visitors come to port {self.wanted.port}, where metrics would be told too: "
                "give them another in PAPER_TRAIL_METRICS."
            )
        if for_metrics and for_metrics[-1] > LAST_PORT:
            raise ServeError(
                f"Metrics would be told at ports {for_metrics[0]} to {for_metrics[-1]}, and the last that "
                f"there is is {LAST_PORT}: choose a lower one in PAPER_TRAIL_METRICS."
            )
        ports = free_ports(self.wanted.processes, but={self.wanted.port, *for_metrics})
        shared, hosts = shared_environment(self.settings, len(ports)), _names(self.wanted)
        return [
            AppProcess(
                f"p{number}",
                port,
                hosts,
                shared | _own_environment(self.settings, number),
                self._guardian,
                self._seconds_to_end,
            )
            for number, port in enumerate(ports, 1)
        ]

    def _wait_for_addresses(self) -> None:
        """Return when nobody listens at any address of ours; raises ServeError where somebody else does."""
        self._wait_for(self.wanted.address, self.wanted.port)
        for process in self.processes:
            if metrics := process.environment.get("PAPER_TRAIL_METRICS", ""):
                host, _, port = metrics.rpartition(":")
                self._wait_for(
                    host.strip("[]"), int(port), " Metrics would be told there (PAPER_TRAIL_METRICS)."
                )

    def _wait_for(self, address: str, port: int, what_for: str = "") -> None:
        """Return when an address can be listened at, once a site that is there, or ends there, has ended."""
        deadline, is_told = time.monotonic() + self._seconds_to_end, False
        while True:
            try:
                check_address(address, port, what_for)
            except AddressTakenError as error:
                if time.monotonic() > deadline or not (is_told or error.is_taken_by(_OF_A_SITE)):
                    raise
                if not is_told:
                    self.tell(f"{error} This start goes on once it has ended.")
                is_told = True
            else:
                return
            time.sleep(_LOOK_SECONDS)

    def _configured(self, folder: Path) -> Path:
        wanted, path = self.wanted, folder / "nginx.conf"
        text = configuration(
            Frontend(
                [process.address for process in self.processes],
                f"{self._host}:{wanted.port}",
                str(folder),
                upload_megabytes(),
                [str(network) for network in self.settings.trusted_proxies],
                str(wanted.certificate.absolute()) if wanted.certificate else "",
                str(wanted.key.absolute()) if wanted.key else "",
                _names(wanted),
                most_open_files(),
            )
        )
        path.write_text(text, encoding="utf-8")
        return path

    def _serve(self, nginx_command: Sequence[str]) -> int:
        for process in self.processes:
            process.start()
        self._wait_until(AppProcess.has_loaded, self.processes)
        if any(process.deaths >= _MOST_DEATHS for process in self.processes):
            raise ServeError("The app does not start: what its processes have written says why.")
        if self._is_told_to_stop:
            return 0
        with self._guardian.start(
            nginx_command, NGINX_ENDS_WITHIN_SECONDS, stdin=subprocess.DEVNULL
        ) as nginx:
            try:
                self._wait_until_reached(nginx)
                self._tell_of_start()
                self._watch(nginx)
                self._stop_processes()
            finally:
                has_died = nginx.poll() is not None
                _stop_nginx(nginx)
        if has_died:
            self.tell(f"nginx has ended ({ended_how(nginx.returncode)}): everything is stopped.")
        return int(has_died)

    def _wait_until(self, is_so: Callable[[AppProcess], bool], processes: Sequence[AppProcess]) -> None:
        """Return when it is so of all, or when that has taken so long that they are served as they are."""
        deadline = time.monotonic() + READY_WITHIN_SECONDS
        waiting = list(processes)
        while waiting and not self._is_told_to_stop and time.monotonic() < deadline:
            self._replace_dead()
            if any(process.deaths >= _MOST_DEATHS for process in waiting):
                return
            waiting = [process for process in waiting if not is_so(process)]
            time.sleep(_LOOK_SECONDS)
        for process in processes if not self._is_told_to_stop else ():
            lacking = process.lacking()
            if lacking or process in waiting:
                self.tell(f"Process {process.name} is not ready ({lacking or 'it does not answer'}).")

    def _wait_until_reached(self, nginx: "subprocess.Popen[bytes]") -> None:
        """Return when nginx takes visitors; or when it has ended, or that has taken long."""
        deadline = time.monotonic() + REACHED_WITHIN_SECONDS
        while nginx.poll() is None and not self._is_told_to_stop and time.monotonic() < deadline:
            with suppress(OSError), socket.create_connection((self.wanted.address, self.wanted.port), 1.0):
                return
            time.sleep(_LOOK_SECONDS)

    def _tell_of_start(self) -> None:
        scheme = "https" if self.wanted.certificate else "http"
        self.tell(f"Paper Trail: {scheme}://{self._host}:{self.wanted.port}   (stop with Ctrl+C)")
        for process in self.processes:
            metrics = process.environment.get("PAPER_TRAIL_METRICS", "")
            figures = f", metrics at http://{metrics}/metrics" if metrics else ""
            self.tell(f"  {process.name}: http://{process.address}/readyz, process {process.pid}{figures}")

    def _watch(self, nginx: "subprocess.Popen[bytes]") -> None:
        """Replace processes that die until a signal to stop comes; at SIGHUP replace them all, in turn."""
        while nginx.poll() is None:
            if self._is_told_to_stop:
                return
            if signal.SIGHUP in self._signals:
                self._signals.remove(signal.SIGHUP)
                self._renew()
            self._replace_dead()
            self._tell_of_replaced()
            time.sleep(_LOOK_SECONDS)

    def _tell_of_replaced(self) -> None:
        """Tell of each process that was started in place of another, once it has loaded."""
        for process in self.processes:
            if process.is_awaited and process.has_loaded():
                process.is_awaited = False
                lacking = process.lacking()
                how = f"not ready ({lacking})" if lacking else f"ready again, process {process.pid}"
                self.tell(f"Process {process.name} is {how}.")

    def _renew(self) -> None:
        """Replace one process after the other, each when the one before is ready: visitors go to the rest."""
        for process in self.processes:
            self.tell(f"Process {process.name} ends its answers, and is replaced.")
            process.begin_to_stop()
            process.stop(self._deadline())
            process.start()
            process.is_awaited = True
            self._wait_until(AppProcess.is_ready, [process])
            self._tell_of_replaced()
            if self._is_told_to_stop:
                return
        self.tell("All processes have been replaced.")

    def _replace_dead(self) -> None:
        self._guardian.keep()
        for process in self.processes:
            for told in (process.end_if_hung(), process.replace_if_dead()):
                if told:
                    self.tell(told)

    def _stop_processes(self) -> None:
        for process in self.processes:
            process.begin_to_stop()
        deadline = self._deadline()
        for process in self.processes:
            process.stop(deadline)

    @property
    def _seconds_to_end(self) -> float:
        return self.settings.stop_seconds + ENDS_WITHIN_SECONDS

    def _deadline(self) -> float:
        return time.monotonic() + self._seconds_to_end


def most_open_files() -> int:
    """Return the open files allowed to a worker of nginx: no more than this user may have."""
    _, allowed = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST_OPEN_FILES if allowed == resource.RLIM_INFINITY else min(MOST_OPEN_FILES, allowed)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Show that a folder is in use, for as long as this process lives."""
    with (folder / _LOCK).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def remove_left_behind() -> None:
    """Remove what is left of this user's sites that were killed together with their guardian."""
    for folder in Path(gettempdir()).glob(f"{_FOLDER}*"):
        with suppress(OSError):
            found = folder.lstat()
            is_ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
            if not is_ours or time.time() - found.st_mtime < _NEW_SECONDS:
                continue
            with (folder / _LOCK).open("r") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _heeding(signals: list[int]) -> Iterator[None]:
    """Collect the signals that stop a program or have it renewed, in place of what they do."""
    numbers = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
    before = {
        signum: signal.signal(signum, lambda number, _frame: signals.append(number)) for signum in numbers
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def find_nginx() -> str:
    """Return where nginx is; raises ServeError where it is not installed."""
    found = shutil.which("nginx") or shutil.which("nginx", path=_SBIN)
    if found is None:
        raise ServeError("nginx is not installed. Install it (Debian: apt-get install nginx-light).")
    return found


def check_configuration(nginx: str, config: Path) -> None:
    """Raise ServeError where nginx does not take a configuration."""
    done = subprocess.run(  # noqa: S603 - nginx, found in the path
        [nginx, "-t", "-q", "-p", str(config.parent), "-c", str(config), "-e", "stderr"],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise ServeError(f"nginx cannot be started: {done.stderr.strip()}")


def check_address(address: str, port: int, what_for: str = "") -> None:
    """Raise AddressTakenError where somebody listens, ServeError where this machine has no such address."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        socket.create_server((address, port), family=family).close()
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise AddressTakenError(address, port, listening_at(port), what_for) from error
        # nginx may be allowed what this program is not, as a port below 1024.
        if error.errno not in (errno.EACCES, errno.EPERM):
            why = str(error.strerror).partition(" (while")[0]
            raise ServeError(f"Nothing can listen at {address} here: {why}.{what_for}") from error


def free_ports(count: int, but: Container[int] = ()) -> list[int]:
    """Return ports that nobody listens at, but some; raises ServeError where there are not as many."""
    # By chance of the system's own: whoever seeds `random` twice would get the same again.
    ports = secrets.SystemRandom().sample(_PORTS, len(_PORTS))
    free = list(islice((port for port in ports if port not in but and _is_free(port)), count))
    if len(free) < count:
        raise ServeError(
            f"This machine has no {count} ports that are free between {_PORTS[0]} and {_PORTS[-1]}."
        )
    return free


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def _names(wanted: Wanted) -> tuple[str, ...]:
    """Return the names under which screens are shown: this machine's for itself, its address, those told."""
    config = tomllib.loads(STREAMLIT_CONFIG.read_text(encoding="utf-8"))
    own = [] if wanted.address in _EVERY_ADDRESS else [wanted.address]
    return tuple(dict.fromkeys((*config["server"]["allowedHosts"], *own, *wanted.hosts)))


def upload_megabytes() -> int:
    """Return the largest file that the app takes."""
    if told := os.environ.get("STREAMLIT_SERVER_MAX_UPLOAD_SIZE"):
        if not (told.isascii() and told.isdigit()):
            raise ServeError("STREAMLIT_SERVER_MAX_UPLOAD_SIZE has to be a number of megabytes, as 20.")
        return int(told)
    config = tomllib.loads(STREAMLIT_CONFIG.read_text(encoding="utf-8"))
    return int(config["server"]["maxUploadSize"])


def shared_environment(settings: Settings, count: int) -> dict[str, str]:
    """Return the environment shared by all processes: nginx as trusted proxy, and model calls divided."""
    own = {
        "PAPER_TRAIL_TRUSTED_PROXIES": HOST,
        "PAPER_TRAIL_MODEL_CALLS": str(max(1, settings.model_calls // count)),
    }
    # A process must know what another signed, when it takes over its visitors.
    return {"STREAMLIT_SERVER_COOKIE_SECRET": secrets.token_hex(32), **os.environ, **own}


def _own_environment(settings: Settings, number: int) -> dict[str, str]:
    """Return the environment of one process: its own address for metrics."""
    if not settings.metrics:
        return {}
    host = settings.metrics.rpartition(":")[0]
    return {"PAPER_TRAIL_METRICS": f"{host}:{ports_of_metrics(settings.metrics, number)[-1]}"}


def ports_of_metrics(place: str, count: int) -> range:
    """Return the ports that processes tell their metrics at: from that of a HOST:PORT on, none of ""."""
    if not place:
        return range(0)
    first = int(place.rpartition(":")[2])
    return range(first, first + count)


def _stop_nginx(nginx: "subprocess.Popen[bytes]") -> None:
    """Have nginx end its replies, and end by force what does not."""
    for number in (signal.SIGQUIT, signal.SIGTERM, signal.SIGKILL):
        if nginx.poll() is not None:
            break
        nginx.send_signal(number)
        with suppress(subprocess.TimeoutExpired):
            nginx.wait(NGINX_ENDS_WITHIN_SECONDS)
    # The workers of one that was killed live on, and listen: they are of its group, which is its own.
    with suppress(ProcessLookupError):
        os.killpg(nginx.pid, signal.SIGKILL)
