"""Sentences of a paper as they can stand outside it: which may be quoted, and in whose name."""

import re
from collections.abc import Sequence

from corpus.records import Author
from corpus.sentences import sentence_spans
from corpus.text import words

SHORTEST, LONGEST = 7, 60
NEAR_START = 12
_LEAD = re.compile(
    r"^(?:however|moreover|furthermore|in addition|additionally|therefore|thus|hence|finally|specifically|"
    r"in particular|to this end|also|besides|meanwhile|for example|for instance|in contrast|as a result|"
    r"on the other hand|consequently|accordingly|in this (?:paper|work|study|article)|nevertheless|"
    r"first|second|third|lastly|notably|importantly|interestingly|concretely|instead|further),\s+",
    re.IGNORECASE,
)
_IN_THIS_PAPER = re.compile(r"^in this (?:paper|work|study|article),?\s+(?=we\b)", re.IGNORECASE)
_UNQUOTABLE = re.compile(
    r"\b(?:tables?|tab\.|figures?|figs?\.|sections?|secs?\.|equations?|eqs?\.|algorithms?)\s*\(?\d"
    r"|\bappendi(?:x|ces)\b|§|\b(?:table|figure) (?:below|above)\b|https?://"
    r"|\b(?:codes?|data|datasets?|models?)\b[^.]{0,40}\b(?:is|are|will be|made)\s+(?:\w+ly\s+)?"
    r"(?:available|released)\b"
    r"|\bthe remainder of this paper\b|\bis organi[sz]ed as follows\b",
    re.IGNORECASE,
)
# "The name for that merging step", "Judges also prefer": what stood before says what is meant.
_POINTS_BACK = re.compile(
    r"^(?:\S+\s+){1,3}also\b|^this (?:note|report)\b"
    r"|\b(?:for|of|to|from|with|on)\s+(?:that|this|these|those|such)\s+"
    r"(?!(?:the|an?|it|they|we|of|in|who|which|that|is|are|was|were|paper|work|study|article|survey)\b)[a-z]",
    re.IGNORECASE,
)
_BACK_MATTER = re.compile(
    r"\W*(?:\d[\d.]*\s+)?(?:acknowledge?ments?|references|bibliography)\W*", re.IGNORECASE
)
_FIRST_PERSON = re.compile(r"\b(we|our|ours|us|ourselves)\b", re.IGNORECASE)
_THIRD_PERSON = {"we": "they", "our": "their", "ours": "theirs", "us": "them", "ourselves": "themselves"}


def is_quotable(sentence: str) -> bool:
    """Tell whether a sentence can stand outside its paper: whole, plain, pointing at no table or figure."""
    if not SHORTEST <= len(words(sentence)) <= LONGEST or sentence[-1] not in '.!”"’)]':
        return False
    if "[...]" in sentence or len(sentence_spans(sentence)) > 1:
        return False
    if not (sentence[0].isupper() or sentence[0].isdigit()) or _UNQUOTABLE.search(sentence):
        return False
    letters = sum(character.isalpha() or character.isspace() for character in sentence)
    return letters >= 0.8 * len(sentence)


def speaks_of_itself(sentence: str) -> bool:
    """Tell whether a sentence says "we" or the like, and so changes in the third person."""
    return _FIRST_PERSON.search(sentence) is not None


def is_back_matter(title: str) -> bool:
    """Tell whether a section thanks people or lists works, and so answers nothing."""
    return _BACK_MATTER.fullmatch(title) is not None


def points_back(sentence: str) -> bool:
    """Tell whether a sentence says near its beginning what only the one before it explains."""
    return _POINTS_BACK.search(" ".join(sentence.split()[:NEAR_START])) is not None


def without_lead(sentence: str) -> str:
    """Return a sentence without the connective that tied it to the one before."""
    rest = _LEAD.sub("", _IN_THIS_PAPER.sub("", sentence), count=1)
    return rest[:1].upper() + rest[1:]


def in_third_person(sentence: str, authors: Sequence[Author]) -> str:
    """Return a sentence with its "we" as its authors: the first by name, the others as "they"."""
    subject = _named(authors)
    used = False

    def replaced(found: re.Match[str]) -> str:
        nonlocal used
        word = found[0].lower()
        if found[0] == "US":
            return found[0]
        other = _THIRD_PERSON[word]
        if not used and word in ("we", "our"):
            used = True
            other = subject if word == "we" else _possessive(subject)
        return other[:1].upper() + other[1:] if found.start() == 0 else other

    return _FIRST_PERSON.sub(replaced, sentence)


def _named(authors: Sequence[Author]) -> str:
    families = [author.family for author in authors if author.given]
    if len(families) == 2:
        return f"{families[0]} and {families[1]}"
    return f"{families[0]} et al." if len(families) > 2 else "the authors"


def _possessive(name: str) -> str:
    return f"{name}'s" if not name.endswith("s") else f"{name}'"
