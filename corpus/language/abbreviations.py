"""Abbreviations that texts define: "word sense disambiguation (WSD)", "WSD (word sense disambiguation)".

The method is that of Schwartz and Hearst, "A simple algorithm for identifying abbreviation definitions in
biomedical text" (PSB 2003, section 3), with two more conditions: a short form is one word with at least two
capitals, which excludes "(Figure 2)", "(2019)" and "(see below)", and a long form has at least two words.
"""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from corpus.language.stemming import stem

SHORTEST, LONGEST = 2, 10  # characters of a short form
SHORTEST_SMALL = 3  # characters of a short form in lower case
LONGEST_FORM = 10  # words of a long form
# The share of the papers with a short form that must mean the same by it.
AGREEING = 0.7
FARTHEST = 200  # characters between the start of a long form and its brackets
_SHORT = r"[^\W_][\w-]{1,12}"
_IN_BRACKETS = re.compile(r"\(([^()\n]{2,120})\)")
_SHORT_FORM = re.compile(_SHORT)
_LAST_WORD = re.compile(rf"(?<![\w-]){_SHORT}\s?\Z")
_PART_END = re.compile(r"[,;:]")
_CLAUSE_END = re.compile(r"[.?!;:()]\s")
_TOKEN = re.compile(r"\S+")
_WORD = re.compile(r"[^\W_]+")
_POINTS_ELSEWHERE = ("see ", "e.g", "i.e", "cf")


def find_abbreviations(text: str) -> dict[str, str]:
    """Return the short forms that a text defines, each with its first long form as written there.

    Short forms are in the singular: "large language models (LLMs)" gives "LLM".
    """
    forms: dict[str, str] = {}
    for brackets in _IN_BRACKETS.finditer(text):
        before = text[max(0, brackets.start() - FARTHEST) : brackets.start()].rstrip()
        inside = _PART_END.split(brackets[1], maxsplit=1)[0].strip()
        if short := _short_form(inside):
            long = _long_form(short, _words_before(before, short))
        else:
            last = _LAST_WORD.search(before)
            short = _short_form(last[0].strip()) if last else ""
            long = _long_form(short, inside) if short else ""
            is_whole = long == inside and not inside.lower().startswith(_POINTS_ELSEWHERE)
            long = long if is_whole else ""
        if long:
            forms.setdefault(short, long)
    return forms


def _short_form(text: str) -> str:
    """Return a short form in the singular, "" if the text is not one."""
    form = text.removesuffix("s") if _capitals(text) > 1 else text
    is_short = _SHORT_FORM.fullmatch(form) and SHORTEST <= len(form) <= LONGEST
    return form if is_short and _capitals(form) > 1 else ""


def _capitals(text: str) -> int:
    return sum(map(str.isupper, text))


def _words_before(before: str, short: str) -> str:
    """Return the last words of a clause, at most min(n + 5, 2n) for a short form of n letters."""
    ends = [match.end() for match in _CLAUSE_END.finditer(before)]
    clause = before[ends[-1] :] if ends else before
    tokens = list(_TOKEN.finditer(clause))
    most = min(len(short) + 5, 2 * len(short))
    return clause[tokens[-most].start() :] if len(tokens) > most else clause


def _long_form(short: str, text: str) -> str:
    """Return the shortest end of a text with the letters of a short form in order, "" if there is none.

    The first letter must begin a word.
    """
    lower = text.lower()
    if len(lower) != len(text):  # "İ" is two characters in lower case
        return ""
    start = len(text)
    letters = [letter for letter in short.lower() if letter.isalnum()]
    for place in reversed(range(len(letters))):
        start = lower.rfind(letters[place], 0, start)
        while start > 0 and place == 0 and (lower[start - 1].isalnum() or lower[start - 1] == "-"):
            start = lower.rfind(letters[place], 0, start)
        if start < 0:
            return ""
    long = text[start:]
    words = _WORD.findall(long.lower())
    return long if len(words) > 1 and len(long) > len(short) and short.lower() not in words else ""


@dataclass(frozen=True, slots=True)
class Form:
    """An occurrence of an abbreviation in a text, in its short or its long form."""

    start: int
    text: str
    short: str
    long: str
    is_short: bool

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    @property
    def other(self) -> str:
        """Return the form that the text does not use."""
        return self.long if self.is_short else self.short


@dataclass(frozen=True, slots=True)
class Abbreviations:
    """Long forms by lower-case short form, and short forms by the stems of the long form."""

    long_forms: Mapping[str, str] = field(default_factory=dict)
    short_forms: Mapping[str, str] = field(default_factory=dict)

    def forms_in(self, text: str, may_be_short: Callable[[str], bool] = lambda _: False) -> Iterator[Form]:
        """Yield the short and long forms in a text, the longest at each position.

        A word without capitals is a short form only if `may_be_short` is True for it.
        """
        words = list(_WORD.finditer(text)) if self.long_forms else []
        stems = [stem(_folded(word[0])) for word in words]
        end = 0
        for index, word in enumerate(words):
            if word.start() < end:
                continue
            form = self._long_at(text, words, stems, index) or self._short_at(word, may_be_short)
            if form:
                end = form.end
                yield form

    def _long_at(
        self, text: str, words: Sequence[re.Match[str]], stems: Sequence[str], at: int
    ) -> Form | None:
        start = words[at].start()
        for last in range(min(at + LONGEST_FORM, len(words)) - 1, at, -1):
            if short := self.short_forms.get("".join(stems[at : last + 1])):
                long = text[start : words[last].end()]
                return Form(start, long, short, long, is_short=False)
        return None

    def _short_at(self, word: re.Match[str], may_be_short: Callable[[str], bool]) -> Form | None:
        written = word[0]
        if not _short_form(written) and (len(written) < SHORTEST_SMALL or not may_be_short(written)):
            return None
        for short in (written, written.removesuffix("s")):
            if long := self.long_forms.get(short.lower()):
                return Form(word.start(), written, short, long, is_short=True)
        return None


def agreed_abbreviations(found: Iterable[Mapping[str, str]], least: int = 1) -> Abbreviations:
    """Return the abbreviations on which at least `least` texts agree, from those `found` in each text.

    A short form with several long forms has a meaning only if the share `AGREEING` of the texts means it.
    """
    written: dict[str, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    shorts: dict[str, Counter[str]] = defaultdict(Counter)
    for short, long in (pair for of_text in found for pair in of_text.items()):
        key = _key(long)
        has_name = any(_capitals(word[1:]) for word in _WORD.findall(long))
        written[short.lower()][key][long if has_name else long.lower()] += 1
        shorts[key][short] += 1
    long_forms: dict[str, str] = {}
    short_forms: dict[str, str] = {}
    for short, meanings in written.items():
        key, forms = max(meanings.items(), key=lambda meaning: (meaning[1].total(), meaning[0]))
        if forms.total() >= max(least, AGREEING * sum(other.total() for other in meanings.values())):
            long_forms[short] = _most_common(forms)
            if (usual := _most_common(shorts[key])).lower() == short:
                short_forms[key] = usual
    return Abbreviations(long_forms, short_forms)


def _most_common(forms: Counter[str]) -> str:
    return max(forms, key=lambda form: (forms[form], form))


def _key(long: str) -> str:
    """Return one key for all spellings of a long form: "pre-trained models", "Pretrained model"."""
    return "".join(stem(word) for word in _WORD.findall(_folded(long)))


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).lower()
