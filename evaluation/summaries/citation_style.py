"""Citations brought to one token, so that sentences can be compared whatever style they cite in."""

import re
from dataclasses import dataclass

from corpus.store import plain_words

CITE = "CITE"

# Not an ASCII lower-case letter: names begin with capitals of many scripts.
# All repetitions have an end, so that no text takes long to read.
_PARTICLES = r"(?:(?:[Vv]an|[Vv]on|[Dd]e|[Dd]er|[Dd]en|[Dd]el|[Dd]i|[Ll]a|[Ll]e)[ -]){0,3}"
_NAME = rf"{_PARTICLES}[^\W\d_a-z][^\W\d_]{{0,40}}(?:['’-][^\W\d_]{{1,40}}){{0,3}}"
_MORE = rf"(?:,? et\.? al\b\.?|(?:, {_NAME}){{0,4}},? (?:and|&) {_NAME})"
_YEAR = r"(?:1[89]|20)\d\d[a-z]?(?![\w.]{0,30}\d)"
_OWN = r"(?:['’]s?)?"
_NARRATIVE = re.compile(
    rf"(?P<who>{_NAME}{_MORE}?){_OWN} ?[(\[](?P<years>{_YEAR}(?: ?[,;] ?{_YEAR})*)[^()\[\]]{{0,40}}[)\]]"
)
_PARENTHESIS = re.compile(rf"[(\[](?P<inside>[^()\[\]]{{0,1500}}?\b{_YEAR}[^()\[\]]{{0,1500}})[)\]]")
# Without a comma only a plain name may stand before a year: "SemEval 2012" is no citation.
_WHO = rf"(?P<who>{_NAME}{_MORE}|{_NAME}(?=,)|\b[^\W\d_a-z][a-z]+(?= \d))"
_ENTRY = re.compile(rf"{_WHO}{_OWN},? ?(?P<years>{_YEAR}(?:, ?{_YEAR})*)")
# In running text even that may be "In 2019".
_RUNNING = re.compile(rf"(?P<who>{_NAME}{_MORE}){_OWN},? ?(?P<years>{_YEAR}(?:, ?{_YEAR})*)")
_GROUP = r"\[\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*\]"
_LABELS = re.compile(rf"\s?{_GROUP}(?:[\s,;]*{_GROUP})*")
_NUMBER = re.compile(r"\d{1,3}")
_OTHERS = re.compile(rf"{_NAME},? et\.? al\b\.?{_OWN}")
_SPACE_BEFORE_STOP = re.compile(r"(?<!\s)\s++(?=[.,;:!?)])")
_AUTHORS = re.compile(r"(?P<who>.{1,300}?)(?P<more>,? et\.? al\b\.?)? (?P<year>\d{4})(?P<letter>[a-z]?)")
_BETWEEN_AUTHORS = re.compile(r",? (?:and|&) |, ")
_RUN_OF_CITES = re.compile(rf"{CITE}(?:(?: and|[,;&])* {CITE}\b)+")


@dataclass(frozen=True, slots=True)
class CitingSentence:
    """A sentence in which every citation, or group of them, is one token, and the works that it cites.

    `fresh` are those that the sentence before it does not cite.
    """

    text: str
    cited: frozenset[str]
    fresh: frozenset[str]


@dataclass(frozen=True, slots=True)
class NamedWork:
    """A work as it is cited: family names as they are compared, whether more follow ("et al."), the year.

    `letter` tells apart what the same people wrote in one year: "2017b".
    """

    authors: tuple[str, ...]
    has_more: bool
    year: int
    letter: str = ""


def neutral(sentence: str, before: frozenset[str] = frozenset()) -> CitingSentence:
    """Return a sentence without its style of citing: "(Lee et al., 2019)", "Lee (2019)" and "[3]" become one.

    Names without a year ("Lee et al.") become the token too, but are no work that is counted. Labels that
    only say again whom the sentence speaks of, by name or because the sentence `before` cites the same
    works, leave no token: where authors and years are written, nobody repeats them.
    """
    cited: set[str] = set()

    def narrative(found: re.Match[str]) -> str:
        cited.update(_works(found["who"], found["years"]))
        return CITE

    def parenthesis(found: re.Match[str]) -> str:
        entries = list(_ENTRY.finditer(found["inside"]))
        for entry in entries:
            cited.update(_works(entry["who"], entry["years"]))
        return CITE if entries else found[0]

    text = " ".join(sentence.split())
    text, labelled = _without_labels(text, before, is_named=bool(_OTHERS.search(text)))
    text = _PARENTHESIS.sub(parenthesis, _NARRATIVE.sub(narrative, text))
    text = _OTHERS.sub(CITE, _RUNNING.sub(narrative, text))
    text = _RUN_OF_CITES.sub(CITE, _SPACE_BEFORE_STOP.sub("", text))
    every = frozenset(cited) | labelled
    return CitingSentence(" ".join(text.split()), every, every - before)


def _without_labels(text: str, before: frozenset[str], *, is_named: bool) -> tuple[str, frozenset[str]]:
    """Return a text with tokens for those of its labels that say something new, and all its labels."""
    cited: set[str] = set()

    def labels(found: re.Match[str]) -> str:
        works = set(_NUMBER.findall(found[0]))
        is_new = not works <= before and not (is_named and len(works) == 1)
        cited.update(works)
        return f" {CITE}" if is_new else ""

    return _LABELS.sub(labels, text), frozenset(cited)


def _works(who: str, years: str) -> list[str]:
    return [f"{who} {year}" for year in re.findall(_YEAR, years)]


def parse_work(work: str) -> NamedWork | None:
    """Return whom one of the works that a sentence cites names, None for a label."""
    found = _AUTHORS.fullmatch(work)
    if found is None:
        return None
    authors = tuple(map(comparable_name, _BETWEEN_AUTHORS.split(found["who"])))
    return NamedWork(authors, found["more"] is not None, int(found["year"]), found["letter"])


def comparable_name(name: str) -> str:
    """Return a name without accents, spaces and hyphens, in lower case."""
    return "".join(plain_words(name))


def with_labels(sentence: str, numbers: dict[str, int]) -> str:
    """Return a sentence that cites by labels, "Lee et al. [3]", where it cited by authors and years.

    `numbers` are the works' labels; a work without one is given the next.
    """

    def label(who: str, years: str) -> str:
        works = _works(who, years)
        return "".join(f"[{numbers.setdefault(work, len(numbers) + 1)}]" for work in works)

    def narrative(found: re.Match[str]) -> str:
        return f"{found['who']} {label(found['who'], found['years'])}"

    def parenthesis(found: re.Match[str]) -> str:
        entries = _ENTRY.finditer(found["inside"])
        return "".join(label(entry["who"], entry["years"]) for entry in entries) or found[0]

    return _RUNNING.sub(narrative, _PARENTHESIS.sub(parenthesis, _NARRATIVE.sub(narrative, sentence)))
