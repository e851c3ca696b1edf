"""Ask a running server over HTTP, with nothing but the standard library.

PAPER_TRAIL_API_KEYS=notebook:SECRET paper-trail app        # in another terminal
python examples/ask_over_http.py http://127.0.0.1:8501 SECRET "QUESTION"
"""

import json
import sys
import urllib.request


def main(server: str, key: str, question: str) -> None:
    request = urllib.request.Request(  # noqa: S310 - the address is the user's own
        f"{server}/api/v1/ask",
        data=json.dumps({"question": question}).encode(),
        headers={"Authorization": f"Bearer {key}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=300) as reply:  # noqa: S310
        answer = json.load(reply)
    print(json.dumps(answer, indent=2, ensure_ascii=False))


if __name__ == "__main__":
    main(*sys.argv[1:4])
