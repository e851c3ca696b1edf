"""What of a passage is searched and encoded."""

from corpus.records import Paper, Passage


def indexed_text(paper: Paper, passage: Passage) -> str:
    """Return what of a passage is searched and encoded: title and section path before its text."""
    if passage.text == paper.title:
        return paper.title
    headings = (section.title for section in passage.section)
    return "\n".join(part for part in (paper.title, *headings, passage.text) if part)


def sentence_texts(paper: Paper, passage: Passage) -> list[str]:
    """Return what of a passage is encoded piece by piece: its paper's title, then each sentence."""
    return [paper.title, *(passage.sentence_text(index) for index in range(len(passage.sentences)))]
