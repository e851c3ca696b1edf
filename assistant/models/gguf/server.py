"""Serves a GGUF file on the loopback interface, for the process that starts it, until that ends.

    python -m assistant.models.gguf.server FILE CONTEXT THREADS

The key that requests have to carry is in the environment. The first line of standard output is the address.
"""

import os
import sys

import xllamacpp

KEY = "PAPER_TRAIL_LLAMA_KEY"


def main(file: str, context: int, threads: int) -> None:
    """Load the weights, print where they are served, and serve until standard input ends."""
    params = xllamacpp.CommonParams()
    params.model.path = file
    params.hostnames, params.port = ["127.0.0.1"], 0
    params.api_keys = [os.environ.pop(KEY)]
    params.n_parallel, params.n_ctx = 1, context
    params.cpuparams.n_threads = threads
    params.use_jinja, params.ui = True, False
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
