"""Programs in the place of a peer's Python."""

import sys
from pathlib import Path


class Pythons:
    """Programs that are started as a peer's Python is, and do something else with the same arguments."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def that(self, does: str) -> Path:
        """Return a Python that runs these lines, with `data`, `out` and `names` as a peer is given them."""
        path = self._folder / "python"
        path.write_text(
            f"#!{sys.executable}\n"
            "import json, os, sys\nfrom pathlib import Path\n"
            "module, data, out, *names = sys.argv[2:]\ndata, out = Path(data), Path(out)\n"
            "figures = {'build_seconds': 2.0, 'build_processor_seconds': 1.0, 'ms_per_query': 4.0}\n"
            "figures |= {'processor_ms_per_query': 3.0, 'versions': {'x': '1'}}\n"
            f"{does}\n"
        )
        path.chmod(0o755)
        return path

    def that_writes(self, rankings: str, figures: str = "json.dumps(figures)") -> Path:
        """Return a Python whose peer prints a line and writes this as each of its runs."""
        return self.that(
            "print('Loading weights')\n"
            "for name in names:\n"
            f"    (out / f'{{name}}.tsv').write_text({rankings!r})\n"
            f"    (out / f'{{name}}.json').write_text({figures})\n"
        )
