"""Style sheets of web pages: the declarations that apply to an element, cascaded as in browsers.

Selectors of elements, classes, ids, `*`, descendants and children are matched; rules with other selectors,
for other media than screens, and in external files are ignored.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from lxml import etree

from indexer.errors import ParseError

LARGEST_SHEETS = 4 * 1024 * 1024
"""Characters of all style sheets of a page."""
MOST_MATCHES = 10_000_000
"""The most comparisons of selectors with elements of a page."""

_SCREEN = {"width": 1280.0, "height": 800.0}
_TOKEN = re.compile(
    r"/\*.*?(?:\*/|\Z)|\"(?:[^\"\\\n]|\\.)*\"?|'(?:[^'\\\n]|\\.)*'?|\\.|[{};]|[^{};\"'\\/]+|/", re.DOTALL
)
_ESCAPE = re.compile(r"\\(?:([0-9a-fA-F]{1,6})\s?|(.))", re.DOTALL)
_COMPOUND = re.compile(r"(\*|[\w-]+)?((?:[.#][\w-]+)*)(?::root)?")
_FEATURE = re.compile(
    r"\((?:(?P<end>min|max)-)?(?P<side>width|height)(?P<sign>:|>=?|<=?)(?P<size>\d{1,9}(?:\.\d{1,9})?)"
    r"(?P<unit>px|em|rem)?\)"
)
_MET = frozenset(
    "all screen (color) (width) (height) (hover) (hover:hover) (any-hover:hover) (pointer) (pointer:fine) "
    "(any-pointer:fine) (orientation:landscape) (prefers-color-scheme:light)".split()
)
_GROUPS = ("@media", "@supports", "@layer", "@container", "@scope")
_IMPORTANT = "!important"
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_DECLARATION = re.compile(
    r"((?:[^;\"'()]|\"(?:[^\"\\]|\\.)*\"?|'(?:[^'\\]|\\.)*'?|\((?:[^()]|\([^()]*\))*\)?|\))*);?", re.DOTALL
)

_LONG_FORMS = {
    "background": ("background-color", "background-image"),
    "font": ("font-size",),
    "overflow": ("overflow-x", "overflow-y"),
    "inset": ("top", "right", "bottom", "left"),
    "margin": ("margin-top", "margin-right", "margin-bottom", "margin-left"),
}
"""The properties that short forms set, each to the whole value."""

_LONGEST_VALUE = 2_000

Declarations = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Compound:
    """A compound selector; if `is_child`, the compound to its left is the parent."""

    tag: str
    classes: frozenset[str]
    name: str
    is_child: bool

    def parts(self) -> list[str]:
        named = [self.tag] if self.tag != "*" else []
        return [*named, *([f"#{self.name}"] if self.name else []), *(f".{name}" for name in self.classes)]


@dataclass(frozen=True, slots=True)
class _Rule:
    """A rule for one selector; `around` are the tags, classes and ids required of ancestors."""

    compounds: tuple[_Compound, ...]
    around: frozenset[str]
    weight: tuple[int, int, int]
    order: int
    declarations: tuple[tuple[str, str, bool], ...]


@dataclass(slots=True)
class StyleSheets:
    """The style sheets of a page; `enter` and `leave` follow its elements in document order."""

    is_understood: Callable[[str, str], bool]
    _by_part: dict[str, list[_Rule]] = field(default_factory=dict)
    _around: Counter[str] = field(default_factory=Counter)
    _matches: int = 0
    _names: dict[etree._Element, tuple[str, str, frozenset[str]]] = field(default_factory=dict)

    @classmethod
    def of_page(cls, page: etree._Element, is_understood: Callable[[str, str], bool]) -> "StyleSheets":
        """Read the sheets of a page; raises ParseError if they are too long.

        Declarations that `is_understood` rejects, by property and value, do not override earlier ones.
        """
        sheets = cls(is_understood)
        texts = [
            "".join(str(text) for text in sheet.itertext())
            for sheet in page.iter("style")
            if _is_applied(sheet.get("media") or "") and "css" in (sheet.get("type") or "text/css").lower()
        ]
        if sum(map(len, texts)) > LARGEST_SHEETS:
            raise ParseError("the page's style sheets are too long to be read")
        for order, (selector, body) in enumerate(rule for text in texts for rule in _rules(text)):
            declarations = tuple(sheets._declared(body))
            for alternative in selector.split(",") if declarations else ():
                if compounds := _compounds(alternative):
                    last = compounds[-1]
                    part = f"#{last.name}" if last.name else next((f".{c}" for c in last.classes), last.tag)
                    around = frozenset(name for above in compounds[:-1] for name in above.parts())
                    rule = _Rule(compounds, around, _weight(compounds), order, declarations)
                    sheets._by_part.setdefault(part, []).append(rule)
        return sheets

    def enter(self, element: etree._Element) -> Declarations:
        """Return the value of each property set by rules or the element's own style."""
        declarations = self._declarations(element)
        if self._by_part:
            self._around.update(self._parts_of(element))
        return declarations

    def leave(self, element: etree._Element) -> None:
        """Undo `enter`."""
        for part in self._parts_of(element) if self._by_part else ():
            self._around[part] -= 1
            if not self._around[part]:
                del self._around[part]

    def _declarations(self, element: etree._Element) -> Declarations:
        style = element.get("style")
        if not self._by_part and not style:
            return {}
        ranked: dict[str, tuple[tuple[bool, bool, tuple[int, int, int], int], str]] = {}
        around = self._around.keys()
        for part in (*self._parts_of(element), "*"):
            rules = self._by_part.get(part, ())
            self._count(len(rules))
            for rule in rules:
                if rule.around <= around and self._holds(rule.compounds, element):
                    _add(ranked, rule.declarations, False, rule.weight, rule.order)
        if style:
            _add(ranked, self._declared(style), True, (0, 0, 0), 0)
        return {name: value for name, (_, value) in ranked.items()}

    def _holds(self, compounds: tuple[_Compound, ...], element: etree._Element) -> bool:
        """Return True if a selector matches an element; ancestors are tried from the nearest."""
        current: etree._Element | None = element
        for place, compound in enumerate(reversed(compounds)):
            is_free = place > 0 and not compounds[len(compounds) - place].is_child
            while current is not None:
                self._count(1)
                tag, name, classes = self._names_of(current)
                is_named = compound.tag in ("*", tag) and compound.name in ("", name)
                if is_named and compound.classes <= classes:
                    break
                current = current.getparent() if is_free else None
            if current is None:
                return False
            current = current.getparent()
        return True

    def _declared(self, body: str) -> Iterator[tuple[str, str, bool]]:
        """Yield a style's declarations, with short forms expanded."""
        for name, value, is_important in _declarations(body):
            if not self.is_understood(name, value):
                continue
            longs = _LONG_FORMS.get(name, (name,))
            values = four(value) if len(longs) == 4 else (value,) * len(longs)
            for long, part in zip(longs, values, strict=False):
                yield long, part, is_important

    def _count(self, matches: int) -> None:
        self._matches += matches
        if self._matches > MOST_MATCHES:
            raise ParseError("the page's style sheets are too long to be read")

    def _parts_of(self, element: etree._Element) -> tuple[str, ...]:
        """Return the tag, id and classes of an element as selectors name them."""
        tag, name, classes = self._names_of(element)
        return tag, *([f"#{name}"] if name else []), *(f".{name}" for name in classes)

    def _names_of(self, element: etree._Element) -> tuple[str, str, frozenset[str]]:
        """Return tag, id and classes in lower case, as browsers compare them in quirks mode."""
        if element not in self._names:
            tag = element.tag.lower() if isinstance(element.tag, str) else ""
            classes = frozenset((element.get("class") or "").lower().split())
            self._names[element] = tag, (element.get("id") or "").lower(), classes
        return self._names[element]


