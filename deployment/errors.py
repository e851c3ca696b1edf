"""Errors that keep a site from starting."""

from collections.abc import Sequence

from deployment.listeners import Listener


class ServeError(Exception):
    """The site cannot be started; the message says why and what to do."""


class AddressTakenError(ServeError):
    """Another program listens at an address; the message says which, and how to end it."""

    def __init__(self, address: str, port: int, listeners: Sequence[Listener], purpose: str = "") -> None:
        self.listeners = listeners
        text = f"Another program listens at port {port} of {address}"
        if listeners:
            named = ", ".join(f"process {listener.pid} ({listener.command})" for listener in listeners)
            text += f": {named}. To end it: kill {' '.join(str(listener.pid) for listener in listeners)}"
        else:
            text += f". To see which: sudo lsof -nP -iTCP:{port} -sTCP:LISTEN"
        super().__init__(f"{text}.{purpose}")

    def is_taken_by(self, commands: Sequence[str]) -> bool:
        """Return True if the command of a listener contains one of `commands`."""
        return any(part in listener.command for listener in self.listeners for part in commands)
