"""The kind of answer a question asks for, read from its words."""

import re
from dataclasses import dataclass
from typing import Literal

from assistant.learned.kinds import likeliest, read_kinds
from assistant.questions.comparisons import compared
from assistant.questions.listing import listed_subject
from assistant.questions.names import names_in
from assistant.questions.parts import PartName, asked_part, part_cues
from assistant.questions.perspective import without_perspective
from assistant.questions.vocabulary import content_words, stems, vocabulary
from assistant.records import RequestKind
from corpus.records import Scope
from corpus.text import words

_DEFINITION = re.compile(
    r"^\W*(?:what\s+(?:is|are|was|were|does)\b(?!\s+(?:being\s+)?(?:done|known|said|written|understood)\b)"
    r"|define|explain|describe|who\s+(?:is|was))\b",
    re.IGNORECASE,
)
_YES_OR_NO = re.compile(
    r"^\W*(?:does|do|did|is|are|was|were|can|could|has|have|will|would|should)\b", re.IGNORECASE
)
_COUNT = re.compile(
    r"\bhow\s+(?:many|much)\b|^\W*(?:what|which)\s+(?:percentage|number)\s+of\b",
    re.IGNORECASE,
)
_SHARE = re.compile(r"^\W*(?:what|which)\s+percentage\b", re.IGNORECASE)
_HOW_LARGE = re.compile(r"^\W*how\s+(?:large|big)\b", re.IGNORECASE)
_WHO = re.compile(r"^\W*(?:who|whose|(?:when|where)\s+(?:was|were|did))\b", re.IGNORECASE)
_MEASURE = re.compile(
    r"^\W*(?:which|what)\s+(?:\w+\s+)?(?:value|number|size|share|percentage|year|layer|rate|threshold|default)\b",
    re.IGNORECASE,
)
# Words of questions on many papers.
_OF_MANY = re.compile(
    r"\b(?:papers|studies|literature|approaches|methods|(?:works?|research)\s+on|researchers|compare\w*|differ\w*|versus|vs)\b",
    re.IGNORECASE,
)
_PAPERS = re.compile(
    r"^\W*(?:and )?(?:which|what) (?:of (?:the|these|those) )?(?:[\w-]+ ){0,3}?"
    r"(?:papers|studies|articles|notes)\b(?! (?:size|sizes|is|was|does|did|do)\b)",
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
SHORTEST_PART = 3  # words
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
    """Split a question into its parts ("How is it built, and why does it fail?"), mostly one.

    "Which do, and which do not?" is one question: a part has a word that is no function word.
    """
    parts = [part.strip(" ,") for part in _AND_ASKS.split(question)]
    is_asked = all(
        len(part.split()) >= SHORTEST_PART and not vocabulary().function.issuperset(words(part))
        for part in parts
    )
    return parts if is_asked else [question]


def is_yes_or_no(question: str) -> bool:
    """Return True if a question asks for yes or no, and not for one of two things."""
    return _YES_OR_NO.match(question) is not None and " or " not in f" {question.lower()} "


def without_marks(question: str) -> str:
    """Return a question as it reads, without Markdown's and LaTeX's marks: "$k_1$ of **BM25**"."""
    plain = _FORMULA.sub(lambda match: _TYPESETTING.sub("", match[1] or match[2]), question)
    return _CODE.sub(r"\2", _EMPHASIS.sub(r"\2", plain))


def request_kind(question: str, scope: Scope) -> RequestKind:
    """Classify a question.

    A summary is asked of one paper: the only one in scope, or one that is named by its title. Two things that
    can be read from the question are compared. All else is told by the kinds part: a list is of papers, a
    fact is what a few sentences tell, "how" what one thing takes more to tell, and a synthesis what is known
    of a subject.
    """
    alone, question = len(scope.papers) == 1, without_perspective(question)
    if _ONLY_A_TITLE.match(question):
        return "summary"
    if compared(question):
        return "comparison"
    kinds = read_kinds()
    # A comparison has two sides, which its words must name.
    told_apart = [kind for kind in kinds.kinds if kind != "comparison"]
    kind = likeliest(kinds, question, told_apart)
    asks_for_papers = _PAPERS.match(question) is not None or bool(listed_subject(question))
    is_list = (kind == "list" or asks_for_papers) and not alone and not _TITLE.search(question)
    if is_list:
        return "list"
    if _is_of_one_paper(question, alone=alone):
        return "summary"
    if kind == "list":
        return likeliest(kinds, question, [kind for kind in told_apart if kind != "list"])
    # Whether something helps in general takes more than a fact to tell.
    is_general = kind == "fact" and is_yes_or_no(question) and not (alone or names_in(question))
    return "how" if is_general else kind


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
