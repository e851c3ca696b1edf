"""Programs in the place of a peer's Python."""

import sys
from pathlib import Path


class Pythons:
    """Programs that are started as a peer's Python is, and do something else with the same arguments."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def that(self, does: str) -> Path:
        """Return a Python that runs these lines, with `texts` and `run` as a peer is given them."""
        path = self._folder / "python"
        path.write_text(
            f"#!{sys.executable}\n"
            "import json, os, sys\nfrom pathlib import Path\n"
            "texts, run = map(Path, sys.argv[3:])\n"
            f"{does}\n"
        )
        path.chmod(0o755)
        return path

    def that_writes(self, run: str) -> Path:
        """Return a Python whose peer prints a line and writes this as its run."""
        return self.that(f"print('Loading weights')\nrun.write_text({run!r})\n")
