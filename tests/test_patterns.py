"""Every regular expression of the product, timed on growing hostile strings: none freezes the server.

What is measured are ratios: to what a plain quadratic pattern costs on the same machine, and to what half as
long a text costs. A pattern may cost one and a half times as much as the plain one, which takes about two
seconds for 20,000 characters: so none takes much more than three for as many.
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
from re import _constants as ops  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from types import ModuleType
from typing import Any, NamedTuple

import pytest
from pydantic import BaseModel

from assistant.questions import parts, perspective
from assistant.reading import cues, finding

ROOT = Path(__file__).parents[1]
PACKAGES = ("corpus", "indexer", "assistant", "explorer", "evaluation", "training")
# Close together where an exponential pattern begins to show: it doubles with every character.
LENGTHS = (16, 18, 20, 24, 32, 64, 128, 256, 512, 1024)
# How much more than the plain pattern, and than half the length; four times as much is quadratic.
DEARER = 1.5
GROWTH = 3.3
LOOKS = 10
# A slow pattern is slow each time; one that other work made slow is not.
ROUNDS = 4
MOST_TEXTS = 150
CHARACTERS = "a1A .,-*\n([\"'_:/é<{#"
PAIRS = (
    "a ",
    "a1",
    "1 ",
    "A ",
    "A.",
    "a.",
    "a,",
    "a-",
    "1,",
    "a\n",
    " \n",
    "()",
    "[1]",
    "a'",
    "et ",
    "and ",
    "A a ",
)
REPEATS = (ops.MAX_REPEAT, ops.MIN_REPEAT, ops.POSSESSIVE_REPEAT)
MANY = 20
FUNCTIONS = {"compile", "search", "match", "fullmatch", "split", "findall", "finditer", "sub", "subn"}


class Found(NamedTuple):
    """A pattern of the product: where it stands, and whether it is only ever tried where a text begins."""

    place: str
    pattern: re.Pattern[Any]
    is_anchored: bool = False

    def cost(self, text: str, clock: Callable[[], float] = time.process_time) -> float:
        subject: Any = text.encode("latin-1") if isinstance(self.pattern.pattern, bytes) else text
        began = clock()
        if self.is_anchored:
            self.pattern.match(subject)
            self.pattern.fullmatch(subject)
        else:
            for _ in self.pattern.finditer(subject):
                pass
        return clock() - began


PLAIN = Found("the plain pattern", re.compile(r"\s+$"))
PLAIN_TEXT = " " * LENGTHS[-1] + "x"


# Patterns that a function takes from a table of its module, or from a file.
BUILT: dict[str, Callable[[], Iterable[str]]] = {
    "assistant.questions.parts": lambda: [one.pattern for one in _held(parts.part_cues())],
    "assistant.questions.perspective": lambda: [said.pattern for _, said in perspective.known()],
    "assistant.reading.cues": lambda: [one.pattern for one in _held(cues.cues().elements)],
    "assistant.reading.finding": lambda: [pattern for _, pattern in (*finding._LEADS, *finding._HEADINGS)],
}


# Patterns for texts that are short whatever comes in: of what stands between one pair of brackets.
BOUNDED = {"evaluation.summaries.citation_style._ENTRY"}


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
    """Notice modules that come by `re` another way: their patterns would not be among those timed."""
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
        for one in value:
            yield from _held(one, depth - 1)
    elif depth and isinstance(value, BaseModel):
        yield from _held(list(dict(value).values()), depth - 1)
    elif depth and is_dataclass(value) and not isinstance(value, type):
        yield from _held([getattr(value, field.name) for field in fields(value)], depth - 1)


def _methods(tree: ast.Module) -> dict[str, set[str]]:
    """Return the attributes that are read of each name of a module, and "" where it is handed on."""
    done: dict[str, set[str]] = {}
    read = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            done.setdefault(node.value.id, set()).add(node.attr)
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
        yield Found(place, pattern, bool(done[key]) and done[key] <= {"match", "fullmatch"})


def _written_in_functions() -> Iterator[Found]:
    for name, (module, tree) in modules().items():
        known = Placeholder(vars(module))
        functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.Lambda))
        for node in dict.fromkeys(inside for one in functions for inside in ast.walk(one)):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args):
                continue
            owner = node.func.value
            if not (isinstance(owner, ast.Name) and owner.id == "re" and node.func.attr in FUNCTIONS):
                continue
            flags = [one.value for one in node.keywords if one.arg == "flags"]
            at = {"compile": 1, "split": 9, "sub": 9, "subn": 9}.get(node.func.attr, 2)
            flags += node.args[at : at + 1]
            try:
                text, flag = (
                    eval(compile(ast.Expression(one), name, "eval"), {}, known) if one else 0
                    for one in (node.args[0], flags[0] if flags else None)
                )
                pattern = re.compile(text, flag)
            except TypeError:
                text = "word"
            if text == "word":
                assert name in BUILT, (
                    f"{name}:{node.lineno} takes patterns from elsewhere: name them in BUILT"
                )
                continue
            yield Found(f"{name}:{node.lineno}", pattern, node.func.attr in {"match", "fullmatch"})


def _one(item: Any, variant: int) -> str:
    """Return a text that an item of a parsed pattern takes, another one for each variant."""
    kind, value = item
    if kind is ops.LITERAL:
        return chr(value)
    if kind in (ops.NOT_LITERAL, ops.ANY, ops.IN, ops.CATEGORY):
        taken = _taken(kind, value)
        return taken[variant % len(taken)] if taken else ""
    if kind is ops.BRANCH:
        return _text(value[1][variant % len(value[1])], variant)
    if kind in (ops.SUBPATTERN, *REPEATS):
        return _text(value[-1], variant) * (max(1, value[0]) if kind in REPEATS and value[0] < MANY else 1)
    return _text(value, variant) if kind is ops.ATOMIC_GROUP else ""


@cache
def _universe() -> str:
    return CHARACTERS + "".join(map(chr, range(33, 127))) + "–—’“”•…§†\t"


def _taken(kind: Any, value: Any) -> str:
    tree = parser.parse("a")
    tree[0] = (kind, value)
    return _first(str(value), re._compiler.compile(tree))


@cache
def _first(_: str, one: re.Pattern[str]) -> str:
    return "".join(character for character in _universe() if one.fullmatch(character))[:6]


def _text(tree: Iterable[Any], variant: int = 0) -> str:
    return "".join(_one(item, variant) for item in tree)


def _pumps(tree: Iterable[Any], head: str = "") -> Iterator[tuple[str, str]]:
    """Yield what may stand before a repetition of a parsed pattern, and what it repeats."""
    for kind, value in tree:
        if kind in REPEATS:
            if value[1] > MANY:
                bodies = dict.fromkeys(_text(value[-1], variant) for variant in range(4))
                for body in filter(None, bodies):
                    yield head, body
                    yield "", head + body
                    yield head, head + body
                    yield head, body + " "
            yield from _pumps(value[-1], head)
        elif kind is ops.BRANCH:
            for branch in value[1]:
                yield from _pumps(branch, head)
        elif kind in (ops.SUBPATTERN, ops.ATOMIC_GROUP):
            yield from _pumps(value if kind is ops.ATOMIC_GROUP else value[-1], head)
        elif kind in (ops.ASSERT, ops.ASSERT_NOT):
            yield from _pumps(value[1], head)
        head += _one((kind, value), 0)
    if head:
        yield "", head


def hostile(pattern: re.Pattern[Any]) -> Iterator[Callable[[int], str]]:
    """Yield makers of texts of a length, by which such a pattern may be slow."""
    source = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    tree = parser.parse(source, pattern.flags)
    for head, body in islice(
        dict.fromkeys([*(("", one) for one in (*CHARACTERS, *PAIRS)), *_pumps(tree)]), MOST_TEXTS
    ):

        def text(length: int, head: str = head, body: str = body) -> str:
            return head + body * (length // len(body)) + "\x01"

        yield text


class Slow(NamedTuple):
    growth: float
    text: str


def _slowest(found: Found, limit: float) -> Slow | None:
    """Return how slow a pattern is by the first text that shows it, None where none costs over `limit`."""
    for text in hostile(found.pattern):
        for length in LENGTHS:
            if found.cost(text(length), time.perf_counter) > limit and (slow := _surely(found, text, length)):
                return slow
    return None


def _surely(found: Found, text: Callable[[int], str], length: int) -> Slow | None:
    """Return how slow a pattern is, looked at in turns with the plain one: other work makes both dearer."""
    longer, shorter = text(length), text(length // 2)
    slow = None
    for _ in range(ROUNDS):
        looks = [(PLAIN.cost(PLAIN_TEXT), found.cost(longer), found.cost(shorter)) for _ in range(LOOKS)]
        plain, cost, half = map(min, zip(*looks, strict=True))
        if cost <= DEARER * plain or cost <= GROWTH * half:
            return None
        slow = Slow(cost / half, text(30))
    return slow


def _built() -> Iterator[Found]:
    for name, texts in BUILT.items():
        for number, text in enumerate(texts()):
            yield Found(f"{name}, {number}", re.compile(text, re.IGNORECASE), name.endswith("finding"))


@cache
def all_patterns() -> tuple[Found, ...]:
    found = (*_written_in_functions(), *_built(), *_constants())
    return tuple({(one.pattern, one.is_anchored): one for one in found}.values())


def test_patterns_of_every_package_are_found() -> None:
    assert {one.place.partition(".")[0] for one in all_patterns()} == set(PACKAGES)


@pytest.mark.parametrize("pattern", [r"(\S*[A-Z]){2}", r"(?:a+)+b", r"\s*(\w+\s*)*\d", r"\w+\s*\w+:"])
def test_a_pattern_that_would_freeze_the_server_is_noticed(pattern: str) -> None:
    assert _slowest(Found("here", re.compile(pattern)), DEARER * _plain_cost())


def test_no_pattern_freezes_the_server() -> None:
    limit = DEARER * _plain_cost()
    slow = {found: _slowest(found, limit) for found in all_patterns() if found.place not in BOUNDED}
    told = [
        f"{found.place}: {one.growth:.1f} times as long for twice {one.text!r}: {found.pattern.pattern!r}"
        for found, one in slow.items()
        if one
    ]
    assert not told, "\n".join(map(str, told))


def _plain_cost() -> float:
    return min(PLAIN.cost(PLAIN_TEXT) for _ in range(LOOKS))
