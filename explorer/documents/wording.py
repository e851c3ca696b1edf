"""How a visitor's documents are spoken of. No Streamlit."""

from explorer.documents.apart import LIMITS
from explorer.documents.own import MOST_DOCUMENTS, OwnDocument
from explorer.parts.wording import counted

LIMITS_SAID = (
    f"Up to {MOST_DOCUMENTS} readable documents, of {LIMITS.most_bytes // 2**20} MB and {LIMITS.most_pages} "
    "pages at most each. Kept for this visit only, seen by nobody else, gone when you remove them or leave."
)
NOT_STORED = (
    "About your own documents: this conversation is kept in this visit only. Its trail can be downloaded."
)


def facts_of(document: OwnDocument) -> str:
    """Return what a document gave, in one line."""
    parts = [document.name] if document.name != document.title else []
    parts += [counted(document.pages, "page")] if document.pages else []
    return " · ".join([*parts, counted(document.passages, "passage")])


def progress_of(document: OwnDocument) -> str:
    """Return what is being done with a document that is not ready yet."""
    if document.state == "waiting":
        return "waiting for others to be read"
    if document.state == "reading":
        return "reading"
    return f"making it searchable, {document.share:.0%}"


def removal_of(name: str, documents: int) -> str:
    """Return what is asked before `documents` of them are removed, with what was asked of them.

    `name` is what the one is called, where one is removed.
    """
    what = f"“{name}”" if name else counted(documents, "document")
    return f"Remove {what} and the conversation about {'them' if documents > 1 else 'it'}?"


def not_searched(ready: int, reading: int) -> str:
    """Return that a question that was asked of the collection left the reader's documents out."""
    if not ready:
        return f"Not searched: {counted(reading, 'document')} of your own, still being read."
    return f"Not searched: {counted(ready, 'document')} of your own."


def remarks_of(document: OwnDocument) -> str:
    """Return what there is to say of how a document was read, as sentences."""
    return " ".join(f"{one[:1].upper()}{one[1:].rstrip('.')}." for one in document.remarks[:3] if one.strip())


def places_of(ready: int) -> tuple[str, str]:
    """Return what can be asked: the collection, and so many documents."""
    return "The collection", f"Your documents ({ready})"
