"""Markdown to a document: markup is removed, formulas stay as typed."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import markdown_it
from markdown_it import MarkdownIt
from markdown_it.ruler import RuleOptionsType
from markdown_it.rules_block import StateBlock, reference
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from corpus.markup.prose import plain_markup
from corpus.markup.raised import lower_text, raise_text
from indexer.errors import ParseError
from indexer.parsers.document import Document
from indexer.parsers.identifiers import find_arxiv_id, find_doi, year_in
from indexer.parsers.pdf.headings import number_depth, parse_heading
from indexer.parsers.section_names import is_no_title
from indexer.parsers.text.front_matter import read_front_matter
from indexer.parsers.text.html import read_fragment
from indexer.parsers.text.structure import Block, Prose, Rows, WrittenHeading, assemble, clean, prose, shifted
from indexer.parsers.text.text_file import read_text_file, refuse_markup

LONGEST_PARAGRAPH = 100_000
"""Characters; hostile longer ones take markdown-it minutes."""

PARSER = "markdown-it"

_PICTURE_DATA = re.compile(r"data:[\w/+.-]{1,80};base64,[A-Za-z0-9+/=]+")
_BLANK_LINE = re.compile(r"\n[ \t]*\n")
_NOTE = re.compile(r"\[\^[^\]\s]{1,40}\]:\s*")
_NOTE_MARK = re.compile(r"\[\^[^\]\s]{1,40}\]")

# Bounds of a formula, in characters and lines, for markup that is never closed.
_LONGEST_FORMULA, _LONGEST_DISPLAYED, _MOST_FORMULA_LINES = 1_000, 4_000, 60
# Converters also escape brackets: \[1\] and \(see below\) are no formulas, \(x\) is.
_ESCAPED_WORDS = re.compile(r"(?:[\w\s,.;:'’&–-]|\\[\[\]()])*+")
_LETTER = re.compile(r"\s*+[^\W\d_]['′]?\s*+")
_ENVIRONMENT = re.compile(
    r"\\begin\{(?P<name>(?:equation|align|alignat|gather|multline|eqnarray|flalign|displaymath|math|subequations)\*?)\}"
)
_BEHIND_FORMULA = re.compile(r"\s*+(?:(?:[.,;]|\{#[\w:-]++\}|\(\d{1,3}[a-z]?\))\s*+)?")

_WIKI_LINK = re.compile(r"(!?)\[\[([^\[\]|\n]{1,200})(?:\|([^\[\]\n]{1,200}))?\]\](?![(\[])")
_PICTURE = re.compile(r"\.(?:png|jpe?g|gif|svg|webp|bmp|tiff?|pdf|mp[34]|webm)$", re.IGNORECASE)

_TAG = re.compile(r"<(?P<close>/?)(?P<name>[a-z][a-z0-9]*+)(?P<attributes>[^<>]*?)/?>", re.IGNORECASE)
_ATTRIBUTES = re.compile(
    r"(?:\s+(?:[\w:.-]+\s*=\s*(?:\"[^\"]*\"|'[^']*'|[^\s\"'=]+)|open|hidden|checked|disabled))*\s*"
)
_TAGS = frozenset(
    "a abbr b bdi bdo big br center cite code dd del details dfn div dl dt em figcaption figure font footer "
    "h1 h2 h3 h4 h5 h6 header hr i img input ins kbd label li main mark ol p picture q ruby rp rt s samp "
    "section small source span strike strong sub summary sup table tbody td tfoot th thead tr tt u ul var "
    "video wbr".split()
)
_FORMULA_START = re.compile(r"<math[\s>]", re.IGNORECASE)
_ALONE = frozenset("br hr img input wbr source p li td th tr dd dt".split())
_SHIFTED = {"sup": "\ufdd0", "/sup": "\ufdd1", "sub": "\ufdd2", "/sub": "\ufdd3"}
_KEPT_START, _KEPT_END = "\ufdd4", "\ufdd5"
_KEPT = re.compile(f"{_KEPT_START}(\\d+){_KEPT_END}")
_MARKERS = re.compile("[\ufdd0-\ufdd5]")
_RAISED = re.compile(r"\ufdd0([^\ufdd0-\ufdd3]*)\ufdd1|(?<=[\w)\]}])\^([^\s^~\[\]]{1,40})\^")
_LOWERED = re.compile(r"\ufdd2([^\ufdd0-\ufdd3]*)\ufdd3|(?<=[\w)\]}])~([^\s^~\[\]]{1,40})~(?!~)")
_HIGHLIGHT = re.compile(r"(?<![\w=])==(?=[^\s=])([^=\n]{1,500})(?<=\S)==(?![\w=])")
_COMMENT = re.compile(r"%%.{0,2000}?%%", re.DOTALL)
_INLINE_NOTE = re.compile(r"\^\[([^\[\]]{1,2000})\]")
_CALLOUT = re.compile(r"\A\[!\w{1,20}\][+-]?[ \t]*")
_TASK = re.compile(r"\A\[[ xX]\]\s+")
_BLOCK_NAME = re.compile(r"\s\^(?=[\w-]*\d|\w+-)[A-Za-z0-9-]{4,40}\s*\Z")
_DIVISION = re.compile(r"^:{3,}+[ \t]*+(?:\{[^{}\n]*+\}|[\w-]*+)[ \t]*+:*+$\n?", re.MULTILINE)
# Python-Markdown's notes and tabs, whose text is indented: !!! note "Title", ??? tip, === "Tab".
_ADMONITION = re.compile(
    r"(?P<indent> {0,12})(?:!!!|\?\?\?\+?|===)[\w -]{0,100}+"
    r"(?:\"(?P<title>[^\"]{0,300})\")?[ \t]*+"
)
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
# Converters' marks between pages, and for pages that they could not read.
_PAGE_MARK = re.compile(
    r"^(?:\{\d{1,5}\}-{10,}|-{2,5} ?(?:end of )?page[ =.:]{0,3}\d{1,5} ?-{2,5})[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
_LOST_PAGE = re.compile(r"\[MISSING_PAGE_[A-Z]{3,12}:(\d{1,5})\]")
# LaTeX commands on lines of their own, as Mathpix mixes them with Markdown.
_LATEX_LINES = re.compile(r"^\\(?:title|author|(?:sub){0,2}section\*?|begin\{abstract\})", re.MULTILINE)
_LATEX_PART = re.compile(
    r"^\\(?P<name>title|author|(?:sub){0,2}section|caption|footnotetext)\*?"
    r"\{(?P<text>(?:[^{}]|\{[^{}]{0,300}\}){0,2000})\}[ \t]*$",
    re.MULTILINE,
)
_LATEX_LAYOUT = re.compile(
    r"^\\(?:(?:begin|end)\{(?:figure|table|center|itemize|enumerate)\*?\}(?:\[[^\]\n]{0,20}\])?|maketitle|centering"
    r"|(?:includegraphics|captionsetup|label)(?:\[[^\]\n]{0,200}\])?\{[^{}\n]{0,300}\})[ \t]*$",
    re.MULTILINE,
)
_LATEX_HEADINGS = {"title": "#", "section": "##", "subsection": "###", "subsubsection": "####"}
_CAPTION = re.compile(
    r"(?:fig|tab|algorithm|listing|chart|scheme|box|eq)\w{0,8}\.?\s*\d|keywords?\b", re.IGNORECASE
)
_MOST_HEADING_WORDS = 14
_ATTRIBUTE_LIST = re.compile(r"(?:(?<!\s)\s++)?\{(?:[#.][^{}]*+|-)\}\s*+\Z")


def read_markdown(path: Path) -> Document:
    """Read a paper from Markdown; raises ParseError for other files."""
    text, remarks = read_text_file(path)
    refuse_markup(text, path.name)
    text = _MARKERS.sub("", _PICTURE_DATA.sub("#", text))
    if max(map(len, _BLANK_LINE.split(text))) > LONGEST_PARAGRAPH:
        raise ParseError(f"{path.name} has a paragraph of more than {LONGEST_PARAGRAPH:,} characters")
    front = read_front_matter(text)
    text, lost_pages = _without_page_marks(_as_markdown(text[front.end :]))
    reader = _Reader(text, has_title=bool(front.first("title")))
    blocks = list(reader.blocks())
    metadata = Document(
        title=clean(reader.inline(front.first("title"))),
        authors=front.authors(),
        year=year_in(front.first("year", "date")),
        doi=find_doi(front.first("doi")),
        arxiv_id=find_arxiv_id(front.first("arxiv", "arxiv_id", "eprint"), named=False),
        abstract=tuple(prose(text, "abstract") for text in front.all("abstract")),
        keywords=tuple(front.all("keywords", "tags")),
        parser=PARSER,
        parser_version=markdown_it.__version__,
        hidden_text=reader.hidden,
        notes=(*remarks, *front.remarks, *lost_pages, *reader.remarks()),
    )
    return assemble(blocks, metadata, path.name)


def _as_markdown(text: str) -> str:
    """Return a text with admonitions unindented and LaTeX commands converted to Markdown."""
    lines: list[str] = []
    indents: list[int] = []
    fence = ""
    for line in text.split("\n"):
        depth = len(line) - len(line.lstrip(" "))
        while indents and line.strip() and depth < indents[-1]:
            indents.pop()
        opened = line[indents[-1] :] if indents else line
        note = None if fence else _ADMONITION.fullmatch(opened)
        if note and (note["title"] is not None or note[0].strip()[:3] != "==="):
            indents.append((indents[-1] if indents else 0) + len(note["indent"]) + 4)
            opened = f"\n{note['indent']}{note['title'] or ''}\n"
        elif marks := _FENCE.match(opened):
            fence = "" if fence and marks[1].startswith(fence) else fence or marks[1]
        lines.append(opened)
    text = "\n".join(lines)
    if not _LATEX_LINES.search(text):
        return text
    text = _LATEX_PART.sub(_latex_part, _LATEX_LAYOUT.sub("", text))
    return text.replace(r"\begin{abstract}", "\n## Abstract\n").replace(r"\end{abstract}", "\n")


def _latex_part(match: re.Match[str]) -> str:
    name = match["name"]
    text = clean(match["text"].replace(r"\\", ", " if name == "author" else " "))
    if name == "footnotetext":
        return f"\n[^mathpix]: {text.lstrip('0123456789 ')}\n"
    return f"\n{_LATEX_HEADINGS[name]} {text}\n" if name in _LATEX_HEADINGS else f"\n{text}\n"


def _without_page_marks(text: str) -> tuple[str, tuple[str, ...]]:
    """Remove the marks between pages; return the text and a remark on pages lost by its converter."""
    lost = dict.fromkeys(_LOST_PAGE.findall(text))
    text = _LOST_PAGE.sub("", text)
    first, *parts = (part.strip("\n") for part in _PAGE_MARK.split(text))
    joined = [first]
    for before, part in pairwise([first, *parts]):
        # A sentence continues on the next page.
        is_cut = before[-1:].isalpha() and part[:1].islower()
        joined += [" " if is_cut else "\n\n", part]
    if not lost:
        return "".join(joined), ()
    pages = f"page {next(iter(lost))} is" if len(lost) == 1 else f"pages {', '.join(list(lost)[:20])} are"
    return "".join(joined), (f"{pages} missing: the converter that made the file could not read them",)


@dataclass(slots=True)
class _Reader:
    """Reads the blocks of one text in their order."""

    source: str
    has_title: bool = False
    hidden: int = 0
    _is_bold_headed: bool = False
    _has_begun: bool = False
    _embedded: list[str] = field(default_factory=list)
    _notes: list[str] = field(default_factory=list)

    def blocks(self) -> Iterator[Block]:
        tokens = _MARKDOWN.parse(self.source)
        lines = self.source.split("\n")
        opened, end, is_note = "", 0, False
        headings = [token for token in tokens if token.type == "heading_open"]
        # PDF converters mark headings as bold lines.
        self._is_bold_headed = len(headings) <= 1
        self.has_title = self.has_title or bool(headings)
        for place, token in enumerate(tokens):
            if token.map and token.map[1] <= end:
                continue  # within an HTML table
            if token.type == "inline" and opened.startswith("h"):
                text = _ATTRIBUTE_LIST.sub("", clean(self._text(token.children or ())))
                yield WrittenHeading(text, int(opened[1:]))
            elif token.type == "inline" and opened == "p":
                text = self._text(token.children or ())
                level = self._bold_level(token.children or (), clean(text))
                is_note = _NOTE.match(text) is not None
                yield from [WrittenHeading(clean(text), level)] if level else self._paragraph(text)
            elif token.type == "code_block" and is_note:
                yield Prose(token.content, "note")
            elif token.type in ("fence", "code_block"):
                yield Rows(tuple(token.content.split("\n")))
            elif token.type == "formula_block":
                yield Prose(token.content)
            elif token.type == "html_block":
                start, end = token.map or [0, 0]
                whole = _end_of_table(lines, start, end)
                blocks, hidden = read_fragment(
                    token.content if whole == end else "\n".join(lines[start:whole])
                )
                self.hidden += hidden
                yield from blocks
                end = whole
            elif token.type == "table_open":
                opened = ""
                yield Rows(tuple(self._rows(tokens[place:], lines)))
            elif token.type in ("heading_open", "paragraph_open"):
                opened = token.tag
            notes, self._notes = self._notes, []
            yield from (Prose(note, "note") for note in notes)

    def inline(self, text: str) -> str:
        """Return inline Markdown without its markup."""
        return " ".join(self._text(token.children or ()) for token in _MARKDOWN.parseInline(text))

    def remarks(self) -> tuple[str, ...]:
        """Return remarks on the parts of the text that could not be read."""
        names = ", ".join(dict.fromkeys(self._embedded))
        return (f"what is embedded is not part of the file: {names[:200]}",) if names else ()

    def _rows(self, tokens: Sequence[Token], lines: Sequence[str]) -> Iterator[str]:
        """Yield the rows of a table with all cells; a bar within a formula separates none."""
        for token in tokens:
            if token.type == "table_close":
                return
            if token.type == "tr_open" and token.map:
                cells = _cells(lines[token.map[0]])
                yield " | ".join(clean(self.inline(cell)) for cell in cells)

    def _paragraph(self, text: str) -> Iterator[Block]:
        """Yield a paragraph, or the notes it consists of."""
        if callout := _CALLOUT.match(text):
            title, _, text = text[callout.end() :].partition("\n")
            yield Prose(title)
        text = _TASK.sub("", text)
        text = _BLOCK_NAME.sub("", _DIVISION.sub("", text)).replace("\n: ", ": ")
        if not _NOTE.match(text):
            yield Prose(_NOTE_MARK.sub("", text))
            return
        for note in _NOTE.split(text):
            if note.strip():
                yield Prose(note, "note")

    def _bold_level(self, children: Sequence[Token], text: str) -> int:
        """Return the level of a bold line that is a heading, 0 for other text."""
        is_first, self._has_begun = not self._has_begun, True
        if not (self._is_bold_headed and _is_bold(children)) or _CAPTION.match(text):
            return 0
        words = text.split()
        if not 0 < len(words) <= _MOST_HEADING_WORDS or text.endswith((".", ",", ";", ":", "?", "!")):
            return 0
        section = parse_heading(text)
        if is_first and not self.has_title and not section.number and not is_no_title(section.title):
            self.has_title = True
            return 1
        # A line with commas is a list of authors.
        if not section.number and "," in text:
            return 0
        return number_depth(section.number) + 1 if section.number else 2

    def _text(self, children: Sequence[Token]) -> str:
        """Return the text of inline tokens with line breaks; code and formulas stay as they are."""
        kept: list[str] = []
        text = "".join(self._parts(children, kept))
        text = _HIGHLIGHT.sub(r"\1", _COMMENT.sub("", text))
        text = _INLINE_NOTE.sub(lambda note: self._put_aside(note[1], kept), text)
        text = _RAISED.sub(lambda match: shifted(match[1] or match[2] or "", raise_text), text)
        text = _LOWERED.sub(lambda match: shifted(match[1] or match[2] or "", lower_text), text)
        return _restored(text, kept)

    def _put_aside(self, note: str, kept: Sequence[str]) -> str:
        self._notes.append(_restored(note, kept))
        return ""

    def _parts(self, children: Sequence[Token], kept: list[str]) -> Iterator[str]:
        unpaired = _unpaired_tags(children)
        formula: list[str] = []
        for place, child in enumerate(children):
            if formula or (child.type == "html_inline" and _FORMULA_START.match(child.content)):
                formula.append(child.content)
                if child.content.lower() == "</math>":
                    yield plain_markup("".join(formula))
                    formula = []
            elif child.type in ("code_inline", "formula"):
                kept.append(child.content)
                yield f"{_KEPT_START}{len(kept) - 1}{_KEPT_END}"
            elif child.type == "text":
                yield child.content
            elif child.type in ("softbreak", "hardbreak"):
                yield "\n"
            elif child.type == "image":
                yield self._text(child.children or ())
            elif child.type == "embedded":
                self._embedded.append(child.content)
            elif child.type == "html_inline":
                yield child.content if place in unpaired else _written_tag(child.content)
        yield "".join(formula)


def _is_bold(children: Sequence[Token]) -> bool:
    """Return True if all words of a line are bold."""
    depth = 0
    is_bold = False
    for child in children:
        depth += (child.type == "strong_open") - (child.type == "strong_close")
        if child.type in ("softbreak", "hardbreak"):
            return False
        if child.content.strip():
            if not depth:
                return False
            is_bold = True
    return is_bold


def _restored(text: str, kept: Sequence[str]) -> str:
    return _MARKERS.sub("", _KEPT.sub(lambda place: kept[int(place[1])], text))


def _unpaired_tags(children: Sequence[Token]) -> set[int]:
    """Return the indices of text that looks like HTML tags: a<b and c>d, or <unk>."""
    opened: dict[str, list[int]] = {}
    unpaired = set()
    for place, child in enumerate(children):
        match = _TAG.fullmatch(child.content) if child.type == "html_inline" else None
        if match is None:
            continue
        name = match["name"].lower()
        if name not in _TAGS or not _ATTRIBUTES.fullmatch(match["attributes"]):
            unpaired.add(place)
        elif match["close"]:
            if opened.get(name):
                opened[name].pop()
        elif name not in _ALONE and not child.content.endswith("/>"):
            opened.setdefault(name, []).append(place)
    return unpaired.union(*opened.values())


def _written_tag(tag: str) -> str:
    """Return the text for a tag: a line break, or a marker of superscripts and subscripts."""
    match = _TAG.fullmatch(tag)
    name = match["name"].lower() if match else ""
    if name in ("br", "p", "li", "tr", "dd", "dt"):
        return "\n"
    return _SHIFTED.get(f"{match['close']}{name}", "") if match else ""


def _end_of_table(lines: Sequence[str], start: int, end: int) -> int:
    """Return the last line of an HTML block, extended to the end of a table with blank lines."""
    depth = 0
    for number in range(start, len(lines)):
        if number >= end and depth <= 0:
            return end
        line = lines[number].lower()
        depth += line.count("<table") - line.count("</table")
        if number >= end and depth <= 0:
            return number + 1
    return end


def _cells(line: str) -> list[str]:
    """Split a row of a table at the bars outside of formulas and code."""
    row = line.strip().lstrip(">").strip()
    cells, start, index = [], 0, 0
    while index < len(row):
        if row[index] == "\\":
            index += 2
        elif (
            row[index] in "$`" and (end := row.find(row[index], index + 1)) > 0 and _is_whole(row, index, end)
        ):
            index = end + 1
        elif row[index] == "|":
            cells.append(row[start:index])
            start = index = index + 1
        else:
            index += 1
    cells.append(row[start:])
    cells = [cell.replace("\\|", "|").strip() if "$" not in cell else cell.strip() for cell in cells]
    return cells[not cells[0] and row.startswith("|") : len(cells) - (row.endswith("|") and not cells[-1])]


def _is_whole(row: str, start: int, end: int) -> bool:
    """Return True if two signs enclose code or a formula, not text between two prices."""
    return row[start] == "`" or _closes_formula(row, start, end)


def _closes_formula(text: str, start: int, end: int) -> bool:
    """Return True if two dollar signs enclose a formula, by pandoc's rule."""
    inside, after = text[start + 1 : end], text[end + 1 : end + 2]
    is_tight = bool(inside) and not inside[0].isspace() and not inside[-1].isspace() and inside[-1] != "\\"
    return is_tight and not after.isdigit() and inside.count("`") % 2 == 0


