"""Every regular expression of the product takes time in proportion to the text, however hostile the text.

`pattern_ambiguity` proves most of them linear by their structure. The others are timed on the texts that it
finds. Only ratios of CPU time are compared: with that of a plain linear pattern, and between a text and one
eight times as long. So a pattern that passes is linear at 200,000 characters too.
"""

import ast
import builtins
import importlib
import re
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest
from pydantic import BaseModel

from assistant.questions import parts, perspective
from assistant.reading import cues, finding
from tests.pattern_ambiguity import Pump, pumps

ROOT = Path(__file__).parents[1]
PACKAGES = ("corpus", "indexer", "assistant", "explorer", "deployment", "evaluation", "training")
FUNCTIONS = {"compile", "search", "match", "fullmatch", "split", "findall", "finditer", "sub", "subn"}
# An exponential pattern doubles with every character: it must be stopped at the first of these.
SHORT = (16, 20, 24, 32, 64, 128, 256, 1024, 4096)
LONG = 16_000
# A quadratic pattern takes 64 times as long for the second, a linear one eight times.
GROWTH_LENGTHS = (4_000, 32_000)
STEEPEST = 22.0
# In times of the plain pattern's cost: cheaper ones are not quadratic, dearer ones fail however they grow.
SUSPECT, DEAREST = 1.5, 100.0
# From a text to one four times as long a quadratic pattern quadruples that, a linear one keeps it.
LIKE_BEFORE = 1.6
LOOKS = 3
MOST_PUMPS = 40
# Endings of a text: nothing that a pattern may wait for, each kind of character, all of ASCII.
ENDS = ("\x01", "\x01éa1A \n\x01", "".join(map(chr, range(32, 127))) + "\n\x01")


class Found(NamedTuple):
    """A pattern of the product: where it stands, and how it is tried."""

    place: str
    pattern: re.Pattern[Any]
    methods: frozenset[str] = frozenset({"search"})

    @property
    def is_anchored(self) -> bool:
        """Return True if the pattern is only ever tried where a text begins."""
        return self.methods <= {"match", "fullmatch"}

    def cost(self, text: str) -> float:
        """Return the CPU seconds that all matches of the pattern in `text` take."""
        subject: Any = text.encode("latin-1", "replace") if isinstance(self.pattern.pattern, bytes) else text
        began = time.process_time()
        if self.is_anchored:
            for method in self.methods:
                getattr(self.pattern, method)(subject)
        else:
            for _ in self.pattern.finditer(subject):
                pass
        return time.process_time() - began

    def least_cost(self, text: str) -> float:
        return min(self.cost(text) for _ in range(LOOKS))


PLAIN = Found("the plain pattern", re.compile(r"(?:[^\W\d_]|.)x?"))


@cache
def plain_cost(length: int) -> float:
    return PLAIN.least_cost(" " * length)


# Patterns that a function takes from a table of its module, or from a file.
BUILT: dict[str, Callable[[], Iterable[str]]] = {
    "assistant.questions.parts": lambda: [part.pattern for part in _held(parts.part_cues())],
    "assistant.questions.perspective": lambda: [said.pattern for _, said, _ in perspective.known()],
    "assistant.reading.cues": lambda: [cue.pattern for cue in _held(cues.cues().elements)],
    "assistant.reading.finding": lambda: [pattern for _, pattern in (*finding._LEADS, *finding._HEADINGS)],
}


class Unknown(str):
    """A word for a value that only a call knows, and for whatever is read of it."""

    __slots__ = ()

    def __getattr__(self, _: str) -> "Unknown":
        return self


class Placeholder(dict[str, Any]):
    """The names of a module, and "word" for what only a call knows."""

    def __missing__(self, name: str) -> Any:
        if name in vars(builtins):
            raise KeyError(name)
        return Unknown("word")


@cache
def modules() -> dict[str, tuple[ModuleType, ast.Module]]:
    found = {}
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            source = path.read_text(encoding="utf-8")
            if re.search(r"^import re$", source, re.MULTILINE):
                name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
                found[name] = importlib.import_module(name), ast.parse(source)
    return found


def test_nothing_else_makes_patterns() -> None:
    """Notice modules that come by `re` another way: their patterns would not be among those measured."""
    other = re.compile(
        r"^[ \t]*(?:from (?:re|regex|re2) |import (?:regex|re2)\b|import re(?:,| as)|[ \t]+import re$)",
        re.M,
    )
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            assert not other.search(path.read_text(encoding="utf-8")), path


def _held(value: Any, depth: int = 5) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif depth and isinstance(value, dict):
        yield from _held(tuple(value.values()), depth)
    elif depth and isinstance(value, list | tuple | set | frozenset):
        for held in value:
            yield from _held(held, depth - 1)
    elif depth and isinstance(value, BaseModel):
        yield from _held(list(dict(value).values()), depth - 1)
    elif depth and is_dataclass(value) and not isinstance(value, type):
        yield from _held([getattr(value, field.name) for field in fields(value)], depth - 1)


def _methods(tree: ast.Module) -> dict[str, set[str]]:
    """Return the attributes that are read of each name of a module, and "" where it is used in another way.

    A match from a given position on may be tried at each position, as a search is.
    """
    done: dict[str, set[str]] = {}
    called = {id(node.func): node for node in ast.walk(tree) if isinstance(node, ast.Call)}
    read = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            call = called.get(id(node))
            is_from_a_position = call is not None and len(call.args) > 1
            done.setdefault(node.value.id, set()).add("" if is_from_a_position else node.attr)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and id(node) not in read:
            done.setdefault(node.id, set()).add("")
    return done


