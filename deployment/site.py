"""The whole site: the processes of the app and nginx, from start to stop."""

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

# The time for a process to load its encoder on a busy machine.
READY_WITHIN_SECONDS = 300.0
# The time for nginx to listen.
REACHED_WITHIN_SECONDS = 30.0
# The time a process may take to end after its last answer.
ENDS_WITHIN_SECONDS = 15.0
NGINX_ENDS_WITHIN_SECONDS = 3.0
# After this many failed first starts the site gives up.
_MOST_DEATHS = 3
_LOOK_SECONDS = 0.2
_FOLDER = "paper-trail-nginx-"
# The file in that folder which is locked until the site has ended, and the time to create and lock it.
_LOCK, _NEW_SECONDS = "lock", 60.0
# Parts of the commands of a site's programs.
_OF_A_SITE = ("-m deployment", "paper-trail serve", _FOLDER, str(ENTRY))
# Below the ephemeral ports, so that a restarted process finds its port free; above those of Ray's workers.
_PORTS = range(20_000, 32_000)
_EVERY_ADDRESS = ("0.0.0.0", "::")  # noqa: S104 - compared with, not listened at
STREAMLIT_CONFIG = PROJECT / ".streamlit" / "config.toml"
# Where Debian installs nginx, which is not in every user's path.
_SBIN = "/usr/sbin:/usr/local/sbin"


@dataclass(frozen=True, slots=True)
class SiteOptions:
    """The site to serve: the number of processes, the address, and the hosts of requests."""

    processes: int
    address: str = "127.0.0.1"
    port: int = 8501
    hosts: tuple[str, ...] = ()
    certificate: Path | None = None
    key: Path | None = None