def _formula(state: StateInline, silent: bool) -> bool:
    r"""Parse $...$, $$...$$, \(...\) and \[...\] as verbatim tokens."""
    source, start = state.src, state.pos
    end = _formula_end(source, start)
    if end < 0 or end > state.posMax:
        return False
    if not silent:
        token = state.push("formula", "", 0)
        token.content = source[start:end]
    state.pos = end
    return True


def _formula_end(source: str, start: int) -> int:
    """Return the end of a formula that begins at an offset, -1 for none."""
    opener = source[start : start + 2]
    if opener in (r"\(", r"\["):
        end = source.find(r"\)" if opener == r"\(" else r"\]", start + 2, start + _LONGEST_FORMULA)
        return end + 2 if end > 0 and _is_formula(source[start + 2 : end]) else -1
    if opener == "$$":
        end = source.find("$$", start + 2, start + _LONGEST_DISPLAYED)
        return end + 2 if end > start + 2 else -1
    if opener[:1] != "$" or source[start - 1 : start].isalnum():
        return -1
    end = start
    while (end := source.find("$", end + 1, start + _LONGEST_FORMULA)) > 0:
        if _closes_formula(source, start, end):
            return end + 1
        if source[end - 1] != "\\":
            break  # two prices; the next sign may open a formula
    return -1


