"""The subject of a request for papers, such as "Which papers are about X?" in any wording."""

import re

_PAPERS = (
    r"(?:papers?|publications?|stud(?:y|ies)|articles?|notes|works?|research|literature|something|anything)"
)
_SOME = r"(?:(?:all|any|some|the|other|more|recent|relevant|related|different) ){0,3}"
_HERE = r"(?: (?:here|in this (?:corpus|collection|volume|conference)|in the (?:corpus|collection)))?"
_ABOUT = (
    r"(?: (?:that|which))?(?: (?:is|are|was|were|has been|have been))?(?: there| done| written| published)?"
    rf"{_HERE} "
    r"(?:about|on|of|regarding|concerning|cover(?:s|ing)?|(?:deal(?:s|ing)?|concerned) with"
    r"|address(?:es|ing)?|discuss(?:es|ing)?|stud(?:y|ies|ying)|investigat(?:e|es|ing)|explor(?:e|es|ing)|examin(?:e|es|ing)"
    r"|(?:work|focus|touch)(?:s|es|ing|ed)? (?:on|upon)|look(?:s|ing)? (?:at|into)|tackl(?:e|es|ing))"
)
_ASKED = (
    rf"(?:(?:which|what) (?:of (?:the|these|those) )?{_SOME}{_PAPERS}"
    r"|(?:(?:please|can you|could you) )?"
    rf"(?:(?:list|name|find|show|give|recommend|suggest)(?: me)?|point me to) {_SOME}{_PAPERS}"
    rf"|(?:is|are) there {_SOME}{_PAPERS}"
    rf"|(?:i am|i'm|we are|we're)? ?(?:looking|searching) for {_SOME}{_PAPERS}"
    rf"|(?:i|we) (?:look for|search for|need|want) {_SOME}{_PAPERS}"
    rf"|{_SOME}{_PAPERS})"
)
_LISTED = re.compile(rf"^(?:and )?{_ASKED}{_HERE}{_ABOUT} (?P<subject>\S.*)$", re.IGNORECASE)
_WHO_OR_WHERE = re.compile(
    r"^(?:who (?:works|worked|is working|does research) (?:on|about)"
    r"|where (?:can|do|could) (?:i|one|we) (?:read|learn) about) (?P<subject>\S.*)$",
    re.IGNORECASE,
)
_ENDS = re.compile(rf"(?: please|{_HERE[:-1]}|(?<![\s.?!]))[\s.?!]*$", re.IGNORECASE)


def listed_subject(question: str) -> str:
    """Return the subject of the papers that a question asks for, "" for any other question.

    "Which papers use BERT?" has none: to use something is not to be about it.
    """
    line = " ".join(question.split())
    match = _LISTED.match(line) or _WHO_OR_WHERE.match(line)
    return _ENDS.sub("", match["subject"]).rstrip(" ,;:") if match else ""


def asked_as_list(query: str) -> str:
    """Return a request for papers in its standard wording; any other query unchanged."""
    subject = listed_subject(query)
    return f"Which papers are about {subject}?" if subject else query


_OVERVIEW = re.compile(
    r"^(?:(?:please|can you|could you) )?(?:give|write|show|provide)(?: me| us)? (?:an?|the) "
    r"(?:(?:short|brief|quick|general) )?(?:overview|survey) (?:of|on|about) "
    rf"(?:{_SOME}{_PAPERS} (?:on|about|of|in) )?"
    r"(?P<subject>(?!(?:this|that|these|those|it|them|the (?:papers?|study|studies|articles?))\b)\S.*)$",
    re.IGNORECASE,
)


def asked_as_overview(query: str) -> str:
    """Return a request for an overview as the question for what is known of its subject, else the query.

    "Overview" is no part of the subject: papers that give one of something else would be found by it.
    """
    found = _OVERVIEW.match(" ".join(query.split()))
    subject = _ENDS.sub("", found["subject"]).rstrip(" ,;:") if found else ""
    return f"What is known about {subject}?" if subject else query
