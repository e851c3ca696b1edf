"""The documents: generated references up to date, links, lengths; command lines and tests that exist."""

import re
import runpy
import shlex
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest

from paper_trail import COMMANDS
from tests.demo_home import PROJECT

DOCS = PROJECT / "docs"
SYSTEMS = DOCS / "internals" / "seed-systems.md"
GUIDES = [PROJECT / "README.md", *sorted((DOCS / "guide").glob("*.md")), SYSTEMS]
DOCUMENTS = [
    PROJECT / "README.md",
    PROJECT / "CONTRIBUTING.md",
    PROJECT / "evaluation" / "README.md",
    *sorted(DOCS.rglob("*.md")),
]
_FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`[^`\n]+`")
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_PROGRAMS = ("paper-trail", ".venv/bin/paper-trail")


def _name(path: Path) -> str:
    return str(path.relative_to(PROJECT))


def _prose(text: str) -> str:
    """Return Markdown without its code."""
    return _CODE.sub("", _FENCE.sub("", text))


def _anchors(path: Path) -> set[str]:
    """Return the anchors of a document's headings, as mkdocs and GitHub make them of plain words."""
    headings = re.findall(r"^#+ (.+)$", _FENCE.sub("", path.read_text(encoding="utf-8")), re.MULTILINE)
    plain = [unicodedata.normalize("NFKD", heading).lower() for heading in headings]
    return {re.sub(r"\s+", "-", re.sub(r"[^\w\s-]", "", heading).strip()) for heading in plain}


@pytest.fixture(scope="module")
def generated() -> dict[str, str]:
    return runpy.run_path(str(DOCS / "generate.py"))["files"]()


@pytest.mark.parametrize(
    "name",
    [
        *("reference/cli.md", "reference/settings.md", "reference/http.md"),
        *("transcript.schema.json", "comparison.schema.json"),
    ],
)
def test_generated_file_is_up_to_date(generated, name):
    written = (DOCS / name).read_text(encoding="utf-8")
    assert written == generated[name], f"run {sys.executable} docs/generate.py"


@pytest.mark.parametrize("document", DOCUMENTS, ids=_name)
def test_relative_links_lead_somewhere(document):
    broken = []
    for link in _LINK.findall(_prose(document.read_text(encoding="utf-8"))):
        if re.match(r"[a-z]+:", link):
            continue
        file, _, anchor = link.partition("#")
        target = (document.parent / file).resolve() if file else document
        if not target.exists() or (anchor and anchor not in _anchors(target)):
            broken.append(link)
    assert not broken


@pytest.mark.parametrize(
    ("name", "most"), [("README.md", 9_000), ("CONTRIBUTING.md", 7_000), ("evaluation/README.md", 8_000)]
)
def test_document_is_short(name, most):
    assert len((PROJECT / name).read_bytes()) <= most


def _command_lines(text: str) -> Iterator[list[str]]:
    """Yield the arguments of each `paper-trail` command line in Markdown's code."""
    blocks = [block.split("\n", 1)[1].replace("\\\n", " ") for block in _FENCE.findall(text)]
    lines = [line for block in blocks for line in block.splitlines()]
    lines += [code.strip("`") for code in _CODE.findall(_FENCE.sub("", text))]
    for line in lines:
        words = line.split(" #")[0].strip()
        while re.match(r"[A-Z_]+=\S* ", words):  # settings before the command
            words = words.split(" ", 1)[1]
        if words.split(" ")[0] in _PROGRAMS and words not in _PROGRAMS:
            yield shlex.split(words)[1:]


def _fault(arguments: list[str]) -> str:
    """Describe the fault of a command line: a command or an option that does not exist."""
    name, *rest = arguments
    if name == "--help":
        return ""
    command = next((command for command in COMMANDS if command.name == name), None)
    if command is None:
        return f"no command {name}" if name != "COMMAND" else ""
    loaded = command.load()
    while rest and not rest[0].startswith("-"):
        known = {child.name: child for child in getattr(loaded, "known", {}).values()}
        children = known or getattr(loaded, "commands", {})
        if not children:
            break
        if rest[0] not in children:
            return f"no command {name} {rest[0]}" if rest[0] not in ("COMMAND", "NAME") else ""
        loaded = known[rest[0]].load() if known else children[rest[0]]
        rest = rest[1:]
    options = {
        option for parameter in loaded.params for option in (*parameter.opts, *parameter.secondary_opts)
    }
    wrong = [word for word in rest if word.startswith("-") and word.split("=")[0] not in {*options, "--help"}]
    return f"no option {', '.join(wrong)} of {name}" if wrong else ""


@pytest.mark.parametrize("document", GUIDES, ids=_name)
def test_command_lines_exist(document):
    lines = list(_command_lines(document.read_text(encoding="utf-8")))
    assert [fault for fault in map(_fault, lines) if fault] == []


def test_command_lines_are_found():
    found = [line for guide in GUIDES for line in _command_lines(guide.read_text(encoding="utf-8"))]
    assert len(found) > 20
    assert _fault(["index", "nothing"]) and _fault(["ask", "question", "--nothing"]) and _fault(["nothing"])


def _items() -> list[list[str]]:
    """Return the cells of each item of the published systems."""
    lines = SYSTEMS.read_text(encoding="utf-8").splitlines()
    return [line.strip("| ").split(" | ") for line in lines if re.match(r"\| [GTC]\d", line)]


def test_every_item_of_the_published_systems_stands_once_with_its_state():
    items = _items()
    numbered = {"G": 52, "T": 69, "C": 34}
    wanted = [f"{system}{number}" for system, count in numbered.items() for number in range(1, count + 1)]
    assert sorted(cells[0].split()[0] for cells in items) == sorted(wanted)
    text = SYSTEMS.read_text(encoding="utf-8")
    summary = re.findall(r"^\| [\w ]{1,40} \| (\d+(?: \| \d+){5}) \|$", text, re.MULTILINE)
    states = ["works", "in part", "not run", "different", "missing"]
    counted = [[cells[2] for cells in items if cells[0][0] in systems] for systems in ("G", "T", "C", "GTC")]
    assert [list(map(int, line.split(" | "))) for line in summary] == [
        [len(found), *map(found.count, states)] for found in counted
    ]


def test_every_item_of_the_published_systems_names_a_test_or_command_that_exists():
    for item, *_, shown in _items():
        name = shown.strip("`")
        if name.startswith("paper-trail "):
            continue  # its command and options are checked above
        path, _, function = name.partition("::")
        source = (PROJECT / path).read_text(encoding="utf-8")
        assert re.search(rf"^def {function}\(", source, re.MULTILINE), item
