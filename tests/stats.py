"""Count the project's lines, files, functions and patterns, by package: `make stats`."""

import ast
import json
import subprocess
from collections import Counter
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
PACKAGES = ("corpus", "indexer", "assistant", "explorer", "deployment", "evaluation", "training", "tests")
COLUMNS = ("files", "lines", "functions", "classes", "patterns", "data kB")
_DATA = (".toml", ".json", ".jsonl", ".txt", ".md", ".css", ".js", ".html", ".safetensors")


def count(files: list[Path]) -> Counter[str]:
    """Return the figures of one package; a pattern is a call of `re` with a literal first argument."""
    found: Counter[str] = Counter()
    for file in files:
        if file.suffix in _DATA:
            found["data kB"] += file.stat().st_size // 1024
        if file.suffix != ".py":
            continue
        text = file.read_text(encoding="utf-8")
        found["files"] += 1
        found["lines"] += len(text.splitlines())
        for node in ast.walk(ast.parse(text)):
            found["functions"] += isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            found["classes"] += isinstance(node, ast.ClassDef)
            found["patterns"] += _is_pattern(node)
    return found


def _is_pattern(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "re"
        and node.func.attr != "escape"
    )


def main() -> None:
    """Print a table of all packages and, last, one JSON line."""
    listed = subprocess.run(["git", "ls-files"], cwd=PROJECT, capture_output=True, text=True, check=True)
    paths = [PROJECT / name for name in listed.stdout.splitlines()]
    figures = {
        package: count([path for path in paths if path.is_relative_to(PROJECT / package) and path.exists()])
        for package in PACKAGES
    }
    figures["all"] = sum(figures.values(), Counter())
    print(f"{'':12}" + "".join(f"{column:>11}" for column in COLUMNS))
    for package, row in figures.items():
        print(f"{package:12}" + "".join(f"{row[column]:>11,}" for column in COLUMNS))
    print(json.dumps({package: dict(row) for package, row in figures.items()}))


if __name__ == "__main__":
    main()