def _is_formula(inside: str) -> bool:
    return bool(_LETTER.fullmatch(inside)) or ("_" in inside or not _ESCAPED_WORDS.fullmatch(inside))


def _wiki_link(state: StateInline, silent: bool) -> bool:
    """Parse wiki links: [[Note]], [[Note|text]], and embeddings ![[Note]]."""
    match = _WIKI_LINK.match(state.src, state.pos)
    before = state.src[state.pos - 1 : state.pos]
    if match is None or match.end() > state.posMax or before.isalnum():
        return False
    if not any(letter.isalpha() for letter in match[2]):
        return False
    if not silent:
        token = state.push("embedded" if match[1] else "text", "", 0)
        token.content = (match[3] or match[2].replace("#", " > ").removeprefix(" > ")).strip()
        if match[1]:
            token.content = "" if _PICTURE.search(match[2]) else match[2]
            token.type = "embedded" if token.content else "text"
    state.pos = match.end()
    return True


def _formula_block(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    """Parse a displayed formula as a verbatim block, whatever its lines begin with."""
    lines = [state.src[state.bMarks[first] + state.tShift[first] : state.eMarks[first]]]
    environment = _ENVIRONMENT.match(lines[0])
    opener = environment[0] if environment else lines[0][:2]
    if not environment and opener not in ("$$", r"\["):
        return False
    closer = rf"\end{{{environment['name']}}}" if environment else "$$" if opener == "$$" else r"\]"
    while closer not in lines[-1][len(opener) if len(lines) == 1 else 0 :]:
        number = first + len(lines)
        is_over = number >= last or len(lines) == _MOST_FORMULA_LINES
        if is_over or 0 <= state.sCount[number] < state.blkIndent:
            return False
        lines.append(state.src[state.bMarks[number] + state.tShift[number] : state.eMarks[number]])
    content = "\n".join(lines)
    inside, _, behind = content[len(opener) :].partition(closer)
    if not inside.strip() or not _BEHIND_FORMULA.fullmatch(behind):
        return False
    if opener == r"\[" and not _is_formula(inside):
        return False
    if not silent:
        state.line = first + len(lines)
        token = state.push("formula_block", "", 0)
        token.content = content
        token.map = [first, state.line]
    return True


def _reference(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    """Parse a link definition, but not a note of one word or URL ([^1]: https://...)."""
    if state.src.startswith("[^", state.bMarks[first] + state.tShift[first]):
        return False
    return reference(state, first, last, silent)


def _markdown() -> MarkdownIt:
    markdown = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    markdown.inline.ruler.before("escape", "formula", _formula)
    markdown.inline.ruler.before("link", "wiki_link", _wiki_link)
    around: RuleOptionsType = {"alt": ["paragraph", "reference", "blockquote", "list"]}
    markdown.block.ruler.before("fence", "formula_block", _formula_block, around)
    markdown.block.ruler.at("reference", _reference)
    return markdown


_MARKDOWN = _markdown()
