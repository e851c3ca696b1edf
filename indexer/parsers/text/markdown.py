"""Markdown to a document; HTML in it is dropped, what is marked up keeps its words."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

import markdown_it
import yaml
from markdown_it import MarkdownIt
from markdown_it.token import Token

from corpus.records import Author
from indexer.errors import ParseError
from indexer.parsers.document import Document
from indexer.parsers.identifiers import find_arxiv_id, find_doi, year_in
from indexer.parsers.text.structure import (
    Block,
    Prose,
    Rows,
    WrittenHeading,
    assemble,
    author,
    clean,
    prose,
)
from indexer.parsers.text.text_file import read_text_file

LONGEST_PARAGRAPH = 100_000
"""Characters; markdown-it takes minutes for longer ones that are made to."""

MOST_LISTED = 5_000
"""Authors, or keywords, that are taken; the largest collaborations have about 3,000 authors."""

PARSER = "markdown-it"

_FRONT_MATTER = re.compile(r"---[ \t]*\n(?P<yaml>.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|$)", re.DOTALL)
_LARGEST_FRONT_MATTER = 64 * 1024
_PICTURE_DATA = re.compile(r"data:[\w/+.-]{1,80};base64,[A-Za-z0-9+/=]+")
_BLANK_LINE = re.compile(r"\n[ \t]*\n")
_NOTE = re.compile(r"\[\^[^\]\s]{1,40}\]:\s*")
_NOTE_MARK = re.compile(r"\[\^[^\]\s]{1,40}\]")


def read_markdown(path: Path) -> Document:
    """Read a paper from Markdown; raises ParseError for what is no text."""
    text, remarks = read_text_file(path)
    text = _PICTURE_DATA.sub("#", text)
    if max(map(len, _BLANK_LINE.split(text))) > LONGEST_PARAGRAPH:
        raise ParseError(f"{path.name} has a paragraph of more than {LONGEST_PARAGRAPH:,} characters")
    match = _FRONT_MATTER.match(text)
    front, problems = _front_matter(match["yaml"] if match else "")
    body = text[match.end() :] if match and not problems else text
    markdown = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    tokens = markdown.parse(body)
    known = Document(
        title=" ".join(
            _inline(token.children or ()) for token in markdown.parseInline(_first(front, "title"))
        ),
        authors=_authors(front),
        year=year_in(_first(front, "year", "date")),
        doi=find_doi(_first(front, "doi")),
        arxiv_id=find_arxiv_id(_first(front, "arxiv", "arxiv_id", "eprint"), named=False),
        abstract=tuple(prose(text, "abstract") for text in _texts(front.get("abstract")) if text.strip()),
        keywords=tuple(_texts(front.get("keywords") or front.get("tags"))[:MOST_LISTED]),
        parser=PARSER,
        parser_version=markdown_it.__version__,
        notes=(*remarks, *problems),
    )
    return assemble(list(_blocks(tokens)), known, path.name)


class _PlainLoader(yaml.BaseLoader):
    """Makes text, lists and tables of all there is, and nothing else; nothing stands for something else.

    Nine lists of nine aliases each, in 300 bytes, would be a million keywords.
    """

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("aliases are not followed")
        return super().compose_node(parent, index)


def _front_matter(source: str) -> tuple[Mapping[str, object], tuple[str, ...]]:
    """Parse YAML front matter with values as text, and return a remark if it is broken."""
    try:
        if len(source) > _LARGEST_FRONT_MATTER:
            raise yaml.YAMLError("too long")
        found = yaml.load(source, Loader=_PlainLoader)  # noqa: S506
    except (yaml.YAMLError, RecursionError, ValueError):
        return {}, ("the front matter cannot be read as YAML and was taken for text",)
    return {str(name).lower(): value for name, value in found.items()} if isinstance(found, dict) else {}, ()


def _texts(value: object) -> list[str]:
    """Return a value of the front matter as texts; commas and semicolons separate within one."""
    if isinstance(value, str):
        return [clean(value)] if value.strip() else []
    return [text for item in value for text in _texts(item)] if isinstance(value, list) else []


def _first(front: Mapping[str, object], *names: str) -> str:
    return next((text for name in names for text in _texts(front.get(name))), "")


def _authors(front: Mapping[str, object]) -> tuple[Author, ...]:
    value = front.get("authors") or front.get("author")
    people = value if isinstance(value, list) else [value]
    found = (person for item in people for person in _people(item, alone=len(people) == 1))
    return tuple(dict.fromkeys(person for person in islice(found, MOST_LISTED) if person.family))


def _people(item: object, *, alone: bool) -> list[Author]:
    """Return the authors of one entry: a name, several in a row, or a table with name and affiliation."""
    if isinstance(item, dict):
        name = " ".join(_texts(item.get("name")))
        keys = ("affiliation", "affiliations", "institution")
        places = [text for key in keys for text in _texts(item.get(key))]
        return (
            [Author(person.given, person.family, tuple(places)) for person in [author(name)]] if name else []
        )
    names = re.split(r"(?:(?<!\s)\s++)?;\s*+|(?<!\s)\s++(?:and|&)\s++", " ".join(_texts(item)))
    if alone and len(names) == 1 and names[0].count(",") > 1:
        names = names[0].split(",")
    elif alone and any("," in name for name in names) and " " in names[0].partition(",")[0].strip():
        names = [part for name in names for part in name.split(",")]
    return [author(name.strip(" ,")) for name in names if name.strip(" ,")]


def _blocks(tokens: Sequence[Token]) -> Iterator[Block]:
    """Yield the blocks of flat tokens: an opening token, one with the text, a closing one."""
    cells: list[str] | None = None
    rows: list[str] = []
    opened = ""
    for token in tokens:
        if token.type == "inline":
            text = _inline(token.children or ())
            if cells is not None:
                cells.append(text)
            elif opened.startswith("h"):
                yield WrittenHeading(text, int(opened[1:]))
            else:
                yield from _paragraph(text)
        elif token.type in ("fence", "code_block"):
            yield Rows(tuple(token.content.split("\n")))
        elif token.type == "table_open":
            rows = []
        elif token.type == "tr_open":
            cells = []
        elif token.type == "tr_close":
            rows.append(" | ".join(cells or ()))
            cells = None
        elif token.type == "table_close":
            yield Rows(tuple(rows))
        elif token.type in ("heading_open", "paragraph_open"):
            opened = token.tag


def _paragraph(text: str) -> Iterator[Block]:
    """Yield a paragraph; the notes that stand under each other in one are notes of their own."""
    if not _NOTE.match(text):
        yield Prose(_NOTE_MARK.sub("", text))
        return
    for note in _NOTE.split(text):
        if note.strip():
            yield Prose(note, "note")


def _inline(children: Sequence[Token]) -> str:
    parts = []
    for child in children:
        if child.type in ("text", "code_inline"):
            parts.append(child.content)
        elif child.type in ("softbreak", "hardbreak"):
            parts.append(" ")
        elif child.type == "image":
            parts.append(_inline(child.children or ()))
    return clean("".join(parts))