def _add(
    ranked: dict[str, tuple[tuple[bool, bool, tuple[int, int, int], int], str]],
    declarations: Iterable[tuple[str, str, bool]],
    is_own: bool,
    weight: tuple[int, int, int],
    order: int,
) -> None:
    for name, value, is_important in declarations:
        rank = is_important, is_own, weight, order
        if name not in ranked or rank >= ranked[name][0]:
            ranked[name] = rank, value


def _rules(sheet: str) -> Iterator[tuple[str, str]]:
    """Yield the selectors and declarations of the rules that apply to screens."""
    stack: list[tuple[str, list[str], bool]] = []  # selector or at-rule, the text around, whether it applies
    text: list[str] = []
    for part in (*(match[0] for match in _TOKEN.finditer(sheet)), *"}" * 64):
        if part.startswith("/*"):
            continue
        if part == "{":
            # The text before a rule within a rule may hold declarations.
            start = len(text)
            while start and text[start - 1] != ";":
                start -= 1
            before = "".join(text[start:]).strip().removeprefix("<!--").removeprefix("-->").strip()
            del text[start:]
            is_within_rule = bool(stack) and not stack[-1][0].startswith("@")
            applies = (not stack or stack[-1][2]) and not is_within_rule
            if before.startswith("@"):
                applies = applies and before.lower().startswith(_GROUPS) and _applies(before)
            stack.append((before, text, applies))
            text = []
        elif part == "}" and stack:
            before, outer, applies = stack.pop()
            if applies and not before.startswith("@"):
                yield _unescaped(before), "".join(text)
            text = outer
        elif part in ";}" and (not stack or stack[-1][0].startswith("@")):
            text = []
        else:
            text.append(part)


