"""The command that serves the corpus to other programs' models."""

import gc
import os
import signal
import sys


def mcp() -> None:
    """Serve the corpus as tools over standard input and output, by the Model Context Protocol.

    It ends when its client closes the connection. Nothing that is asked is stored.
    """
    from assistant.serving.library import PublishedLibrary  # noqa: PLC0415
    from assistant.serving.mcp_server import serve_on_standard_streams  # noqa: PLC0415 - half a second

    # Short commands run without garbage collection; this one runs for hours.
    gc.enable()
    # Python would wait for running calls to models; their connections end with the process.
    signal.signal(signal.SIGTERM, lambda *_: os._exit(143))
    try:
        serve_on_standard_streams(PublishedLibrary())
    finally:
        sys.stderr.flush()
        os._exit(0)
