"""The wording about a visitor's documents. No Streamlit."""

from assistant.libraries.keeping import Grown
from assistant.models.menu import ModelEntry, available_models, receiver
from assistant.models.metered import is_paid
from assistant.storage.libraries import OverLibrary
from corpus.records import Paper
from corpus.settings import Settings
from corpus.wording import counted
from indexer.uploads.sandbox import LIMITS
from indexer.uploads.session import MOST_DOCUMENTS, UploadedDocument

LIMITS_SAID = (
    f"Up to {MOST_DOCUMENTS} readable documents, of {LIMITS.most_bytes // 2**20} MB and {LIMITS.most_pages} "
    "pages at most each. Kept for this visit only, shown to no other visitor, gone when you remove them or "
    "leave, unless you keep them."
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


def summary_offer(chosen: str, settings: Settings) -> ModelEntry | None:
    """Return the writer of that name where it may sum documents up: a model whose calls cost nothing."""
    entry = next((entry for entry in available_models(settings) if entry.id == chosen), None)
    return entry if entry and not is_paid(entry) else None


def facts_of(document: UploadedDocument) -> str:
    """Describe a document's name, pages and passages in one line."""
    parts = [document.name] if document.name != document.title else []
    parts += [counted(document.pages, "page")] if document.pages else []
    return " · ".join([*parts, counted(document.passages, "passage")])


def progress_of(document: UploadedDocument) -> str:
    """Describe the progress of a document that is not ready yet."""
    if document.state == "waiting":
        return "waiting for others to be read"
    if document.state == "reading":
        return "reading"
    if document.state == "summarising":
        return "being summed up"
    return f"making it searchable, {document.share:.0%}"


def removal_of(name: str, documents: int) -> str:
    """Return the question before documents and their conversation are removed.

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
    """Return the remarks on how a document was read, as sentences."""
    return " ".join(f"{one[:1].upper()}{one[1:].rstrip('.')}." for one in document.remarks[:3] if one.strip())


def places_of(ready: int) -> tuple[str, str]:
    """Return the choices of what to ask where nothing is kept: the collection, and the ready documents."""
    return "The collection", f"Your documents ({ready})"


def kept_facts(documents: int, size: int, *, is_own: bool) -> str:
    """Describe the content and the owner of a kept library."""
    held = f"{counted(documents, 'document')} · {size / 1_000_000:.1f} MB"
    if is_own:
        return f"{held} · kept until you delete it"
    return f"{held} · shared with you: you can open, browse and ask it, and only its owner can change it"


def kept_facts_of(paper: Paper) -> str:
    """Return as what a kept document was brought, and how long it is, in one line."""
    pages = [counted(paper.page_count, "page")] if paper.page_count else []
    return " · ".join([paper.source or paper.url, *pages])


def describe_stored_over(over: OverLibrary) -> str:
    """Count the conversations and comparisons stored over a library, "" for none."""
    parts = [counted(len(over.conversations), "conversation")] if over.conversations else []
    parts += [counted(len(over.comparisons), "comparison")] if over.comparisons else []
    return " and ".join(parts)


def deletion_of(documents: int, over: OverLibrary) -> str:
    """Return the question before a library is deleted, with everything deleted along with it."""
    said = describe_stored_over(over)
    about = f", and {said} about them, those of people who have its link too" if said else ""
    what = f"{counted(documents, 'document')} with {'its file' if documents == 1 else 'their files'}"
    return f"This deletes {what}{about}. It cannot be had back."


def deletion_message(title: str, documents: int, over: OverLibrary) -> str:
    """Report a deleted library and what was deleted with it."""
    said = describe_stored_over(over)
    return (
        f"“{title}” has been deleted: {counted(documents, 'document')}{f', {said}' if said else ''}. Nothing "
        "of it is left on this server."
    )


def keeping_message(title: str, grown: Grown) -> str:
    """Report the documents kept in a library."""
    added, there = len(grown.added), len(grown.there)
    parts = [f"{counted(added, 'document')} kept in “{title}”."] if added else []
    if there:
        parts.append(f"{counted(there, 'document')} {'was' if there == 1 else 'were'} there already.")
    return " ".join(parts)
