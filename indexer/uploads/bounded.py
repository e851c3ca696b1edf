"""Run another program of ours within limits of time, memory and files."""

import argparse
import json
import runpy
import sys

from corpus.sandbox.confinement import ConfinementError, confine
from corpus.sandbox.limits import bound
from corpus.settings import read_settings


def main() -> None:
    """Set the limits of this process, then run the named module with the remaining arguments."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=int, required=True)
    parser.add_argument("--memory", type=int, required=True)
    parser.add_argument("program", nargs="+")
    options = parser.parse_args()
    bound(options.seconds, options.memory)
    try:
        confine(required=read_settings().sandbox == "required")
    except ConfinementError as error:
        print(json.dumps({"error": str(error)}))
        sys.exit(2)
    sys.argv = options.program
    runpy.run_module(options.program[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
