"""How a visitor's documents are spoken of. No Streamlit."""

from assistant.models import available_models, receiver
from corpus.settings import Settings
from corpus.wording import counted
from indexer.uploads.sandbox import LIMITS
from indexer.uploads.session import MOST_DOCUMENTS, UploadedDocument

LIMITS_SAID = (
    f"Up to {MOST_DOCUMENTS} readable documents, of {LIMITS.most_bytes // 2**20} MB and {LIMITS.most_pages} "
    "pages at most each. Kept for this visit only, shown to no other visitor, gone when you remove them or "
    "leave."
)
NOT_STORED = (
    "About your own documents: this conversation is kept in this visit only. Its trail can be downloaded."
)


def where_passages_go(chosen: str, settings: Settings) -> str:
    """Return who is sent questions about documents and passages of them by the writer of that name."""
    models = {entry.id: entry for entry in available_models(settings)}
    others = list(dict.fromkeys(whom for one in models.values() if (whom := receiver(one, settings))))
    stays = "nothing of your documents leaves this server"
    if model := models.get(chosen):
        whom = receiver(model, settings)
        if not whom:
            return f"{model.label} runs on this machine: {stays}."
        return (
            f"{model.label} writes the answers: your questions and the passages found for them in your "
            f"documents are sent to {whom}."
        )
    if not others:
        return f"No hosted model writes: {stays}."
    return (
        f"As long as no hosted model writes, {stays}. With another choice under “Written by” your questions "
        f"and passages may be sent to {' or '.join(others)}."
    )


def facts_of(document: UploadedDocument) -> str:
    """Return what a document gave, in one line."""
    parts = [document.name] if document.name != document.title else []
    parts += [counted(document.pages, "page")] if document.pages else []
    return " · ".join([*parts, counted(document.passages, "passage")])


def progress_of(document: UploadedDocument) -> str:
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


def remarks_of(document: UploadedDocument) -> str:
    """Return what there is to say of how a document was read, as sentences."""
    return " ".join(f"{one[:1].upper()}{one[1:].rstrip('.')}." for one in document.remarks[:3] if one.strip())


def places_of(ready: int) -> tuple[str, str]:
    """Return what can be asked: the collection, and so many documents."""
    return "The collection", f"Your documents ({ready})"
