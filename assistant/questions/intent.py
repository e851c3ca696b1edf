"""The kind of answer a question asks for, read from its words."""

import re
from dataclasses import dataclass
from typing import Literal

from assistant.questions.comparisons import compared
from assistant.questions.names import names_in
from assistant.questions.parts import PartName, asked_part, part_cues
from assistant.questions.perspective import without_perspective
from assistant.questions.vocabulary import content_words, stems, vocabulary
from assistant.records import RequestKind
from corpus.records import Scope

_DEFINITION = re.compile(
    r"^\W*(?:what\s+(?:is|are|was|were|does)\b(?!\s+(?:being\s+)?(?:done|known|said|written|understood)\b)"
    r"|define|explain|describe|who\s+(?:is|was))\b",
    re.IGNORECASE,
)
# Not "What does X test?".
_ASKS_MEANING = re.compile(r"^\W*what does\b.*\b(?:mean|stand for)\b|^\W*(?!what does\b)", re.IGNORECASE)
_DEFINE = re.compile(r"^\W*(?:define|definition of)\b", re.IGNORECASE)
_YES_OR_NO = re.compile(
    r"^\W*(?:does|do|did|is|are|was|were|can|could|has|have|will|would|should)\b", re.IGNORECASE
)
_COUNT = re.compile(
    r"\bhow\s+(?:many|much)\b|^\W*(?:what|which)\s+(?:percentage|number)\s+of\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"\bhow\s+(?:many|much|large|big|long|old|often|fast|accurate)\b"
    r"|^\W*what\s+(?:is|are|was|were|does|do|did)\b.*\b(?:cost|price)\b",
    re.IGNORECASE,
)
_SHARE = re.compile(r"^\W*(?:what|which)\s+percentage\b", re.IGNORECASE)
_HOW_LARGE = re.compile(r"^\W*how\s+(?:large|big)\b", re.IGNORECASE)
_WHO = re.compile(r"^\W*(?:who|whose|(?:when|where)\s+(?:was|were|did))\b", re.IGNORECASE)
_MEASURE = re.compile(
    r"^\W*(?:which|what)\s+(?:\w+\s+)?(?:value|number|size|share|percentage|year|layer|rate|threshold|default)\b",
    re.IGNORECASE,
)
_WHICH = re.compile(r"^\W*(?:which|what)\s+(?!is\b|are\b|was\b|were\b|does\b|do\b|did\b)(\w+)", re.IGNORECASE)
# Words of questions on many papers.
_OF_MANY = re.compile(
    r"\b(?:papers|studies|literature|approaches|methods|(?:works?|research)\s+on|researchers|compare\w*|differ\w*|versus|vs)\b",
    re.IGNORECASE,
)
_LISTED = (
    r"(?:papers?|publications?|stud(?:y|ies)|articles?|notes?|works?|research|methods?|approach(?:es)?|"
    r"techniques?|models|systems|algorithms|data\s?-?sets?|corpora|corpus|benchmarks?|resources?|collections|"
    r"tree-?banks?|lexicons?|metrics|tools|surveys?)"
)
_LIST = re.compile(
    rf"^\W*(?:and )?(?:which|what)\s+(?:(?:other|recent|different|new|existing|good|public)\s+)?"
    rf"(?:(?!(?:is|are|was|were|do|does|did|has|have|of|on|in|the|an?|uses?|used)\b)[\w-]+\s+){{0,3}}{_LISTED}\b"
    r"(?!\s+(?:size|sizes|is|was|does|did|do)\b)"
    r"|^\W*(?:and )?(?:which|what) (?:of (?:the|these|those) )?(?:papers|studies|articles|notes)\b"
    r"|^\W*(?:(?:can|could) you |please )?(?:list|name|find|show me|give me|recommend|suggest|point me to)\b"
    rf".{{0,40}}\b{_LISTED}\b"
    rf"|\b(?:looking|searching) for\b.{{0,30}}\b{_LISTED}\b"
    r"|^\W*(?:(?:can|could) you |please )?(?:recommend|suggest|(?:show|give) me) (?:some|any)thing"
    r" (?:on|about)\b"
    rf"|^\W*(?:is|are) there (?:any |some )?(?:[\w-]+ )?{_LISTED}\b"
    rf"|^\W*what {_LISTED} (?:is there|exists?|are there|has been done)\b"
    r"|^\W*who (?:works?|worked|is working|does research|published|writes?|wrote) (?:on|about|with)\b"
    r"|^\W*where (?:can|do|could) (?:i|one|we) (?:read|learn|find)\b"
    rf"|^\W*(?:i|we) (?:look|search|need)(?: for)? (?:any |some )?{_LISTED}\b"
    rf"|\b(?:list|show me|give me) (?:the |all |any )?{_LISTED}\W*$"
    rf"|^\W*any (?:[\w-]+ ){{0,2}}{_LISTED}\b"
    r"|^\W*what (?:did|does|has|have|do) .{1,60} (?:write|written|wrote|published?|work(?:ed)? on|done on)\b"
    rf"|^\W*(?:any |other )?{_LISTED} (?:on|about|for|by|that|which)\b",
    re.IGNORECASE,
)
# Overviews of a subject are asked for in few words.
_OVERVIEW = re.compile(
    r"\b(?:overview|survey|debate|known about|know about|said about|(?:options|ways|approaches) are there)\b"
    r"|^\W*what (?:has|have|is|are|do)\b.{0,40}\b(?:done|doing|say|think|found|learned|known|understood)\b"
    r"|\bof (?:the )?(?:papers|studies|literature)\b|\b(?:main|key) (?:\w+s)\b"
    r"|^\W*(?:how far (?:has|have)|(?:the )?state of|everything (?:on|about))\b",
    re.IGNORECASE,
)
_QUESTION = re.compile(
    r"(?<!\W)[^\w?]*+\?\W*+$"
    r"|^\W*(?:(?:and|but|so) )?(?:how|why|what|which|when|where|who|do|does|did|is|are|can|could)\b",
    re.IGNORECASE,
)
_ONE_PAPER = re.compile(r"\b(?:this|that|the|its) (?:paper|study|article)\b|“[^”]{12,1000}”", re.IGNORECASE)
_TITLE = re.compile(r"“[^”]{0,1000}”")
_ONLY_A_TITLE = re.compile(r"^(?>\W*“)[^”]++”\W*+$")
_AND_ASKS = re.compile(
    r",? (?:and|or) (?=(?:how|why|what|which|where|when|who|does|do|did|is|are|was|were|can)\b)",
    re.IGNORECASE,
)
_ONE_PARTS: tuple[PartName, ...] = ("problem", "approach")  # of which a paper has one
LONGEST_SUBJECT = 4
SHORTEST_PART = 4  # words
# Markdown's marks round words, and LaTeX's formulas in a line with what they are set in.
_EMPHASIS = re.compile(r"(?<![\w*~])(\*{1,3}|~~)(?=\S)([^*~]+?)(?<=\S)\1(?![\w*~])")
_CODE = re.compile(r"(?<!`)(`{1,3})([^`]+)\1(?!`)")
_FORMULA = re.compile(r"\$(?=\S)([^$]{1,80}?)(?<=\S)\$(?!\d)|\\\((.{1,80}?)\\\)")
_TYPESETTING = re.compile(r"\\(?:math\w+|text\w*|operatorname)\b|[\\{}_^]")


