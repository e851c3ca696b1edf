"""Commands on small data print what they printed before: figures, tables, and errors.

After a change that is meant, `UPDATE_GOLDEN=1 pytest tests/evaluation/test_golden.py` records them anew.
"""

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from evaluation import harness
from evaluation.__main__ import app

GOLDEN = Path(__file__).with_name("golden.json")
CASES = json.loads(GOLDEN.read_text(encoding="utf-8"))
# Times, dates and machines differ from run to run.
_VARIES = re.compile(r"seconds|_ms$|^ms_|^date$|^trained$|^machine$")


def steady(figures: Any) -> Any:
    """Return figures without those that differ from run to run, floats to ten digits."""
    if isinstance(figures, dict):
        return {name: steady(value) for name, value in figures.items() if not _VARIES.search(name)}
    if isinstance(figures, list):
        return [steady(value) for value in figures]
    return float(f"{figures:.10g}") if isinstance(figures, float) else figures


def about(figures: Any) -> Any:
    """Return figures to compare with: the 8-bit encoder's vectors differ a little between processors."""
    if isinstance(figures, dict):
        return {name: about(value) for name, value in figures.items()}
    if isinstance(figures, list):
        return [about(value) for value in figures]
    return pytest.approx(figures, abs=5e-4) if isinstance(figures, float) else figures


@pytest.mark.parametrize("case", CASES, ids=lambda case: " ".join(case["args"])[:50])
def test_a_command_prints_what_it_printed(
    case: dict[str, Any], tmp_path: Path, demo_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def placed(text: str) -> str:
        return text.replace("{tmp}", str(tmp_path)).replace("{demo}", str(demo_home))

    def without_folders(text: str) -> str:
        return text.replace(str(tmp_path), "{tmp}").replace(str(demo_home), "{demo}")

    for name, text in case["files"].items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(text.encode())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PAPER_TRAIL_HOME", str(demo_home))
    monkeypatch.setattr(harness.console, "width", 160)
    done = CliRunner().invoke(app, [placed(argument) for argument in case["args"]])
    assert done.exit_code == case["code"], done.output
    if case["code"]:
        assert done.stderr == placed(case["stderr"])
        return
    *shown, figures = done.stdout.strip().split("\n")
    if os.environ.get("UPDATE_GOLDEN"):
        case["figures"] = steady(json.loads(without_folders(figures)))
        if "shown" in case:
            case["shown"] = "\n".join(without_folders(line).rstrip() for line in shown)
        GOLDEN.write_text(json.dumps(CASES, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    assert steady(json.loads(figures)) == about(steady(json.loads(placed(json.dumps(case["figures"])))))
    if "shown" in case:
        assert "\n".join(line.rstrip() for line in shown) == placed(case["shown"])
