"""Bounds of the numbers, texts and lists in foreign records, from a file or a reply.

Type checks alone admit a box of 1e300 points, a year of 400 digits and a million authors.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Bound:
    """The bounds of a field: of a number, the length of a text, or the entries of a list."""

    least: float = 0
    most: float = 1e9
    longest: int = 2_000
    entries: int = 10_000


USUAL = Bound()
"""The bound of every field without one of its own."""


class Bounds:
    """Bounds of the fields of records, by names such as "Box.page"; `USUAL` for all others.

    The bound of a list also applies to each text or number in it.
    """

    def __init__(self, named: Mapping[str, Bound]) -> None:
        self.named = MappingProxyType(dict(named))
        self._of_types: dict[type, tuple[tuple[str, Bound], ...]] = {}

    def fault_in(self, record: object) -> str:
        """Describe the first field of a record, or of a nested one, that is out of bounds, "" for none."""
        return next(self._faults_of(record), "")

    def _faults_of(self, record: object) -> Iterator[str]:
        kind = type(record)
        for name, bound in self._of_types.get(kind) or self._of_type(kind):
            yield from self._faults(getattr(record, name), name, bound)

    def _of_type(self, record: type) -> tuple[tuple[str, Bound], ...]:
        bounds = tuple(
            (name, self.named.get(f"{record.__name__}.{name}", USUAL))
            for name in vars(record)["__dataclass_fields__"]
        )
        self._of_types[record] = bounds
        return bounds

    def _faults(self, value: object, name: str, bound: Bound) -> Iterator[str]:
        if isinstance(value, str):
            if len(value) > bound.longest:
                yield f"its {name} has {len(value):,} characters, and at most {bound.longest:,} are read"
        elif isinstance(value, tuple):
            if len(value) > bound.entries:
                yield f"its {name} has {len(value):,} entries, and at most {bound.entries:,} are read"
            for entry in value:
                yield from self._faults(entry, name, bound)
        elif isinstance(value, int | float):
            # Written so that NaN is out of bounds.
            if not bound.least <= value <= bound.most:
                yield f"its {name} is a number that there cannot be"
        elif value is not None:
            yield from self._faults_of(value)
