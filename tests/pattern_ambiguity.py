"""Find the texts on which a regular expression may take more than linear time, from its own structure.

A pattern becomes its position (Glushkov) automaton. Its first position skips any text, as a search does.
A backtracking engine takes more than linear time only where two positions both repeat on a word that also
leads from the one to the other (polynomial), or where a word leads from a position back to it on two paths
(exponential): Weideman et al., "Analyzing Matching Time Behavior of Backtracking Regular Expression Matchers
by Using Ambiguity of NFA", 2016. Assertions and possessive repeats hold nothing back here, so the automaton
has every path that the pattern has, and more: a pattern without such a word is linear, others are measured.
"""

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from re import _constants as ops  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

# A count beyond this reads as "any number": short counted repeats are written out.
LONGEST_COPIED = 6
# Most states of a product of automata that a search for a word visits.
MOST_STATES = 30_000
ALPHABET = "a1A .,-*\n([\"'_:/é<{#" + "".join(map(chr, range(33, 127))) + "–—’“”•…§†‘«»\t\u00a0\u0301\u200b中"
# The first position skips text: a search tries the pattern at each character.
SKIP = 0
State = tuple[int, ...]
REPEATS = (ops.MAX_REPEAT, ops.MIN_REPEAT, ops.POSSESSIVE_REPEAT)


