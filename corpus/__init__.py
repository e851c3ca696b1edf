"""The corpus of papers: records, storage, search, encoding and page images."""

import os

VERSION = "0.2.0"
"""The product's, as transcripts and the About page name it."""

# Threads of OpenMP, torch's own, wait asleep: waiting busily, as they do by themselves, two processes on the
# same cores take each other's time and get a third of the work done. It is read when the library is loaded.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
