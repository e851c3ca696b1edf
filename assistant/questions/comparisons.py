"""Which two things a question compares, as far as its words tell."""

import re

from assistant.questions.vocabulary import vocabulary
from corpus.text import words

_SIDE = r"(?:the |an? )?(?P<{0}>[^,;:?.!]{{1,80}}?)"
_END = r"(?=\s+(?:on|for|in|when|at|with|by|as|regarding|concerning|in terms of)\b|\s*[,;:?.!]|\s*$)"
_A, _B = _SIDE.format("a"), _SIDE.format("b")
_HOW = r"^\W*(?:and |but )?(?:how|in what (?:way|ways|respects?)|in which (?:way|ways|respects?))\s+"
_COMPARED = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\bdifferences?\s+between\s+{_A}\s+and\s+{_B}{_END}",
        rf"\bwhat\s+(?:sets|distinguishes|separates)\s+{_A}\s+(?:apart\s+)?from\s+{_B}{_END}",
        rf"{_HOW}(?:do|does|did|is|are)\s+{_A}\s+(?:and|or)\s+{_B}\s+(?:differ|compare|relate)\b",
        rf"{_HOW}(?:do|does|did|is|are)\s+{_A}\s+(?:differ|differs|different)\s+from\s+{_B}{_END}",
        rf"{_HOW}(?:do|does|did|is|are)\s+{_A}\s+(?:compared?|relates?|related)\s+(?:with|to|against)\s+{_B}{_END}",
        rf"^\W*(?:please |can you )?(?:compare|contrast)\s+{_A}\s+(?:and|with|to|against)\s+{_B}{_END}",
        rf"^\W*(?:what about |how about )?{_A}\s+(?:versus|vs\.?)\s+{_B}{_END}",
        rf"\bcomparison\s+(?:between|of)\s+{_A}\s+(?:and|with|to)\s+{_B}{_END}",
        rf"\bwhat\s+do\s+{_A}\s+and\s+{_B}\s+have\s+in\s+common\b",
    )
)


def compared(question: str) -> tuple[str, str] | None:
    """Return the two things that a question compares, in its words; None where it names less than two."""
    for pattern in _COMPARED:
        if found := pattern.search(question):
            sides = found["a"].strip(), found["b"].strip()
            return None if any(vocabulary().pointing.issuperset(words(side)) for side in sides) else sides
    return None
