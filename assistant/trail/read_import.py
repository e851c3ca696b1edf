"""The program that checks a file on its standard input and prints what of it may be taken in.

Its death costs that file.
"""

import json
import sys
from typing import cast

from assistant.records import AssistantError
from assistant.trail.imports import ImportKind, check_import


def main(kind: str) -> int:
    """Print a file as it is written here, or why it is not taken, as JSON; return the exit code."""
    try:
        sys.stdout.buffer.write(check_import(cast(ImportKind, kind), sys.stdin.buffer.read()))
    except AssistantError as error:
        print(json.dumps({"error": str(error)}))
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
