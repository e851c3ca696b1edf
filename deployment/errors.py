"""Errors before anything is served."""

from collections.abc import Sequence

from deployment.listeners import Listener


class ServeError(Exception):
    """The app cannot be served; the message says what is missing and what to do."""


class AddressTakenError(ServeError):
    """Somebody listens at an address; the message says who, and how to end it."""

    def __init__(self, address: str, port: int, listeners: Sequence[Listener], what_for: str = "") -> None:
        self.listeners = listeners
        text = f"Another program listens at port {port} of {address}"
        if listeners:
            named = ", ".join(f"process {listener.pid} ({listener.command})" for listener in listeners)
            text += f": {named}. To end it: kill {' '.join(str(listener.pid) for listener in listeners)}"
        else:
            text += f". To see which: sudo lsof -nP -iTCP:{port} -sTCP:LISTEN"
        super().__init__(f"{text}.{what_for}")

    def is_taken_by(self, commands: Sequence[str]) -> bool:
        """Return True if what listens has one of these in its command."""
        return any(part in listener.command for listener in self.listeners for part in commands)
