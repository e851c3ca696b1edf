"""Replaces the citations of a sentence, in any style, by one token, and lists the works that it cites."""

import re
from dataclasses import dataclass

CITE = "CITE"

# A name begins with any letter but an ASCII lower-case one: capitals of many scripts.
# All repetitions are bounded, so that matching takes linear time.
_PARTICLES = r"(?:(?:[Vv]an|[Vv]on|[Dd]e|[Dd]er|[Dd]en|[Dd]el|[Dd]i|[Ll]a|[Ll]e)[ -]){0,3}"
_NAME = rf"{_PARTICLES}[^\W\d_a-z][^\W\d_]{{0,40}}(?:['’-][^\W\d_]{{1,40}}){{0,3}}"
_MORE = rf"(?:,? et\.? al\b\.?|(?:, {_NAME}){{0,4}},? (?:and|&) {_NAME})"
_YEAR = r"(?:1[89]|20)\d\d[a-z]?(?![\w.]{0,30}\d)"
_OWN = r"(?:['’]s?)?"
_NARRATIVE = re.compile(
    rf"(?P<who>{_NAME}{_MORE}?){_OWN} ?[(\[](?P<years>{_YEAR}(?: ?[,;] ?{_YEAR})*)[^()\[\]]{{0,40}}[)\]]"
)
_PARENTHESIS = re.compile(rf"[(\[](?P<inside>[^()\[\]]{{0,1500}}?\b{_YEAR}[^()\[\]]{{0,1500}})[)\]]")
# A name before a year without a comma must be plain letters: "SemEval 2012" is not a citation.
_WHO = rf"(?P<who>{_NAME}{_MORE}|{_NAME}(?=,)|\b[^\W\d_a-z][a-z]+(?= \d))"
_ENTRY = re.compile(rf"{_WHO}{_OWN},? ?(?P<years>{_YEAR}(?:, ?{_YEAR})*)")
# In running text a single name before a year is no citation either: "In 2019".
_RUNNING = re.compile(rf"(?P<who>{_NAME}{_MORE}){_OWN},? ?(?P<years>{_YEAR}(?:, ?{_YEAR})*)")
_GROUP = r"\[\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*\]"
_LABELS = re.compile(rf"\s?{_GROUP}(?:[\s,;]*{_GROUP})*")
_NUMBER = re.compile(r"\d{1,3}")
_OTHERS = re.compile(rf"{_NAME},? et\.? al\b\.?{_OWN}")
_SPACE_BEFORE_STOP = re.compile(r"(?<!\s)\s++(?=[.,;:!?)])")
_RUN_OF_CITES = re.compile(rf"{CITE}(?:(?: and|[,;&])* {CITE}\b)+")


@dataclass(frozen=True, slots=True)
class CitingSentence:
    """A sentence with each group of citations replaced by one token, and the works that it cites."""

    text: str
    cited: frozenset[str]


def neutralize(sentence: str) -> CitingSentence:
    """Replace citations of any style by one token: "(Lee et al., 2019)", "Lee (2019)" and "[3]" alike.

    Names without a year ("Lee et al.") become the token too but are not counted as cited works. A sentence
    with such a name and single labels ("Lee et al. [3]") gets no second token for the label.
    """
    cited: set[str] = set()
    text = " ".join(sentence.split())
    is_named = bool(_OTHERS.search(text))

    def labels(match: re.Match[str]) -> str:
        works = set(_NUMBER.findall(match[0]))
        cited.update(works)
        return "" if is_named and len(works) == 1 else f" {CITE}"

    def narrative(match: re.Match[str]) -> str:
        cited.update(_works(match["who"], match["years"]))
        return CITE

    def parenthesis(match: re.Match[str]) -> str:
        entries = list(_ENTRY.finditer(match["inside"]))
        for entry in entries:
            cited.update(_works(entry["who"], entry["years"]))
        return CITE if entries else match[0]

    text = _LABELS.sub(labels, text)
    text = _PARENTHESIS.sub(parenthesis, _NARRATIVE.sub(narrative, text))
    text = _OTHERS.sub(CITE, _RUNNING.sub(narrative, text))
    text = _RUN_OF_CITES.sub(CITE, _SPACE_BEFORE_STOP.sub("", text))
    return CitingSentence(" ".join(text.split()), frozenset(cited))


def _works(who: str, years: str) -> list[str]:
    return [f"{who} {year}" for year in re.findall(_YEAR, years)]