@dataclass(frozen=True, slots=True)
class Pump:
    """A word to repeat, and a text before it that leads into the pattern."""

    prefix: str
    word: str

    def text(self, length: int, end: str) -> str:
        """Return a text of about `length` characters that repeats the word."""
        return self.prefix + self.word * (length // len(self.word)) + end


def pumps(pattern: re.Pattern[Any], is_search: bool = True) -> Iterator[Pump]:
    """Yield words whose repetition may take a pattern more than linear time: none if it is surely linear."""
    source = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    return (pump for pump in _Automaton(source, pattern.flags, is_search).pumps() if pump.word)


@dataclass(slots=True)
class _Machine:
    """A Thompson automaton: `taken` holds the characters that a state takes as bits, -1 for an empty one."""

    taken: list[int] = field(default_factory=list)
    nexts: list[list[int]] = field(default_factory=list)

    def state(self, taken: int = -1) -> int:
        self.taken.append(taken)
        self.nexts.append([])
        return len(self.taken) - 1


class _Builder:
    def __init__(self, source: str, flags: int) -> None:
        self._tree = parser.parse(source, flags)
        self._flags = self._tree.state.flags
        literals = "".join(sorted(set(_literals(self._tree))))
        self.alphabet = "".join(dict.fromkeys(ALPHABET + literals))
        self.machine = _Machine()
        self._groups: dict[int, Any] = {}

    def build(self) -> tuple[int, _Machine]:
        begin = self.machine.state()
        self._sequence(self._tree, begin, self._flags)
        return begin, self.machine

    def _sequence(self, tree: Iterable[Any], at: int, flags: int) -> int:
        for kind, value in tree:
            at = self._item(kind, value, at, flags)
        return at

    def _item(self, kind: Any, value: Any, at: int, flags: int) -> int:  # noqa: PLR0911 - one for each kind
        machine = self.machine
        if kind in (ops.LITERAL, ops.NOT_LITERAL, ops.ANY, ops.IN, ops.CATEGORY):
            return self._step(at, _members(kind, value, flags, self.alphabet))
        if kind is ops.BRANCH:
            end = machine.state()
            for branch in value[1]:
                machine.nexts[self._sequence(branch, self._empty(at), flags)].append(end)
            return end
        if kind is ops.SUBPATTERN:
            group, added, dropped, body = value
            if group is not None:
                self._groups[group] = (body, (flags | added) & ~dropped)
            return self._sequence(body, at, (flags | added) & ~dropped)
        if kind is ops.ATOMIC_GROUP:
            return self._sequence(value, at, flags)
        if kind in REPEATS:
            return self._repeat(value, at, flags)
        if kind in (ops.ASSERT, ops.ASSERT_NOT):
            # Lookahead may scan far; lookbehind has a fixed width.
            if value[0] > 0:
                self._sequence(value[1], self._empty(at), flags)
            return at
        if kind is ops.GROUPREF:
            return self._sequence(self._groups[value][0], at, self._groups[value][1])
        if kind is ops.GROUPREF_EXISTS:
            end = machine.state()
            for body in (value[1], value[2] or ()):
                machine.nexts[self._sequence(body, self._empty(at), flags)].append(end)
            return end
        return at

    def _repeat(self, value: Any, at: int, flags: int) -> int:
        least, most, body = value
        machine = self.machine
        is_many = most is ops.MAXREPEAT or most > LONGEST_COPIED
        for _ in range(min(least, LONGEST_COPIED) - (1 if is_many and least else 0)):
            at = self._sequence(body, at, flags)
        if is_many:
            begin, end = self._empty(at), machine.state()
            last = self._sequence(body, begin, flags)
            machine.nexts[last] += [begin, end]
            if not least:
                machine.nexts[at].append(end)
            return end
        end = machine.state()
        for _ in range(most - least):
            machine.nexts[at].append(end)
            at = self._sequence(body, self._empty(at), flags)
        machine.nexts[at].append(end)
        return end

    def _empty(self, at: int) -> int:
        state = self.machine.state()
        self.machine.nexts[at].append(state)
        return state

    def _step(self, at: int, taken: int) -> int:
        state = self.machine.state(taken)
        self.machine.nexts[at].append(state)
        return state


def _literals(tree: Iterable[Any]) -> Iterator[str]:
    for item in tree:
        if isinstance(item, tuple) and len(item) == 2 and item[0] in (ops.LITERAL, ops.NOT_LITERAL):
            yield chr(item[1])
        elif isinstance(item, tuple) and len(item) == 2 and item[0] is ops.RANGE:
            yield chr(item[1][0])
        elif isinstance(item, tuple | list | parser.SubPattern):
            yield from _literals(item)


_known_members: dict[tuple[str, int, str], int] = {}


def _members(kind: Any, value: Any, flags: int, alphabet: str) -> int:
    """Return the characters of `alphabet` that an item of a parsed pattern takes, as bits."""
    key = (f"{kind} {value}", flags, alphabet)
    if key not in _known_members:
        tree = parser.parse("a")
        tree[0] = (kind, value)
        is_bytes = not flags & re.UNICODE and not flags & re.ASCII
        tree.state.flags = flags | (re.ASCII if is_bytes else 0)
        single = re._compiler.compile(tree, tree.state.flags)  # type: ignore[attr-defined]
        _known_members[key] = sum(
            1 << number for number, character in enumerate(alphabet) if single.fullmatch(character)
        )
    return _known_members[key]


class _Automaton:
    """The positions of a pattern: what each takes, and which may follow."""

    def __init__(self, source: str, flags: int = 0, is_search: bool = True) -> None:
        builder = _Builder(source, flags)
        begin, machine = builder.build()
        self.alphabet = builder.alphabet
        numbers = [state for state, taken in enumerate(machine.taken) if taken >= 0]
        position = {state: number for number, state in enumerate(numbers, 1)}
        self.taken = [(1 << len(self.alphabet)) - 1, *(machine.taken[state] for state in numbers)]
        self.follow: list[tuple[int, ...]] = []
        self.doubled: set[tuple[int, int]] = set()
        closures: dict[int, dict[int, int]] = {}
        for number, state in enumerate((begin, *numbers)):
            reached = closures.setdefault(state, _closure(machine, state))
            followers = [position[after] for after in reached]
            self.doubled |= {(number, position[after]) for after, ways in reached.items() if ways > 1}
            self.follow.append((SKIP, *followers) if number == SKIP and is_search else tuple(followers))
        self.components = _components(self.follow)

    def pumps(self) -> Iterator[Pump]:
        """Yield words whose repetition may take more than linear time: none if the pattern is linear."""
        members: dict[int, list[int]] = {}
        for position, component in enumerate(self.components):
            members.setdefault(component, []).append(position)
        loops = [
            positions
            for positions in members.values()
            if len(positions) > 1 or positions[0] in self.follow[positions[0]]
        ]
        for first in loops:
            prefix = self._prefix(first[0])
            if first[0] != SKIP:
                for word in self._doubled_words(first):
                    yield Pump(prefix, word)
            reachable = self._reachable(first[0])
            for second in loops:
                if second is not first and second[0] in reachable:
                    for word in self._shared_words(first, second, reachable):
                        yield Pump(prefix, word)

    def _reachable(self, begin: int) -> set[int]:
        return _closed({begin}, self.follow)

    def _prefix(self, position: int) -> str:
        """Return the shortest text that leads from the beginning of the pattern to a position."""
        if position == SKIP:
            return ""
        path = self._path((SKIP,), (position,), self._steps)
        return self._word(path) if path else ""

    def _steps(self, state: State) -> Iterator[State]:
        return ((position,) for position in self.follow[state[0]])

    def _shared_words(
        self, first: Sequence[int], second: Sequence[int], reachable: set[int]
    ) -> Iterator[str]:
        """Yield words on which `first` repeats, `second` repeats, and `first` leads to `second`."""
        inside_first, inside_second, begin = set(first), set(second), first[0]
        to_second = self._leading_to(second[0]) & reachable

        def successors(state: State) -> Iterator[State]:
            x, y, z = state
            for z_next in self.follow[z]:
                if z_next not in inside_second:
                    continue
                for y_next in self.follow[y]:
                    shared = self.taken[z_next] & self.taken[y_next]
                    if y_next not in to_second or not shared:
                        continue
                    for x_next in self.follow[x] if begin != SKIP else (SKIP,):
                        if x_next in inside_first and self.taken[x_next] & shared:
                            yield x_next, y_next, z_next

        for end in second:
            goal = (begin, end, end)
            path = self._path((begin, begin, end), goal, successors)
            if path:
                yield from self._words(path)
                if begin == SKIP:
                    yield from self._words_after(end, inside_second, goal, successors)

    def _words_after(
        self, end: int, inside: set[int], goal: State, successors: Callable[[State], Iterable[State]]
    ) -> Iterator[str]:
        """Yield words in which the pattern begins behind each kind of character, as lookbehinds may ask."""
        kinds: dict[str, tuple[int, str]] = {}
        for position in sorted(inside):
            for character in self._characters(self.taken[position]):
                kinds.setdefault(_kind(character), (position, character))

        def steps(state: State) -> Iterator[State]:
            return (after for after in self._steps(state) if after[0] in inside)

        for position, character in kinds.values():
            to = self._path((end,), (position,), steps)
            rest = self._path((SKIP, SKIP, position), goal, successors, begins_pattern=True)
            if to and rest:
                yield from (self._word(to)[:-1] + character + word for word in self._words(rest))

    def _doubled_words(self, component: Sequence[int]) -> Iterator[str]:
        """Yield a word that leads from a position back to it on two paths, where there is one."""
        inside, begin = set(component), component[0]

        def successors(state: State) -> Iterator[State]:
            x, y, is_parted = state
            for x_next in self.follow[x]:
                for y_next in self.follow[y]:
                    if x_next in inside and y_next in inside and self.taken[x_next] & self.taken[y_next]:
                        is_doubled = x_next != y_next or (x, x_next) in self.doubled
                        yield x_next, y_next, int(is_parted or is_doubled)

        path = self._path((begin, begin, 0), (begin, begin, 1), successors)
        if path:
            yield self._word([state[:2] for state in path])

    def _leading_to(self, position: int) -> set[int]:
        before: list[list[int]] = [[] for _ in self.follow]
        for state, followers in enumerate(self.follow):
            for after in followers:
                before[after].append(state)
        return _closed({position}, before)

    def _path(
        self,
        begin: State,
        goal: State,
        successors: Callable[[State], Iterable[State]],
        *,
        begins_pattern: bool = False,
    ) -> list[State] | None:
        """Return the shortest path of at least one step, its begin included, None where there is none.

        With `begins_pattern` the first step is the first of the pattern: it skips no text.
        """
        before: dict[State, State | None] = {}
        waiting: deque[tuple[State, bool]] = deque([(begin, True)])
        while waiting and len(before) < MOST_STATES:
            state, is_begin = waiting.popleft()
            for after in successors(state):
                if after in before or (begins_pattern and is_begin and after[1] == SKIP):
                    continue
                before[after] = None if is_begin else state
                if after == goal:
                    path = [after]
                    while (previous := before[path[-1]]) is not None:
                        path.append(previous)
                    return [begin, *reversed(path)]
                waiting.append((after, False))
        return None

    def _words(self, path: Sequence[State]) -> Iterator[str]:
        r"""Yield texts of a path, with as many characters of each kind as it takes: \b asks for some."""
        yield from dict.fromkeys(self._word(path, kind) for kind in ("", "space", "mark", "foreign"))

    def _word(self, path: Sequence[State], preferred: str = "") -> str:
        """Return a text that each position of a path but the first takes."""
        word = []
        for state in path[1:]:
            shared = -1
            for position in state:
                shared &= self.taken[position]
            characters = self._characters(shared)
            chosen = (character for character in characters if _kind(character) == preferred)
            word.append(next(chosen, characters[0]) if characters else "")
        return "".join(word)

    def _characters(self, taken: int) -> list[str]:
        return [character for number, character in enumerate(self.alphabet) if taken >> number & 1]


def _closure(machine: _Machine, state: int) -> dict[int, int]:
    """Return the consuming states that follow a state, with the number of ways there, two at most."""
    found: dict[int, int] = {}
    visits: dict[int, int] = {}
    waiting = [(after, (state,)) for after in machine.nexts[state]]
    while waiting:
        at, before = waiting.pop()
        if machine.taken[at] >= 0:
            found[at] = found.get(at, 0) + 1
        elif at not in before and visits.get(at, 0) < 2:
            visits[at] = visits.get(at, 0) + 1
            waiting += [(after, (*before, at)) for after in machine.nexts[at]]
    return found


def _closed(begin: set[int], nexts: Sequence[Iterable[int]]) -> set[int]:
    """Return all that can be reached from some positions, these included."""
    found, waiting = set(begin), list(begin)
    while waiting:
        for position in nexts[waiting.pop()]:
            if position not in found:
                found.add(position)
                waiting.append(position)
    return found


def _kind(character: str) -> str:
    if character.isspace():
        return "space"
    if not character.isascii():
        return "foreign"
    return "letter" if character.isalpha() else "digit" if character.isdecimal() else "mark"


def _components(follow: Sequence[Sequence[int]]) -> list[int]:
    """Return the number of the strongly connected component of each position (Tarjan)."""
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    component = [-1] * len(follow)
    stack: list[int] = []
    for root in range(len(follow)):
        if root in index:
            continue
        calls = [(root, iter(follow[root]))]
        index[root] = low[root] = len(index)
        stack.append(root)
        while calls:
            position, rest = calls[-1]
            for after in rest:
                if after not in index:
                    index[after] = low[after] = len(index)
                    stack.append(after)
                    calls.append((after, iter(follow[after])))
                    break
                if component[after] < 0:
                    low[position] = min(low[position], index[after])
            else:
                calls.pop()
                if calls:
                    low[calls[-1][0]] = min(low[calls[-1][0]], low[position])
                if low[position] == index[position]:
                    while True:
                        member = stack.pop()
                        component[member] = position
                        if member == position:
                            break
    return component
