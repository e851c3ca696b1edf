"""Front matter of a Markdown file (title, authors and more) in YAML, TOML, JSON or plain lines."""

import json
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import islice

import yaml

from corpus.records import Author
from indexer.parsers.text.structure import author, clean

MOST_LISTED = 5_000
"""The most authors or keywords; the largest collaborations have about 3,000 authors."""

_FENCED = {
    "YAML": re.compile(r"\A\s*+---[ \t]*+\n(?P<source>.*?)\n(?:---|\.\.\.)[ \t]*+(?:\n|\Z)", re.DOTALL),
    "TOML": re.compile(r"\A\s*+\+\+\+[ \t]*+\n(?P<source>.*?)\n\+\+\+[ \t]*+(?:\n|\Z)", re.DOTALL),
    "JSON": re.compile(r"\A\s*+(?P<source>\{[ \t]*+\n.*?\n\})[ \t]*+(?:\n|\Z)", re.DOTALL),
}
_REST = r".*+(?:\n[ \t]++\S.*+)*+"  # of a line, with the indented lines below it
_PANDOC = re.compile(rf"\A%(?P<title>{_REST})(?:\n%(?P<author>{_REST}))?(?:\n%(?P<date>.*+))?(?:\n|\Z)")
_LINES = re.compile(
    rf"\A(?i:title):[ \t]++\S{_REST}(?:\n[A-Za-z][\w -]{{0,30}}+:[ \t]++\S{_REST})*+(?:\n[ \t]*+(?:\n|\Z)|\Z)"
)
_LINE = re.compile(rf"^(?P<name>[A-Za-z][\w -]*+):[ \t]++(?P<value>{_REST})", re.MULTILINE)
# "title: Mills: a study" and "title: *On* mills" are common, and invalid YAML.
_UNQUOTED = re.compile(
    r"^(?P<name>[\w-]+:[ \t]+)(?P<value>(?![\"'\[{|>&*!])\S.*: .*|\*\S[^*\n]*\*.*|[@`%]\S.*)$", re.MULTILINE
)
_INNER = ("taxonomies", "extra", "params")
_LARGEST = 64 * 1024


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The fields of front matter by lower-case name, the offset of its end, and remarks."""

    fields: Mapping[str, object] = field(default_factory=dict)
    end: int = 0
    remarks: tuple[str, ...] = ()

    def first(self, *names: str) -> str:
        """Return the first text of the first field that has any."""
        return next((text for name in names for text in texts(self.fields.get(name))), "")

    def all(self, *names: str) -> list[str]:
        """Return the texts of the first field that has any."""
        return next((found for name in names if (found := texts(self.fields.get(name)))), [])[:MOST_LISTED]

    def authors(self) -> tuple[Author, ...]:
        value = self.fields.get("authors") or self.fields.get("author")
        people = value if isinstance(value, list) else [value]
        found = (person for item in people for person in _people(item, alone=len(people) == 1))
        return tuple(dict.fromkeys(person for person in islice(found, MOST_LISTED) if person.family))


class _PlainLoader(yaml.BaseLoader):
    """Loads only strings, lists and mappings, and no aliases.

    Nested aliases could expand 300 bytes to a million keywords.
    """

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("aliases are not followed")
        return super().compose_node(parent, index)


def read_front_matter(text: str) -> FrontMatter:
    """Read the front matter of a Markdown file; if invalid it remains text, with a remark."""
    parsers: dict[str, Callable[[str], object]] = {
        "YAML": _parse_yaml,
        "TOML": tomllib.loads,
        "JSON": json.loads,
    }
    for name, pattern in _FENCED.items():
        if (match := pattern.match(text)) is None:
            continue
        try:
            if len(match["source"]) > _LARGEST:
                raise ValueError("too long")
            parsed = parsers[name](match["source"])
        except (yaml.YAMLError, RecursionError, ValueError):
            return FrontMatter(remarks=(f"the front matter cannot be read as {name} and was taken for text",))
        # Text between two horizontal rules is no front matter.
        return FrontMatter(_fields(parsed), match.end()) if isinstance(parsed, dict) else FrontMatter()
    if match := _PANDOC.match(text):
        lines = {name: value.strip().split("\n") for name, value in match.groupdict("").items()}
        return FrontMatter({**lines, "title": " ".join(lines["title"])}, match.end())
    if match := _LINES.match(text):
        return FrontMatter(
            _fields({line["name"]: line["value"] for line in _LINE.finditer(match[0])}), match.end()
        )
    return FrontMatter()


def _fields(raw: Mapping[object, object]) -> dict[str, object]:
    """Return fields by lower-case name, with those in tables of site generators."""
    by_name = {str(name).lower(): value for name, value in raw.items()}
    inner = [fields for name in _INNER if isinstance(fields := by_name.get(name), dict)]
    return {str(name).lower(): value for fields in inner for name, value in fields.items()} | by_name


def _parse_yaml(source: str) -> object:
    """Parse YAML with values as text."""
    try:
        return yaml.load(source, Loader=_PlainLoader)  # noqa: S506
    except yaml.YAMLError:
        quoted = _UNQUOTED.sub(
            lambda line: line["name"] + json.dumps(line["value"].strip(), ensure_ascii=False), source
        )
        return yaml.load(quoted, Loader=_PlainLoader)  # noqa: S506


def texts(value: object) -> list[str]:
    """Return a value of the front matter as texts."""
    if isinstance(value, list):
        return [text for item in value for text in texts(item)]
    if value is None or isinstance(value, dict):
        return []
    return [clean(str(value))] if str(value).strip() else []


def _people(item: object, *, alone: bool) -> list[Author]:
    """Return the authors of one entry: a name, several names, or a mapping with name and affiliation."""
    if isinstance(item, dict):
        keys = ("affiliation", "affiliations", "institution")
        places = tuple(text for key in keys for text in texts(item.get(key)))
        return [Author(person.given, person.family, places) for person in _named(item)]
    names = re.split(r"(?:(?<!\s)\s++)?;\s*+|(?<!\s)\s++(?:and|&)\s++", " ".join(texts(item)))
    if alone and len(names) == 1 and names[0].count(",") > 1:
        names = names[0].split(",")
    elif alone and any("," in name for name in names) and " " in names[0].partition(",")[0].strip():
        names = [part for name in names for part in name.split(",")]
    return [author(name.strip(" ,")) for name in names if name.strip(" ,")]


def _named(item: Mapping[object, object]) -> list[Author]:
    """Return the author in a mapping, by whole name or given and family name."""
    name = item.get("name")
    parts = name if isinstance(name, dict) else item
    given, family = (
        next((" ".join(found) for key in keys if (found := texts(parts.get(key)))), "")
        for keys in (
            ("given", "first", "firstname", "given-names"),
            ("family", "last", "lastname", "surname"),
        )
    )
    if family:
        return [Author(given, family)]
    literal = " ".join(texts(parts.get("literal"))) or " ".join(texts(name))
    return [author(literal)] if literal else []
