"""A program that takes a moment and prints when it began and ended."""

import json
import time

if __name__ == "__main__":
    began = time.monotonic()
    time.sleep(0.2)
    print(json.dumps([began, time.monotonic()]))