Need = Literal["number", "share", "year", "person"]
_NEEDED: dict[Need, re.Pattern[str]] = {
    "number": re.compile(
        r"(?<![\w-])\d|\b(?<!few )(?<!several )"
        r"(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|dozens?|hundreds?|thousands?|millions?)\b",
        re.IGNORECASE,
    ),
    "share": re.compile(r"\d\s*%|\bper ?cent\b", re.IGNORECASE),
    "year": re.compile(r"\b(?:1[89]|20)\d\d\b"),
    "person": re.compile(r"\bet al\b|\bco-authors\b|\b(?:we|our)\b|[A-Z]\w{1,60}+,? \(?(?:1[89]|20)\d\d\b"),
}


@dataclass(frozen=True, slots=True)
class Asked:
    """The term to define, if any, and the need of a question.

    `defined` holds the stems of the term to be defined ("What is BM25?"), and is empty for other questions.
    `needs` is what any answer must contain.
    """

    defined: frozenset[str] = frozenset()
    needs: Need | None = None

    def may_be_answered_by(self, sentence: str) -> bool:
        """Return True if a sentence has a number, a year or a name where that is asked for."""
        return self.needs is None or _NEEDED[self.needs].search(sentence) is not None


def read_question(question: str) -> Asked:
    """Read the subject and need of a question, without titles it quotes ("How Long Is a Passage?")."""
    question = _TITLE.sub(" ", question)
    subject = [word for word in content_words(question) if word not in vocabulary().frame]
    aspects = vocabulary().aspects.intersection(subject)
    is_short = 0 < len(subject) <= LONGEST_SUBJECT
    is_defined = _DEFINITION.match(question) and is_short and not aspects
    return Asked(stems(" ".join(subject)) if is_defined else frozenset(), _need(question))


