"""Whether a sentence of a paper can be read without the ones around it."""

import re
import unicodedata
from collections.abc import Iterable

from assistant.questions.vocabulary import vocabulary
from corpus.language.stemming import ENGLISH, stem
from corpus.records import Passage
from corpus.sentences import is_formula, is_mostly_variables, sentence_spans
from corpus.text import words

SHORTEST, LONGEST = 7, 60
NEAR_START = 12
SHORTEST_ELSEWHERE, LONGEST_ELSEWHERE = 4, 120  # words in other languages: some compound or do not space them
LETTERS = 0.8  # least share of letters and spaces in a sentence
SHORT_PASSAGE = 60  # words
_ENDS = '.!”"’)]»“。！．।؟۔'
FUNCTION_WORDS = 0.12  # least share of a sentence's words
_UNQUOTABLE = re.compile(
    r"\b(?:tables?|tab\.|figures?|figs?\.|sections?|secs?\.|equations?|eqs?\.|algorithms?)\s*\(?\d"
    r"|\bappendi(?:x|ces)\b|§|\s#\s|\bwww\.|^\d{1,2}\.\s|\b(?:table|figure) (?:below|above)\b|https?://"
    r"|\b(?:codes?|data|datasets?|models?)\b[^.]{0,40}\b(?:is|are|will be|made)\s+(?:\w+ly\s+)?"
    r"(?:available|released)\b"
    r"|\bthe remainder of this paper\b|\bis organi[sz]ed as follows\b",
    re.IGNORECASE,
)
# References that a reader of a single sentence cannot follow.
_ELSEWHERE = re.compile(
    r"\b(?:above|below|aforementioned|the following|as follows|(?:last|this|next|previous|following) "
    r"(?:section|chapter|subsection|paragraph|table|figure)|the former|the latter|respectively|"
    r"this (?:example|sentence|case|rule|step|figure|equation|formula)|these (?:examples|cases|rules)|"
    r"(?:columns?|rows?|lines?|examples?|steps?) \(?\d+|in the example|let (?:us|me)|arg ?max\w?)\b"
    r"|[=+<>∑∏∈∗|{}\\]|\bthis (?:due|by|with|in|as|we)\b"
    r"|\b(?:as|just) (?:mentioned|noted|described|discussed|explained|said)\b|\b(?:Table|Figure|Fig)\b",
    re.IGNORECASE,
)
# Remains of "In (Lee, 2001), rules are learned" and of "as shown by [3]" without the citation.
_LOST = re.compile(
    r"^(?:In|By|From|For|With|As in|See|Following|Like|Unlike|While),\s"
    r"|\b(?:in|by|of|from|see|following|than|with|and|like)\s*[.;)](?:\s|$)",
    re.IGNORECASE,
)
# "The name for that merging step", "Judges also prefer": they need the sentence before.
_POINTS_BACK = re.compile(
    r"^(?:\S+\s+){1,3}also\b|^this (?:note|report)\b"
    r"|\b(?:for|of|to|from|with|on)\s+(?:that|this|these|those|such)\s+"
    r"(?!(?:the|an?|it|they|we|of|in|who|which|that|is|are|was|were|paper|work|study|article|survey)\b)[a-z]",
    re.IGNORECASE,
)
# "The same corpus", "In this way", "Further analysis": beginnings that need the sentence before.
_LEANING = re.compile(
    r"(?:the|a) (?:same|other|others|second|third|latter|former|remaining|next|last|resulting|subsequent)\b"
    r"|(?:most|some|many|all|none|few|each|one) of (?:these|them|those|which)\b"
    r"|(?:all|both|the) (?:two|three|four|five|six)\b"
    r"|(?:in|by|with|from|under|through|using|given|because of|based on|as|after|like|unlike|for) "
    r"(?:this|that|these|those|such|it|them|its)\b"
    r"(?! (?:paper|work|study|article|research|report|note|thesis))"
    r"|(?:further|subsequent|additional|other|others|another|more|both|neither|first|second|third|rather|"
    r"as a|following|only|too|too,|again|later|here|there|hence|compared to|doing so|one of them)\b"
    r"|(?:in|at|during) the (?:first|second|third|last|final|next) (?:[\w-]+ )?"
    r"(?:stage|step|phase|part|pass)\b"
    r"|(?:discussion|conclusion|note|remark|summary|abstract|introduction|results|motivation)s?:",
    re.IGNORECASE,
)
_OF_AUTHORS = re.compile(
    r"(?:this|the (?:present|current)) (?:paper|work|study|article|report|note|thesis|research)\b",
    re.IGNORECASE,
)
# "Similar to that, it", "is based on it", "four of them".
_POINTING = re.compile(
    r"^(?![^,]*(?:['’]s|s['’]) )[^,]{0,100},\s+(?:it|they|this|these|he|she)\b"
    r"|\b(?:based|built|builds?|rel(?:y|ies|ying)|depend(?:s|ing)?|on top) (?:up)?o[nf] "
    r"(?:it|them|this|these|that)\b"
    r"|\b(?:one|two|three|four|five|six|all|some|none|each|most|any|many|both) of (?:them|these|those)\b"
    r"|\bboth(?=[.,;])",
    re.IGNORECASE,
)
# "these different sets of labels", "this simple approach": clear only if the sentence has named them before.
_DEMONSTRATIVE = re.compile(
    r"\b(?:these|those(?! (?:of|who|that|which|in|with|from|on|for|to|by|based|used|obtained)\b)"
    r"|such(?! (?:as|that)\b)"
    r"|this(?! (?:paper|work|study|article|report|thesis|note|research|is|was|can|may|could|will|would)\b))"
    r"\s+((?:[\w-]+\s+){0,3}[\w-]+)",
    re.IGNORECASE,
)
_PRONOUN = re.compile(r"\b(?:it|its|they|their|them)\b", re.IGNORECASE)
_BACK_MATTER = re.compile(
    r"\W*(?:\d[\d.]*\s+)?(?:acknowledge?ments?|references|bibliography)\W*", re.IGNORECASE
)


