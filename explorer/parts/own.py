"""What a visitor's own documents are called in ids: no collection of a corpus has this name there."""

OWN_COLLECTION = "your-documents"


def is_own(paper_id: str) -> bool:
    """Tell whether a paper is one of a visitor's own documents, by its id."""
    return paper_id.startswith(f"{OWN_COLLECTION}/")