def asked_in_parts(question: str) -> list[str]:
    """Split a question into its parts ("How is it built, and why?"), mostly one."""
    parts = [part.strip(" ,") for part in _AND_ASKS.split(question)]
    return parts if all(len(part.split()) >= SHORTEST_PART for part in parts) else [question]


def is_yes_or_no(question: str) -> bool:
    """Return True if a question asks for yes or no, and not for one of two things."""
    return _YES_OR_NO.match(question) is not None and " or " not in f" {question.lower()} "


def without_marks(question: str) -> str:
    """Return a question as it reads, without Markdown's and LaTeX's marks: "$k_1$ of **BM25**"."""
    plain = _FORMULA.sub(lambda match: _TYPESETTING.sub("", match[1] or match[2]), question)
    return _CODE.sub(r"\2", _EMPHASIS.sub(r"\2", plain))


def request_kind(question: str, scope: Scope) -> RequestKind:
    """Classify a question.

    A summary is asked of one paper: the only one in scope, or one named by its title. A fact can be told in a
    few sentences: a number, a name, yes or no about something named. "how" asks for one thing that takes more
    than that; "synthesis" asks what is known of a subject, or only names it.
    """
    alone, question = len(scope.papers) == 1, without_perspective(question)
    if _ONLY_A_TITLE.match(question):
        return "summary"
    if compared(question):
        return "comparison"
    is_list = _LIST.search(question) and not (_TITLE.search(question) or "overview" in question.lower())
    if is_list and not alone:
        return "list"
    if _is_of_one_paper(question, alone=alone):
        return "summary"
    if _DEFINE.match(question) or _is_definition(question):
        return "definition"
    return _told_in(question, alone=alone)


def _told_in(question: str, *, alone: bool) -> RequestKind:
    """Return "fact", "how" or "synthesis" for a question of none of the other kinds."""
    if _is_fact(question, alone=alone):
        return "fact"
    return "how" if _QUESTION.search(question) and not _OVERVIEW.search(question) else "synthesis"


def _is_definition(question: str) -> bool:
    is_asked = _ASKS_MEANING.match(question) and not _OF_MANY.search(question)
    return bool(is_asked and read_question(question).defined)


def _is_of_one_paper(question: str, *, alone: bool) -> bool:
    """Return True if a question asks for a part of one paper: the only one, or one that it names."""
    part = asked_part(question)
    if part is None or (not alone and _OF_MANY.search(question)):
        return False
    if any(pattern.search(question) for pattern in (_COUNT, _WHO, *(() if alone else (_MEASURE,)))):
        return False
    named = {name.lower() for name in names_in(question)}
    # "What are the limits of X?", not "How does X score a summary?".
    asking = [word for word in content_words(question) if word not in named | vocabulary().frame]
    # "Which problem is solved by X?"
    patterns = [part_cues()[name].asked for name in _ONE_PARTS]
    asks_one_part = all(any(pattern.fullmatch(word) for pattern in patterns) for word in asking)
    is_all = len(asking) <= 1 or (asks_one_part and not _AND_ASKS.search(question))
    is_named = bool(part.subject) and named.issuperset(part.subject) and is_all
    return is_named or (part.is_all and (alone or _ONE_PAPER.search(question) is not None))


def _is_fact(question: str, *, alone: bool) -> bool:
    if _OF_MANY.search(question):
        return False
    if any(pattern.search(question) for pattern in (_COUNT, _MEASURE, _WHO)):
        return True
    named = bool(names_in(question))
    if _YES_OR_NO.match(question) or _NUMBER.search(question):
        return named or alone
    which = _WHICH.match(question)
    return named and which is not None and not which[1].endswith("s")


def _need(question: str) -> Need | None:
    if _SHARE.search(question):
        return "share"
    if _COUNT.search(question) or _HOW_LARGE.search(question):
        return "number"
    asking = re.match(r"\W*(who|when)\b(?!\s+(?:is|are)\b)(.*)", question, re.IGNORECASE | re.DOTALL)
    if asking is None:
        return None
    if asking[1].lower() == "who":
        return "person"
    # "When was it published?", not "When is fusion worth it?" or "When should one prune?".
    return "year" if re.match(r"\s+(?:was|were|did)\b", asking[2], re.IGNORECASE) else None
