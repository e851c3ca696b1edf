"""Files of JSON lines to which is added at once what was paid for, so that a killed run loses none of it."""

import json
import os
import threading
from pathlib import Path

from evaluation.input_files import EvaluationError, Form, read_text, record_of


class KeptLines:
    """A file of records that all begin with the same field, a text; it need not be there yet.

    The line that a run was writing when it was killed is left out. Safe to share between threads.
    """

    def __init__(self, path: Path, first_field: str) -> None:
        self._path = path
        self._beginning = f'{{"{first_field}": "'
        self._writing = threading.Lock()

    def read(self, form: type[Form], what: str, hint: str) -> list[Form]:
        """Return the records in their order; raises EvaluationError that names the line at fault."""
        if not self._path.exists():
            return []
        lines = enumerate(read_text(self._path, what).split("\n"), start=1)
        return [
            record_of(self._path, number, line, form, hint)
            for number, line in lines
            if line.strip() and not self._is_torn(line)
        ]

    def begin(self) -> None:
        """Make sure that records can be kept before any is paid for; raises EvaluationError."""
        try:
            ends_torn = self._path.exists() and self._ends_torn()
        except OSError as error:
            raise self._unwritable(error) from error
        self._append("\n" if ends_torn else "")

    def add(self, record: dict[str, object]) -> None:
        """Write a record; raises EvaluationError."""
        self._append(f"{json.dumps(record)}\n")

    def _ends_torn(self) -> bool:
        with self._path.open("rb") as file:
            if not file.seek(0, os.SEEK_END):
                return False
            file.seek(-1, os.SEEK_END)
            return file.read() != b"\n"

    def _append(self, text: str) -> None:
        try:
            # In one piece, so that no other run's line comes between.
            with self._writing, self._path.open("ab", buffering=0) as file:
                file.write(text.encode())
        except OSError as error:
            raise self._unwritable(error) from error

    def _unwritable(self, error: OSError) -> EvaluationError:
        return EvaluationError(f"The file {self._path} cannot be written: {error.strerror}.")

    def _is_torn(self, line: str) -> bool:
        try:
            json.loads(line)
        except ValueError:
            return line.startswith(self._beginning[: len(line)])
        return False
