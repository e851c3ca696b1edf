"""Whether a sentence of a paper can be read without the ones around it."""

import re
import unicodedata
from collections.abc import Iterable, Iterator

from assistant.questions.vocabulary import vocabulary
from corpus.language.stemming import ENGLISH, stem
from corpus.records import Passage
from corpus.sentences import is_formula, sentence_spans
from corpus.text import words

SHORTEST, LONGEST = 7, 60
NEAR_START = 12
SHORTEST_ELSEWHERE, LONGEST_ELSEWHERE = 4, 120  # words in other languages: some join them, some have none
LETTERS = 0.8  # of a sentence at least
SHORT_PASSAGE = 60  # words
_ENDS = '.!”"’)]»“。！．।؟۔'
FUNCTION_WORDS = 0.12  # of the words of a sentence at least
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
# The rest of "In (Lee, 2001), rules are learned" and of "as shown by [3]".
_LOST = re.compile(
    r"^(?:In|By|From|For|With|As in|See|Following|Like|Unlike|While),\s"
    r"|\b(?:in|by|of|from|see|following|than|with|and|like)\s*[.;)](?:\s|$)",
    re.IGNORECASE,
)
# "The name for that merging step", "Judges also prefer": what stood before says what is meant.
_POINTS_BACK = re.compile(
    r"^(?:\S+\s+){1,3}also\b|^this (?:note|report)\b"
    r"|\b(?:for|of|to|from|with|on)\s+(?:that|this|these|those|such)\s+"
    r"(?!(?:the|an?|it|they|we|of|in|who|which|that|is|are|was|were|paper|work|study|article|survey)\b)[a-z]",
    re.IGNORECASE,
)
# "The same corpus", "In this way", "Further analysis": the sentence before says which.
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
# "these different sets of labels", "this simple approach": fine only where the sentence has said which.
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
    """Return True if a section thanks people or lists works, and so answers nothing."""
    return _BACK_MATTER.fullmatch(title) is not None


def is_quotable(sentence: str, language: str = "") -> bool:
    """Return True if a sentence is whole and plain, and points at no table or figure.

    Of one in another language than English only is asked whether it is whole.
    """
    if language not in ("", ENGLISH):
        return _is_whole(sentence)
    if not SHORTEST <= len(words(sentence)) <= LONGEST or sentence[-1] not in '.!”"’)]':
        return False
    if "[...]" in sentence or len(sentence_spans(sentence)) > 1 or is_formula(sentence):
        return False
    if sentence.count("(") != sentence.count(")") or _is_row(sentence):
        return False
    if not (sentence[0].isupper() or sentence[0].isdigit()) or _UNQUOTABLE.search(sentence):
        return False
    letters = sum(character.isalpha() or character.isspace() for character in sentence)
    return letters >= LETTERS * len(sentence)


def _is_whole(sentence: str) -> bool:
    if not SHORTEST_ELSEWHERE <= len(words(sentence)) <= LONGEST_ELSEWHERE or sentence[-1] not in _ENDS:
        return False
    if sentence[0].islower() or sentence.count("(") != sentence.count(")"):
        return False
    # The signs of vowels that some scripts write are marks, no letters.
    plain = sum(unicodedata.category(character)[0] in "LMZ" for character in sentence)
    return (
        plain >= LETTERS * len(sentence) and not is_formula(sentence) and len(sentence_spans(sentence)) == 1
    )


def _is_row(sentence: str) -> bool:
    """Return True if a text has hardly any of the small words of sentences: a row of a table."""
    said = words(sentence)
    return sum(word in vocabulary().function for word in said) < FUNCTION_WORDS * len(said)


def can_stand_alone(text: str) -> bool:
    """Return True if a plain sentence can be quoted, and points to no other place."""
    if not text or not is_quotable(text) or has_lost_a_name(text):
        return False
    return _ELSEWHERE.search(text) is None and text[-1] != "?"


def has_lost_a_name(text: str) -> bool:
    """Return True if a sentence named what it cites by the citation alone: "In, rules are learned"."""
    return _LOST.search(text) is not None


def points_back(sentence: str) -> bool:
    """Return True if a sentence says near its beginning what only the one before it explains."""
    return _POINTS_BACK.search(" ".join(sentence.split()[:NEAR_START])) is not None


def leans(text: str) -> bool:
    """Return True if a plain sentence opens by pointing to the one before it."""
    if _OF_AUTHORS.match(text):
        return False
    unclear = bool(vocabulary().unclear_start.intersection(words(text)[:1])) or points_back(text)
    return unclear or _LEANING.match(text) is not None


def numbers_beside(passage: Passage) -> tuple[int, ...]:
    """Return the numbers of the passages beside one that says little alone.

    Of a short one, such as the line over a table, those before and after; of one that points back, the one
    before. An abstract is whole.
    """
    if passage.kind == "abstract":
        return ()
    if len(passage.text.split()) < SHORT_PASSAGE:
        return passage.number - 1, passage.number + 1
    return (passage.number - 1,) if passage.sentences and leans(passage.sentence_text(0)) else ()


def read_with(passage: Passage, passages: Iterable[Passage]) -> list[Passage]:
    """Return the neighbouring passages in the same section, to be read with `passage`."""
    numbers = numbers_beside(passage)
    return [one for one in passages if one.number in numbers and one.section == passage.section]


def points_away(text: str) -> bool:
    """Return True if a sentence says "these" or "this" of something that it has not named."""
    if _POINTING.search(text):
        return True
    named: set[str] = set()
    position = 0
    for found in _DEMONSTRATIVE.finditer(text):
        named |= _content(text[position : found.start()])
        position = found.start()
        if named.isdisjoint(_content(found[1])):
            return True
    return False


def has_no_antecedent(text: str) -> bool:
    """Return True if a sentence says "it" or "they" before it has named anything: "Results show that it"."""
    first = _PRONOUN.search(text)
    return first is not None and _content(text[: first.start()]) <= frozenset(_stems_of_reports())


def _stems_of_reports() -> Iterator[str]:
    known = vocabulary()
    yield from map(stem, (*known.finding, *known.generic, *known.aspects, "experimental", "empirical"))


def _content(text: str) -> set[str]:
    known = vocabulary()
    return {stem(word) for word in words(text) if word not in known.function and len(word) > 2}
