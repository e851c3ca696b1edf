"""What part each passage of a paper plays: by its headings, and by its place where they say nothing."""

import re
from collections.abc import Sequence
from typing import Literal

from assistant.generators.quoting import is_back_matter
from corpus.records import Paper, Passage, Section

Role = Literal[
    "abstract",
    "introduction",
    "related",
    "method",
    "experiments",
    "discussion",
    "conclusion",
    "advice",
    "future",
    "limitations",
    "back",
]
# The first that is met decides: "Conclusions and future work" concludes, "Related work" is no work of theirs.
_HEADINGS: tuple[tuple[Role, str], ...] = (
    ("back", r"^\W*(?:acknowledge?ments?|references|bibliography|appendi|ethic|funding|author contrib)"),
    ("limitations", r"\blimitations?\b|\bcaveats?\b"),
    (
        "conclusion",
        r"\bconclu|\bsummary\b|\bfinal remarks\b",
    ),
    ("advice", r"\badvice\b|\brecommendations?\b|\btake-?aways?\b"),
    ("future", r"\bfuture\b|\boutlook\b|\bopen (?:problems|questions|issues)\b"),
    ("discussion", r"\bdiscussions?\b|\berror analys|\badvantages?\b|\blessons\b"),
    ("related", r"\brelated\b|\b(?:previous|prior) (?:work|research)|\bbackground\b|\bliterature\b"),
    ("introduction", r"\bintroduct|\bmotivation\b|\boverview\b"),
    ("experiments", r"\bexperiment|\bevaluat|\bresults?\b|\banalys[ie]s\b|\bperformance\b|\bcompar"),
    ("method", r"\bmethod|\bapproach|\bmodel|\balgorithm|\bsystem\b|\barchitecture\b|\bfeatures?\b"),
)


def read_roles(paper: Paper, passages: Sequence[Passage]) -> dict[int, Role]:
    """Return the role of every passage of running text, by its number.

    The title standing for an abstract has none, nor have captions and notes. A section whose heading says
    nothing introduces where it is the first of several, and else says how things were done.
    """
    text = [one for one in passages if one.kind in ("abstract", "body") and one.text != paper.title]
    tops = list(dict.fromkeys(one.section[:1] for one in text if one.kind == "body"))
    return {one.number: _role(one, tops) for one in text}


def _role(passage: Passage, tops: Sequence[tuple[Section, ...]]) -> Role:
    if passage.kind == "abstract":
        return "abstract"
    if any(is_back_matter(section.title) for section in passage.section):
        return "back"
    # The innermost heading knows best, but for "Results" within "Related work".
    for section in reversed(passage.section):
        if role := _said_by(section.title):
            return role
    return "introduction" if len(tops) > 1 and passage.section[:1] == tops[0] else "method"


def _said_by(title: str) -> Role | None:
    return next((role for role, pattern in _HEADINGS if re.search(pattern, title, re.IGNORECASE)), None)
