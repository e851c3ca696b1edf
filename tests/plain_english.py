"""Reports names and docstrings that are not plain English: `python -m tests.plain_english`."""

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

# Docstrings, comments and names of functions are checked in all of these.
PRODUCT = ("assistant", "corpus", "indexer", "explorer")
OTHERS = ("deployment", "docs", "evaluation", "examples", "tests", "training")
SCRIPTS = ("paper_trail.py", "streamlit_app.py")

# In all but the product, variables and parameters too.
VARIABLES = {"one": "name what it is: `paper`, `sentence`, `row`"}
FUNCTIONS = {
    r"\w*_said$": "name a function for what it does: `describe_vote`",
    r"_*(?:what|how)_": "name a function for what it does, with a verb or a noun of the field",
    r"_*is_led_to": "name the relation: `supports`, `cites`",
}
FIRST_WORDS = r"^(?:Return|Yield) (?:what|how|which|those|that which|whether it is said)\b"
PROSE = {
    FIRST_WORDS: "say what the function does in the imperative: `Count the papers of a year`",
    r"^(?:What|How|Which)\b": "begin with a verb or a noun: `The options of a question`",
    r"\bso many\b": "name the parameter or the number",
    r"\bthat which\b": "name the thing",
    r"\b(?:is|are) led to\b": "say what it does",
    r"\beach of its own\b": "name the thing",
}


def faults(source: str, *, variables: bool) -> Iterator[tuple[int, str]]:
    """Yield the line and the fault of each name, docstring and comment that is not plain English."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if variables and (name := _bound_name(node)) in VARIABLES:
            yield getattr(node, "lineno", 1), f"`{name}`: {VARIABLES[name]}"
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for pattern, advice in FUNCTIONS.items():
                if re.match(pattern, node.name):
                    yield node.lineno, f"`{node.name}`: {advice}"
    for line, text in (*_docstrings(tree), *_comments(source)):
        for pattern, advice in PROSE.items():
            if found := re.search(pattern, text):
                yield line, f"“{found[0]}”: {advice}"


def _bound_name(node: ast.AST) -> str:
    """Return the name that a node binds, "" for none."""
    match node:
        case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
            return name
        case ast.MatchAs(name=str(name)) | ast.ExceptHandler(name=str(name)):
            return name
    return ""


def _docstrings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the docstrings of a module with the lines they begin in."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node)
            if text:
                yield node.body[0].lineno, text


def _comments(source: str) -> Iterator[tuple[int, str]]:
    """Yield the comments of a file with their lines."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string.lstrip("# ")


def report() -> Iterator[str]:
    """Yield every fault in the project, with its file and line."""
    for place in (*PRODUCT, *OTHERS, *SCRIPTS):
        files = sorted((ROOT / place).rglob("*.py")) if (ROOT / place).is_dir() else [ROOT / place]
        for file in files:
            path = file.relative_to(ROOT)
            text = file.read_text(encoding="utf-8")
            for line, fault in sorted(faults(text, variables=path.parts[0] not in PRODUCT)):
                yield f"{path.as_posix()}:{line}: {fault}"


if __name__ == "__main__":
    found = list(report())
    print(*found, sep="\n", file=sys.stderr) if found else None
    sys.exit(bool(found))