def _applies(group: str) -> bool:
    lowered = group.lower()
    if lowered.startswith("@media"):
        return _is_applied(lowered.removeprefix("@media"))
    return " not " not in lowered.replace("(", " (") or lowered.startswith("@layer")


@lru_cache(256)
def _is_applied(media: str) -> bool:
    """Return True if a media query list matches a usual screen."""
    return not media.strip() or any(_is_met(query.strip().lower()) for query in media.split(","))


def _is_met(query: str) -> bool:
    if query.startswith("not "):
        return not _is_met(query.removeprefix("not ").strip())
    for part in re.split(r"\sand\s", f" {query} "):
        condition = "".join(part.split()).removeprefix("only")
        if condition in _MET:
            continue
        feature = _FEATURE.fullmatch(condition)
        if feature is None:
            return False
        size = float(feature["size"]) * (16 if feature["unit"] in ("em", "rem") else 1)
        is_least = feature["end"] == "min" or ">" in feature["sign"]
        if (_SCREEN[feature["side"]] < size) if is_least else (_SCREEN[feature["side"]] > size):
            return False
    return True


def _declarations(body: str) -> Iterator[tuple[str, str, bool]]:
    """Yield the properties of a style, their values in lower case, and whether they are important."""
    for match in _DECLARATION.finditer(_COMMENT.sub("", body)):
        name, colon, value = match[1].partition(":")
        if colon:
            text = " ".join(_unescaped(value[:_LONGEST_VALUE]).lower().split())
            is_important = "".join(text.split()).endswith(_IMPORTANT)
            yield (
                _unescaped(name).strip().lower(),
                text.rpartition("!")[0].strip() if is_important else text,
                is_important,
            )


def _compounds(selector: str) -> tuple[_Compound, ...]:
    """Return the compounds of a selector, none if any is not supported."""
    compounds = []
    is_child = False
    for part in selector.lower().replace(">", " > ").split():
        if part == ">":
            is_child = True
            continue
        match = _COMPOUND.fullmatch(part)
        if match is None or not part:
            return ()
        names = re.findall(r"[.#][\w-]+", match[2])
        ids = [name[1:] for name in names if name[0] == "#"]
        if len(set(ids)) > 1:
            return ()
        tag = "html" if part.endswith(":root") and not match[1] else match[1] or "*"
        classes = frozenset(name[1:] for name in names if name[0] == ".")
        compounds.append(_Compound(tag, classes, ids[0] if ids else "", is_child))
        is_child = False
    return tuple(compounds)


def _weight(compounds: tuple[_Compound, ...]) -> tuple[int, int, int]:
    return (
        sum(bool(part.name) for part in compounds),
        sum(len(part.classes) for part in compounds),
        sum(part.tag != "*" for part in compounds),
    )


def four(edges: str) -> tuple[str, ...]:
    """Return the top, right, bottom and left of a short form, () for an invalid one."""
    values = edges.split()
    if not 1 <= len(values) <= 4:
        return ()
    top, right, bottom, left = (
        *values,
        *(values[index] for index in ((0, 0, 0), (0, 1), (1,), ())[len(values) - 1]),
    )
    return top, right, bottom, left


def _unescaped(text: str) -> str:
    if "\\" not in text:
        return text
    return _ESCAPE.sub(lambda match: chr(min(int(match[1], 16), 0x10FFFF)) if match[1] else match[2], text)
