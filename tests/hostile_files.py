"""Content that an exported file must never have, whatever the papers and the model wrote."""

import csv
import io
import json
import re

from markdown_it import MarkdownIt

from tests.assistant.exports.test_comparison_exports import balanced

# Where the file's own address, a paper's DOI or its plain web address stand.
_OWN = re.compile(r"#|https://doi\.org/|https://arxiv\.org/abs/")
_ACTS = re.compile(r"(?<!\\)\\(?:input|include|write|href|includegraphics|openout|immediate|csname)")


def assert_harmless_file(name: str, text: str, allowed: str) -> None:
    """Check a file by its kind, the ending of its name; `allowed` is the one foreign address it may link."""
    ending = name.rpartition(".")[2]
    if ending == "csv":
        cells = [cell for line in csv.reader(io.StringIO(text, newline="")) for cell in line]
        assert [cell for cell in cells if re.match(r"\s*[=+\-@]", cell)] == []
    elif ending in ("tex", "bib"):
        typeset = re.sub(r"(?<!\\)%.*", "", text) if ending == "tex" else text
        assert balanced(typeset) if ending == "tex" else _braces(typeset) == 0
        assert _ACTS.findall(typeset) == []
    elif ending == "md":
        _assert_plain_markdown(text, allowed)
    elif ending == "ris":
        lines = [line for line in text.splitlines() if line]
        assert [line for line in lines if not re.match(r"[A-Z][A-Z0-9]  - ", line)] == []
    elif ending == "json":
        json.loads(text)
    else:
        assert ending in ("html", "rdf", "docx"), f"nothing says what is harmless in a file .{ending}"


def _braces(text: str) -> int:
    """Count the braces that stay open; BibTeX counts those that are escaped too."""
    return text.count("{") - text.count("}")


def _assert_plain_markdown(text: str, allowed: str) -> None:
    blocks = MarkdownIt("commonmark", {"linkify": False}).enable("table").parse(text)
    tokens = [token for block in blocks for token in (block, *(block.children or ()))]
    assert {token.type for token in tokens} & {"image", "html_inline", "html_block"} == set()
    addresses = [str(token.attrs["href"]) for token in tokens if token.type == "link_open"]
    assert [address for address in addresses if address != allowed and not _OWN.match(address)] == []
    assert [token.info for token in tokens if token.type == "fence" and token.info not in ("text", "")] == []
