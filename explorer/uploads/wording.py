"""The wording about uploads and kept libraries. No Streamlit."""

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
    """Describe who receives questions and passages of uploads with the writer `chosen`."""
    models = {entry.id: entry for entry in available_models(settings)}
    others = list(dict.fromkeys(whom for model in models.values() if (whom := receiver(model, settings))))
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
    """Return the model `chosen` if it may summarise uploads, as its calls cost nothing; else None."""
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
    """Return the confirmation before uploads and their conversation are removed; `name` is "" for several."""
    subject = f"“{name}”" if name else counted(documents, "document")
    return f"Remove {subject} and the conversation about {'them' if documents > 1 else 'it'}?"


def not_searched(ready: int, reading: int) -> str:
    """Return the note that a question to the collection did not search the visitor's documents."""
    if not ready:
        return f"Not searched: {counted(reading, 'document')} of your own, still being read."
    return f"Not searched: {counted(ready, 'document')} of your own."


def remarks_of(document: UploadedDocument) -> str:
    """Return the remarks on how a document was read, as sentences."""
    remarks = (remark for remark in document.remarks[:3] if remark.strip())
    return " ".join(f"{remark[:1].upper()}{remark[1:].rstrip('.')}." for remark in remarks)


def places_of(ready: int) -> tuple[str, str]:
    """Return the labels of the choice between the collection and the uploads."""
    return "The collection", f"Your documents ({ready})"


def kept_facts(documents: int, size: int, *, is_own: bool) -> str:
    """Describe the content and the owner of a kept library."""
    facts = f"{counted(documents, 'document')} · {size / 1_000_000:.1f} MB"
    if is_own:
        return f"{facts} · kept until you delete it"
    return f"{facts} · shared with you: you can open, browse and ask it, and only its owner can change it"


def kept_facts_of(paper: Paper) -> str:
    """Return the source and the length of a kept document on one line."""
    pages = [counted(paper.page_count, "page")] if paper.page_count else []
    return " · ".join([paper.source or paper.url, *pages])


def describe_stored_over(over: OverLibrary) -> str:
    """Return the numbers of conversations and comparisons about a library in words, "" for none."""
    parts = [counted(len(over.conversations), "conversation")] if over.conversations else []
    parts += [counted(len(over.comparisons), "comparison")] if over.comparisons else []
    return " and ".join(parts)


def deletion_of(documents: int, over: OverLibrary) -> str:
    """Return the confirmation before a library is deleted, with all that is deleted with it."""
    stored = describe_stored_over(over)
    about = f", and {stored} about them, those of people who have its link too" if stored else ""
    files = f"{counted(documents, 'document')} with {'its file' if documents == 1 else 'their files'}"
    return f"This deletes {files}{about}. It cannot be had back."


def deletion_message(title: str, documents: int, over: OverLibrary) -> str:
    """Report a deleted library and what was deleted with it."""
    stored = describe_stored_over(over)
    return (
        f"“{title}” has been deleted: {counted(documents, 'document')}{f', {stored}' if stored else ''}. "
        "Nothing of it is left on this server."
    )


def keeping_message(title: str, grown: Grown) -> str:
    """Report the documents kept in a library."""
    added, there = len(grown.added), len(grown.there)
    parts = [f"{counted(added, 'document')} kept in “{title}”."] if added else []
    if there:
        parts.append(f"{counted(there, 'document')} {'was' if there == 1 else 'were'} there already.")
    return " ".join(parts)
