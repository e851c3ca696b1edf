"""The wording about a visitor's documents."""

import pytest

from corpus.settings import Settings
from explorer.uploads.wording import (
    facts_of,
    not_searched,
    progress_of,
    remarks_of,
    removal_of,
    where_passages_go,
)
from indexer.uploads.session import UploadedDocument


@pytest.mark.parametrize(
    ("chosen", "changes", "said"),
    [
        ("", {}, "No hosted model writes: nothing of your documents leaves this server."),
        ("", {"together_api_key": "k"}, "may be sent to Together AI"),
        ("/models/small", {"local_model": "/models/small"}, "runs on this machine: nothing of your"),
    ],
)
def test_where_passages_go_is_said_plainly(chosen: str, changes: dict[str, str], said: str) -> None:
    assert said in where_passages_go(chosen, Settings(**changes))  # type: ignore[arg-type]


def test_documents_are_spoken_of_plainly() -> None:
    ready = UploadedDocument(
        1, "a.pdf", "ready", "your-documents/a", "A title", 12, 1, ("only the first 3 pages were read",)
    )
    assert facts_of(ready) == "a.pdf · 12 pages · 1 passage"
    assert remarks_of(ready) == "Only the first 3 pages were read."
    assert progress_of(UploadedDocument(1, "a", "encoding", share=0.456)) == "making it searchable, 46%"
    assert removal_of("", 2) == "Remove 2 documents and the conversation about them?"
    assert removal_of("a.pdf", 1) == "Remove “a.pdf” and the conversation about it?"
    assert not_searched(2, 0) == "Not searched: 2 documents of your own."
    assert not_searched(0, 1) == "Not searched: 1 document of your own, still being read."