@dataclass(slots=True)
class Site:
    """The running processes of the app and nginx; `report` prints a line of the site's log."""

    options: SiteOptions
    settings: Settings
    report: Callable[[str], None]
    processes: Sequence[AppProcess] = ()
    _signals: list[int] = field(default_factory=list)
    _guardian: Guardian = field(default_factory=Guardian)

    def run(self) -> int:
        """Serve until a signal comes or nginx ends; return an exit code. Raises ServeError."""
        nginx = find_nginx()
        with ExitStack() as stack:
            remove_stale_folders()
            folder = self._guardian.folder = stack.enter_context(TemporaryDirectory(prefix=_FOLDER))
            stack.enter_context(_locked(Path(folder)))
            # Started by root, nginx runs its workers as another user.
            Path(folder).chmod(0o755)
            self.processes = self._plan_processes()
            self._wait_for_addresses()
            config = self._write_configuration(Path(folder))
            check_configuration(nginx, config)
            stack.enter_context(self._guardian)
            stack.enter_context(_collecting(self._signals))
            try:
                return self._serve([nginx, "-p", folder, "-c", str(config), "-e", "stderr"])
            finally:
                self._stop_processes()

    @property
    def _is_told_to_stop(self) -> bool:
        return signal.SIGTERM in self._signals or signal.SIGINT in self._signals

    @property
    def _host(self) -> str:
        """Return the address as written in a URL."""
        address = self.options.address
        return f"[{address}]" if ":" in address else address

    def _plan_processes(self) -> list[AppProcess]:
        for_metrics = ports_of_metrics(self.settings.metrics, self.options.processes)
        if self.options.port in for_metrics:
            raise ServeError(
                f"Visitors come to port {self.options.port}, where metrics would be told too: "
                "give them another in PAPER_TRAIL_METRICS."
            )
        if for_metrics and for_metrics[-1] > LAST_PORT:
            raise ServeError(
                f"Metrics would be told at ports {for_metrics[0]} to {for_metrics[-1]}, and the last that "
                f"there is is {LAST_PORT}: choose a lower one in PAPER_TRAIL_METRICS."
            )
        ports = free_ports(self.options.processes, but={self.options.port, *for_metrics})
        host = self.settings.metrics.rpartition(":")[0]
        own_metrics: list[dict[str, str]] = [{} for _ in ports]
        for metrics, port in zip(own_metrics, for_metrics, strict=False):
            metrics["PAPER_TRAIL_METRICS"] = f"{host}:{port}"
        shared, hosts = shared_environment(self.settings, len(ports)), _names(self.options)
        return [
            AppProcess(
                f"p{number}",
                port,
                hosts,
                shared | metrics,
                self._guardian,
                self._seconds_to_end,
            )
            for (number, port), metrics in zip(enumerate(ports, 1), own_metrics, strict=True)
        ]

    def _wait_for_addresses(self) -> None:
        """Wait until all addresses of the site are free; raises ServeError."""
        self._wait_for(self.options.address, self.options.port)
        for process in self.processes:
            if metrics := process.environment.get("PAPER_TRAIL_METRICS", ""):
                host, _, port = metrics.rpartition(":")
                self._wait_for(
                    host.strip("[]"), int(port), " Metrics would be told there (PAPER_TRAIL_METRICS)."
                )

    def _wait_for(self, address: str, port: int, purpose: str = "") -> None:
        """Wait until an address is free, for as long as another site may take to end; raises ServeError."""
        deadline, has_reported = time.monotonic() + self._seconds_to_end, False
        while True:
            try:
                check_address(address, port, purpose)
            except AddressTakenError as error:
                if time.monotonic() > deadline or not (has_reported or error.is_taken_by(_OF_A_SITE)):
                    raise
                if not has_reported:
                    self.report(f"{error} This start goes on once it has ended.")
                has_reported = True
            else:
                return
            time.sleep(_LOOK_SECONDS)

    def _write_configuration(self, folder: Path) -> Path:
        """Write nginx's configuration file and return its path."""
        options, path = self.options, folder / "nginx.conf"
        text = configuration(
            Frontend(
                [process.address for process in self.processes],
                f"{self._host}:{options.port}",
                str(folder),
                upload_megabytes(),
                [str(network) for network in self.settings.trusted_proxies],
                str(options.certificate.absolute()) if options.certificate else "",
                str(options.key.absolute()) if options.key else "",
                _names(options),
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
                self._report_start()
                self._watch(nginx)
                self._stop_processes()
            finally:
                has_died = nginx.poll() is not None
                _stop_nginx(nginx)
        if has_died:
            self.report(f"nginx has ended ({ended_how(nginx.returncode)}): everything is stopped.")
        return int(has_died)

    def _wait_until(self, is_so: Callable[[AppProcess], bool], processes: Sequence[AppProcess]) -> None:
        """Wait until `is_so` holds for all, at most `READY_WITHIN_SECONDS`; report processes not ready."""
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
                self.report(f"Process {process.name} is not ready ({lacking or 'it does not answer'}).")

    def _wait_until_reached(self, nginx: "subprocess.Popen[bytes]") -> None:
        """Wait until nginx accepts connections or has ended, at most `REACHED_WITHIN_SECONDS`."""
        deadline = time.monotonic() + REACHED_WITHIN_SECONDS
        while nginx.poll() is None and not self._is_told_to_stop and time.monotonic() < deadline:
            with suppress(OSError), socket.create_connection((self.options.address, self.options.port), 1.0):
                return
            time.sleep(_LOOK_SECONDS)

    def _report_start(self) -> None:
        scheme = "https" if self.options.certificate else "http"
        self.report(f"Paper Trail: {scheme}://{self._host}:{self.options.port}   (stop with Ctrl+C)")
        for process in self.processes:
            metrics = process.environment.get("PAPER_TRAIL_METRICS", "")
            figures = f", metrics at http://{metrics}/metrics" if metrics else ""
            self.report(f"  {process.name}: http://{process.address}/readyz, process {process.pid}{figures}")

    def _watch(self, nginx: "subprocess.Popen[bytes]") -> None:
        """Restart processes that die until a signal to stop comes; at SIGHUP restart all, one by one."""
        while nginx.poll() is None:
            if self._is_told_to_stop:
                return
            if signal.SIGHUP in self._signals:
                self._signals.remove(signal.SIGHUP)
                self._renew()
            self._replace_dead()
            self._report_replaced()
            time.sleep(_LOOK_SECONDS)

    def _report_replaced(self) -> None:
        """Report each restarted process once it has loaded."""
        for process in self.processes:
            if process.is_awaited and process.has_loaded():
                process.is_awaited = False
                lacking = process.lacking()
                how = f"not ready ({lacking})" if lacking else f"ready again, process {process.pid}"
                self.report(f"Process {process.name} is {how}.")

    def _renew(self) -> None:
        """Restart the processes one by one, each when the one before is ready."""
        for process in self.processes:
            self.report(f"Process {process.name} ends its answers, and is replaced.")
            process.begin_to_stop()
            process.stop(self._deadline())
            process.start()
            process.is_awaited = True
            self._wait_until(AppProcess.is_ready, [process])
            self._report_replaced()
            if self._is_told_to_stop:
                return
        self.report("All processes have been replaced.")

    def _replace_dead(self) -> None:
        self._guardian.keep()
        for process in self.processes:
            for message in (process.end_if_hung(), process.replace_if_dead()):
                if message:
                    self.report(message)

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
    """Return the limit of open files of a worker of nginx, at most what this user may have."""
    _, allowed = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST_OPEN_FILES if allowed == resource.RLIM_INFINITY else min(MOST_OPEN_FILES, allowed)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold the lock that marks a folder as in use; it ends with this process."""
    with (folder / _LOCK).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def remove_stale_folders() -> None:
    """Remove the folders of this user's sites that were killed together with their guardian."""
    for folder in Path(gettempdir()).glob(f"{_FOLDER}*"):
        with suppress(OSError):
            status = folder.lstat()
            is_ours = stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid()
            if not is_ours or time.time() - status.st_mtime < _NEW_SECONDS:
                continue
            with (folder / _LOCK).open("r") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _collecting(signals: list[int]) -> Iterator[None]:
    """Append SIGTERM, SIGINT and SIGHUP to `signals` instead of acting on them."""
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
    """Return the path of nginx; raises ServeError if it is not installed."""
    path = shutil.which("nginx") or shutil.which("nginx", path=_SBIN)
    if path is None:
        raise ServeError("nginx is not installed. Install it (Debian: apt-get install nginx-light).")
    return path


def check_configuration(nginx: str, config: Path) -> None:
    """Raise ServeError if nginx rejects a configuration."""
    done = subprocess.run(  # noqa: S603 - nginx, found in the path
        [nginx, "-t", "-q", "-p", str(config.parent), "-c", str(config), "-e", "stderr"],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise ServeError(f"nginx cannot be started: {done.stderr.strip()}")


def check_address(address: str, port: int, purpose: str = "") -> None:
    """Raise AddressTakenError if an address is in use, ServeError if this machine does not have it."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        socket.create_server((address, port), family=family).close()
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise AddressTakenError(address, port, listening_at(port), purpose) from error
        # nginx may have permissions that this program does not, as for ports below 1024.
        if error.errno not in (errno.EACCES, errno.EPERM):
            why = str(error.strerror).partition(" (while")[0]
            raise ServeError(f"Nothing can listen at {address} here: {why}.{purpose}") from error


def free_ports(count: int, but: Container[int] = ()) -> list[int]:
    """Return `count` random free ports, none of `but`; raises ServeError if there are not as many."""
    # Not from `random`, which a program may have seeded.
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


def _names(options: SiteOptions) -> tuple[str, ...]:
    """Return the host names that are served: Streamlit's configured ones, the address, and the options'."""
    config = tomllib.loads(STREAMLIT_CONFIG.read_text(encoding="utf-8"))
    addresses = [] if options.address in _EVERY_ADDRESS else [options.address]
    return tuple(dict.fromkeys((*config["server"]["allowedHosts"], *addresses, *options.hosts)))


def upload_megabytes() -> int:
    """Return the size of the largest file that the app accepts."""
    if size := os.environ.get("STREAMLIT_SERVER_MAX_UPLOAD_SIZE"):
        if not (size.isascii() and size.isdigit()):
            raise ServeError("STREAMLIT_SERVER_MAX_UPLOAD_SIZE has to be a number of megabytes, as 20.")
        return int(size)
    config = tomllib.loads(STREAMLIT_CONFIG.read_text(encoding="utf-8"))
    return int(config["server"]["maxUploadSize"])


def shared_environment(settings: Settings, count: int) -> dict[str, str]:
    """Return the environment shared by all processes: nginx as trusted proxy, and model calls divided."""
    settings_of_site = {
        "PAPER_TRAIL_TRUSTED_PROXIES": HOST,
        "PAPER_TRAIL_MODEL_CALLS": str(max(1, settings.model_calls // count)),
    }
    # The same secret for all, so that processes accept each other's cookies.
    return {"STREAMLIT_SERVER_COOKIE_SECRET": secrets.token_hex(32), **os.environ, **settings_of_site}


def ports_of_metrics(place: str, count: int) -> range:
    """Return the metrics ports of `count` processes, from that of HOST:PORT on; none for ""."""
    if not place:
        return range(0)
    first = int(place.rpartition(":")[2])
    return range(first, first + count)


def _stop_nginx(nginx: "subprocess.Popen[bytes]") -> None:
    """Stop nginx gracefully, then by force."""
    for number in (signal.SIGQUIT, signal.SIGTERM, signal.SIGKILL):
        if nginx.poll() is not None:
            break
        nginx.send_signal(number)
        with suppress(subprocess.TimeoutExpired):
            nginx.wait(NGINX_ENDS_WITHIN_SECONDS)
    # Workers of a killed master live on in its process group, and listen.
    with suppress(ProcessLookupError):
        os.killpg(nginx.pid, signal.SIGKILL)