def _constants() -> Iterator[Found]:
    done: dict[int, set[str]] = {}
    held: dict[int, tuple[str, re.Pattern[Any]]] = {}
    for name, (module, tree) in modules().items():
        methods = _methods(tree)
        for constant, value in vars(module).items():
            for pattern in _held(value):
                held.setdefault(id(pattern), (f"{name}.{constant}", pattern))
                used = methods.get(constant, set()) if isinstance(value, re.Pattern) else {""}
                done.setdefault(id(pattern), set()).update(used)
    for key, (place, pattern) in held.items():
        yield Found(place, pattern, frozenset(done[key] or {"search"}))


def _written_in_functions() -> Iterator[Found]:
    for name, (module, tree) in modules().items():
        known = Placeholder(vars(module))
        inner = (
            node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.Lambda | ast.ClassDef)
        )
        for node in dict.fromkeys(inside for outer in inner for inside in ast.walk(outer)):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args):
                continue
            owner = node.func.value
            if not (isinstance(owner, ast.Name) and owner.id == "re" and node.func.attr in FUNCTIONS):
                continue
            flags = [keyword.value for keyword in node.keywords if keyword.arg == "flags"]
            at = {"compile": 1, "split": 9, "sub": 9, "subn": 9}.get(node.func.attr, 2)
            flags += node.args[at : at + 1]
            try:
                text, flag = (
                    eval(compile(ast.Expression(part), name, "eval"), {}, known) if part else 0
                    for part in (node.args[0], flags[0] if flags else None)
                )
                pattern = re.compile(text, flag)
            except TypeError:
                text = "word"
            if text == "word":
                assert name in BUILT, (
                    f"{name}:{node.lineno} takes patterns from elsewhere: name them in BUILT"
                )
                continue
            yield Found(f"{name}:{node.lineno}", pattern, frozenset({node.func.attr}))


def _built() -> Iterator[Found]:
    for name, texts in BUILT.items():
        for number, text in enumerate(texts()):
            method = "match" if name.endswith("finding") else "search"
            yield Found(f"{name}, {number}", re.compile(text, re.IGNORECASE), frozenset({method}))


@cache
def all_patterns() -> tuple[Found, ...]:
    found = (*_written_in_functions(), *_built(), *_constants())
    return tuple({(each.pattern, each.methods): each for each in found}.values())


class Slow(NamedTuple):
    """A pattern that is too slow: its cost relative to the plain pattern, its growth, and the text."""

    times_plain: float
    growth: float
    text: str


def slowest(found: Found) -> Slow | None:
    """Return the first text on which a pattern is slow, None where it is linear."""
    for pump in islice(dict.fromkeys(pumps(found.pattern, is_search=not found.is_anchored)), MOST_PUMPS):
        costs = []
        for end in ENDS:
            for length in SHORT:
                times = _times_plain(found, pump.text(length, end), length)
                if times > DEAREST:
                    return Slow(times, 0, pump.text(30, end))
            costs.append((times, end))
        if slow := _growth(found, pump, *max(costs)):
            return slow
    return None


def _times_plain(found: Found, text: str, length: int) -> float:
    times = found.cost(text) / plain_cost(length)
    return times if times <= DEAREST else found.least_cost(text) / plain_cost(length)


def _growth(found: Found, pump: Pump, before: float, end: str) -> Slow | None:
    """Return the growth of a pattern's cost, None where it is in proportion to the text."""
    times = _times_plain(found, pump.text(LONG, end), LONG)
    if times > DEAREST:
        return Slow(times, 0, pump.text(30, end))
    if times <= max(SUSPECT, LIKE_BEFORE * before):
        return None
    shorter, longer = (pump.text(length, end) for length in GROWTH_LENGTHS)
    limit = STEEPEST * found.least_cost(shorter)
    if found.cost(longer) <= limit or (cost := found.least_cost(longer)) <= limit:
        return None
    return Slow(times, STEEPEST * cost / limit, pump.text(30, end))


def test_patterns_of_every_package_are_found() -> None:
    assert {found.place.partition(".")[0] for found in all_patterns()} == set(PACKAGES)


@pytest.mark.parametrize(
    "pattern",
    [
        *(r"(\S*[A-Z]){2}", r"(?:a+)+b", r"\s*(\w+\s*)*\d", r"\w+\s*\w+:", r"(?:a|a)*b"),
        *(r"\s+$", r"a+b", r".*x", r"\s*\[\d+\]", r"“[^”]*”", r"(?<!\w)[\w-]+x", r"[^.]*$", r"(?=\w*x)"),
        *(r"\ba longer beginning [^x]*x", r":.*$", r"\bdo\b.* ([a-z]+)\W*$"),
    ],
)
def test_a_pattern_that_would_freeze_the_server_is_noticed(pattern: str) -> None:
    assert slowest(Found("here", re.compile(pattern)))


@pytest.mark.parametrize(
    "pattern",
    [
        r"\b(?:member|fellow) (?:of )*the",
        r"(?<!\s)\s+$",
        r"(?<!\s)\s++x",
        r"“[^“”]*”",
        r"\s+",
        r"a\s*b",
        r"[^\W_]+",
        r"\(\w{1,40}\)",
    ],
)
def test_a_linear_pattern_is_no_fault(pattern: str) -> None:
    assert not slowest(Found("here", re.compile(pattern)))


def test_no_pattern_freezes_the_server() -> None:
    told = [
        f"{found.place}: {slow.times_plain:.0f} times the plain pattern, {slow.growth:.0f} times as long for "
        f"eight times {slow.text!r}: {found.pattern.pattern!r}"
        for found in all_patterns()
        if (slow := slowest(found))
    ]
    assert not told, "\n".join(told)
