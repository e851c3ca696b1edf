"""Attacks that a file may try from the process that reads it: each by a name.

A way returns what it got, and raises OSError where the system refuses it. None does harm where it succeeds.
"""

import ctypes
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from corpus.sandbox.seccomp import refused_calls

CALL_OUT = "import socket, sys; socket.create_connection(('127.0.0.1', int(sys.argv[1])), 5).sendall(b'x\\n')"


def read_file(path: str) -> str:
    return Path(path).read_bytes()[:20].decode("latin-1")


def list_folder(path: str) -> str:
    return " ".join(sorted(entry.name for entry in Path(path).iterdir())[:3])


def write_file(path: str) -> str:
    Path(path).write_text("written by a parser")
    return "written"


def change_mode(path: str) -> str:
    Path(path).chmod(0o777)
    return "changed"


def cut_off(path: str) -> str:
    os.truncate(path, 0)
    return "cut off"


def read_environment(process: str) -> str:
    return read_file(f"/proc/{process}/environ")


def read_memory(process: str) -> str:
    with Path(f"/proc/{process}/mem").open("rb") as memory:
        return str(memory.seekable())


def copy_memory(process: str) -> str:
    """Read from another process's memory at an address that nothing has: EFAULT, where it is allowed."""
    local = ctypes.create_string_buffer(8)
    vectors = (ctypes.c_size_t * 4)(ctypes.addressof(local), 8, 4096, 8)
    return _system_call(310, int(process), ctypes.byref(vectors), 1, ctypes.byref(vectors, 16), 1, 0)


def take_descriptor(process: str) -> str:
    opened = int(_system_call(434, int(process), 0))
    return _system_call(438, opened, 0, 0)


def attach(process: str) -> str:
    return _system_call(101, 0x4206, int(process), 0, 0)


def send_signal(process: str) -> str:
    os.kill(int(process), 0)
    return "sent"


def leave_session(_: str) -> str:
    return str(os.setsid())


def leave_daemon(path: str) -> str:
    subprocess.Popen(["/bin/sh", "-c", f"sleep 1; touch {path}"], start_new_session=True)
    return "left"


def leave_process_in_group(path: str) -> str:
    subprocess.Popen(["/bin/sh", "-c", f"sleep 1; touch {path}"])
    return "left"


def connect(port: str) -> str:
    with socket.create_connection(("127.0.0.1", int(port)), 5) as connection:
        connection.sendall(b"called out\n")
    return "called"


def connect_from_thread(port: str) -> str:
    failed: list[OSError] = []

    def call() -> None:
        try:
            connect(port)
        except OSError as error:
            failed.append(error)

    thread = threading.Thread(target=call)
    thread.start()
    thread.join()
    if failed:
        raise failed[0]
    return "called"


def connect_from_program(port: str) -> str:
    done = subprocess.run([sys.executable, "-c", CALL_OUT, port], capture_output=True, text=True, check=False)
    if done.returncode:
        raise PermissionError(done.stderr[-200:])
    return "called"


def send_datagram(port: str) -> str:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        udp.sendto(b"called out", ("127.0.0.1", int(port)))
    return "sent"


def open_socket_of_version_6(_: str) -> str:
    socket.socket(socket.AF_INET6, socket.SOCK_STREAM).close()
    return "opened"


def connect_to_unix_socket(address: str) -> str:
    """Connect to a socket of this machine; an address that begins with @ is an abstract one."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(address.replace("@", "\0", 1))
    return "connected"


def connect_half_of_pair(address: str) -> str:
    """Connect a socket that was made without asking for one."""
    pair = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    with pair[0], pair[1]:
        pair[0].connect(address.replace("@", "\0", 1))
    return "connected"


def send_over_half_of_pair(address: str) -> str:
    pair = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    with pair[0], pair[1]:
        pair[0].sendto(b"x", address.replace("@", "\0", 1))
    return "sent"


def raise_limit(_: str) -> str:
    import resource  # noqa: PLC0415

    most = resource.getrlimit(resource.RLIMIT_AS)[0]
    resource.setrlimit(resource.RLIMIT_AS, (most + 1, most + 1))
    return "raised"


def overwrite_reply(_: str) -> str:
    """Write an object that runs code when it is unpickled wherever this process can write, and end."""
    malicious = b"cos\nsystem\n(S'touch /tmp/unpickled'\ntR."
    for descriptor in range(3, 64):
        try:
            os.write(descriptor, b"returned\n" + malicious)
        except OSError:
            continue
    os._exit(0)


def run_for_ever(_: str) -> str:
    """Take away the timers that would end this process, and wait."""
    signal.setitimer(signal.ITIMER_PROF, 0)
    signal.alarm(0)
    time.sleep(600)
    return "waited"


def _system_call(number: int, *arguments: object) -> str:
    libc = ctypes.CDLL(None, use_errno=True)
    result = libc.syscall(number, *arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return str(result)


WAYS: dict[str, Callable[[str], str]] = {
    way.__name__: way
    for way in (
        *(
            read_file,
            list_folder,
            write_file,
            change_mode,
            cut_off,
            read_environment,
            read_memory,
            copy_memory,
        ),
        *(take_descriptor, attach, send_signal, leave_session, leave_daemon, leave_process_in_group),
        *(connect, connect_from_thread, connect_from_program, send_datagram, open_socket_of_version_6),
        *(connect_to_unix_socket, connect_half_of_pair, send_over_half_of_pair, raise_limit, overwrite_reply),
        *(run_for_ever,),
    )
}


def attempt(name: str, target: str) -> str:
    """Try one way; return "refused" where the system denies permission, else what came of it."""
    try:
        return f"done: {WAYS[name](target)}"
    except PermissionError:
        return "refused"
    except OSError as error:
        return f"failed: {error.strerror}"


def random_calls(seed: int, calls: int, path: str) -> int:
    """Make system calls by chance with arguments by chance; return how many succeeded."""
    chance = random.Random(seed)
    libc = ctypes.CDLL(None, use_errno=True)
    name = path.encode()
    succeeded = 0
    for _ in range(calls):
        arguments = [chance.choice([0, 1, -1, -100, os.getppid(), 2**31, name]) for _ in range(6)]
        succeeded += libc.syscall(chance.randrange(470), *arguments) >= 0
    return succeeded


def calls_not_refused() -> dict[str, str]:
    """Make each call that is to be refused, with arguments that do no harm; return those that were not."""
    libc = ctypes.CDLL(None, use_errno=True)
    outcomes: dict[str, str] = {}
    for name, number in refused_calls().items():
        result = libc.syscall(number, -1, 0, 0, 0, 0, 0)
        code = ctypes.get_errno()
        if result >= 0 or code not in (1, 13):
            outcomes[name] = f"{result}, errno {code}"
    return outcomes
