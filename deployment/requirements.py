"""Print the requirements that pyproject.toml lists: the product's, or those of an extra or dependency group.

    python deployment/requirements.py [NAME]

Run by the Makefile before anything is installed, so it imports the standard library alone.
"""

import sys
import tomllib
from pathlib import Path

_PROJECT = Path(__file__).resolve().parent.parent


def requirements(name: str = "") -> list[str]:
    """Return the requirements of an extra or a dependency group, of the product itself without a name."""
    document = tomllib.loads((_PROJECT / "pyproject.toml").read_text(encoding="utf-8"))
    if not name:
        return list(document["project"]["dependencies"])
    named = document["project"]["optional-dependencies"] | document["dependency-groups"]
    if name not in named:
        raise SystemExit(f"pyproject.toml has no extra or group {name!r}, only {', '.join(named)}")
    return list(named[name])


if __name__ == "__main__":
    print("\n".join(requirements(*sys.argv[1:2])))
