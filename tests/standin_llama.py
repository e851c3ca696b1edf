"""Stands in for assistant.models.gguf.server: a chat server in a process of its own, faults included.

python tests/standin_llama.py MODE FILE CONTEXT THREADS
"""

import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.standin_chat import Received, StandinChat, reply


def main(mode: str, file: str, context: int, threads: int) -> None:
    key = os.environ["PAPER_TRAIL_LLAMA_KEY"]
    if mode == "refuses":
        sys.exit(3)

    def answer(request: Received) -> object:
        if mode == "dies":
            os._exit(139)
        assert request.headers["Authorization"] == f"Bearer {key}"
        told = {"file": file, "context": context, "threads": threads, "environment": sorted(os.environ)}
        return reply(json.dumps(told) if "told" in mode else "It ranks documents.")

    with StandinChat(default=answer) as server:
        print(server.address, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
