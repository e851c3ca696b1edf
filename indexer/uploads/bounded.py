"""The program that runs another program of ours within limits, one that cannot set them itself."""

import argparse
import runpy
import sys

from indexer.parsers import bound, cut_off_network


def main() -> None:
    """Bound what this process may take, then run the module that is named with what stands behind it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=int, required=True)
    parser.add_argument("--memory", type=int, required=True)
    parser.add_argument("program", nargs="+")
    given = parser.parse_args()
    bound(given.seconds, given.memory)
    cut_off_network()
    sys.argv = given.program
    runpy.run_module(given.program[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
