"""The program that runs another program of ours within limits, one that cannot set them itself."""

import argparse
import json
import runpy
import sys

from corpus.sandbox.confinement import ConfinementError, confine
from corpus.sandbox.limits import bound
from corpus.settings import read_settings


def main() -> None:
    """Bound what this process may take, then run the module that is named with what stands behind it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=int, required=True)
    parser.add_argument("--memory", type=int, required=True)
    parser.add_argument("program", nargs="+")
    given = parser.parse_args()
    bound(given.seconds, given.memory)
    try:
        confine(required=read_settings().sandbox == "required")
    except ConfinementError as error:
        print(json.dumps({"error": str(error)}))
        sys.exit(2)
    sys.argv = given.program
    runpy.run_module(given.program[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
