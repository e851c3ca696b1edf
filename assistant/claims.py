"""Which sentences of an answer make a claim that must cite something, and which need not."""

import re

from corpus.text import words

SHORTEST_CLAIM = 3
# What is bold or emphasised as a whole, on a line of its own, is a heading in all but name.
_BOLD_LINE = re.compile(r"(?:[-*+]\s+|\d{1,2}[.)]\s+)?(\*\*|__)[^*_\n]{1,120}\1:?", re.DOTALL)
_SOURCES = (
    r"(?:papers?|passages?|sources?|documents?|texts?|excerpts?|evidence|abstracts?|collection|material)"
)
_OPEN = re.compile(
    # "The papers do not say ...", "None of the passages reports ..."
    rf"\b{_SOURCES}\b[^.;]{{0,60}}\b(?:do|does|did|is|are|was|were|has|have|can|could)(?:n['’]t|\s*not)\b"
    rf"|\b(?:none|neither|nothing|no|little|nowhere)\b(?:\s+\w+){{0,4}}\s+{_SOURCES}\b"
    rf"|\b(?:not|n['’]t)\s+(?:\w+\s+){{0,2}}"
    rf"(?:addressed|answered|covered|discussed|mentioned|reported|described|stated|specified|provided|given|"
    rf"determined|found|known|said|clear)\b"
    rf"|\b(?:remains?|is|are|left)\s+(?:an?\s+)?(?:still\s+)?(?:open|unclear|unknown|unanswered|unresolved)\b"
    rf"|\bunclear\s+(?:whether|how|why|what|which|if)\b",
    re.IGNORECASE,
)


def needs_citation(sentence: str, claim: str) -> bool:
    """Tell whether an uncited sentence makes a claim; `claim` is the sentence without labels and Markdown.

    Headings, lead-ins to a list, questions and what is said of the papers' own gaps make none.
    """
    if len(words(claim)) < SHORTEST_CLAIM or claim.endswith((":", "?")):
        return False
    return _BOLD_LINE.fullmatch(sentence.strip()) is None and _OPEN.search(claim) is None