def is_back_matter(title: str) -> bool:
    """Return True for a section of acknowledgements or references."""
    return _BACK_MATTER.fullmatch(title) is not None


def is_quotable(sentence: str, language: str = "") -> bool:
    """Return True if a sentence is complete prose without references to tables or figures.

    In languages other than English, only completeness is checked.
    """
    if language not in ("", ENGLISH):
        return _is_whole(sentence)
    if not SHORTEST <= len(words(sentence)) <= LONGEST or sentence[-1] not in '.!”"’)]':
        return False
    if "[...]" in sentence or len(sentence_spans(sentence)) > 1:
        return False
    if is_formula(sentence) or is_mostly_variables(sentence) or sentence.count("(") != sentence.count(")"):
        return False
    if (
        _is_row(sentence)
        or not (sentence[0].isupper() or sentence[0].isdigit())
        or _UNQUOTABLE.search(sentence)
    ):
        return False
    letters = sum(character.isalpha() or character.isspace() for character in sentence)
    return letters >= LETTERS * len(sentence)


def _is_whole(sentence: str) -> bool:
    if not SHORTEST_ELSEWHERE <= len(words(sentence)) <= LONGEST_ELSEWHERE or sentence[-1] not in _ENDS:
        return False
    if sentence[0].islower() or sentence.count("(") != sentence.count(")"):
        return False
    # Vowel signs of some scripts are marks (M), not letters.
    plain = sum(unicodedata.category(character)[0] in "LMZ" for character in sentence)
    return (
        plain >= LETTERS * len(sentence) and not is_formula(sentence) and len(sentence_spans(sentence)) == 1
    )


def _is_row(sentence: str) -> bool:
    """Return True if a text has hardly any function words, as a row of a table."""
    tokens = words(sentence)
    return sum(word in vocabulary().function for word in tokens) < FUNCTION_WORDS * len(tokens)


def can_stand_alone(text: str) -> bool:
    """Return True if a plain sentence can be quoted, and refers to no other place."""
    if not text or not is_quotable(text) or has_lost_a_name(text):
        return False
    return _ELSEWHERE.search(text) is None and text[-1] != "?"


def has_lost_a_name(text: str) -> bool:
    """Return True if a sentence lacks a name that was only a citation: "In, rules are learned"."""
    return _LOST.search(text) is not None


def points_back(sentence: str) -> bool:
    """Return True if the beginning of a sentence refers to the one before it."""
    return _POINTS_BACK.search(" ".join(sentence.split()[:NEAR_START])) is not None


def leans(text: str) -> bool:
    """Return True if a plain sentence opens with a reference to the one before it."""
    if _OF_AUTHORS.match(text):
        return False
    unclear = bool(vocabulary().unclear_start.intersection(words(text)[:1])) or points_back(text)
    return unclear or _LEANING.match(text) is not None


def numbers_beside(passage: Passage) -> tuple[int, ...]:
    """Return the numbers of the neighbours that a passage needs, () for an abstract.

    A short one, such as a line above a table, needs both; one that begins with a reference, the one before.
    """
    if passage.kind == "abstract":
        return ()
    if len(passage.text.split()) < SHORT_PASSAGE:
        return passage.number - 1, passage.number + 1
    return (passage.number - 1,) if passage.sentences and leans(passage.sentence_text(0)) else ()


def read_with(passage: Passage, passages: Iterable[Passage]) -> list[Passage]:
    """Return the neighbouring passages in the same section, to be read with `passage`."""
    numbers = numbers_beside(passage)
    return [
        neighbour
        for neighbour in passages
        if neighbour.number in numbers and neighbour.section == passage.section
    ]


def points_away(text: str) -> bool:
    """Return True if a sentence refers with "these" or "this" to something that it has not named."""
    if _POINTING.search(text):
        return True
    named: set[str] = set()
    position = 0
    for demonstrative in _DEMONSTRATIVE.finditer(text):
        named |= _content(text[position : demonstrative.start()])
        position = demonstrative.start()
        if named.isdisjoint(_content(demonstrative[1])):
            return True
    return False


def has_no_antecedent(text: str) -> bool:
    """Return True if a sentence has a pronoun before any noun it may refer to: "Results show that it"."""
    first, known = _PRONOUN.search(text), vocabulary()
    of_reports = map(stem, (*known.finding, *known.generic, *known.aspects, "experimental", "empirical"))
    return first is not None and _content(text[: first.start()]) <= set(of_reports)


def _content(text: str) -> set[str]:
    known = vocabulary()
    return {stem(word) for word in words(text) if word not in known.function and len(word) > 2}
