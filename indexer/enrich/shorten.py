"""Shorter forms of a sentence: without brackets, lead-ins and trailing additions."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from string import punctuation

from indexer.enrich.data_file import Table

# A shortened sentence keeps at least this many words.
FEWEST_WORDS = 6
# The most words of a lead-in ("our experiments show that") and of a clause before the main clause.
_LONGEST_REPORT = 13
_LONGEST_CLAUSE = 30
_BRACKETS = re.compile(r"(?<!\s)(?:\s++\(([^()]*+)\)(?![^\s.,;:!?])|\s*+\[\d[\d,;–\s-]*+\])")
# Characters before a bracket that decide whether it is needed.
_NEAR = 16
_MARKS_AROUND = f"{punctuation}“”‘’…–—"
_DASHES = frozenset({"-", "--", "---", "–", "—"})
_ENDS = ".!?"


class ShorteningWords(Table):
    """The word lists of shortening, each a text separated by spaces."""

    negations: str
    limits: str
    reports: str
    own: str
    others: str
    unsure: str
    pronouns: str
    clause_openings: str
    subjects: str
    tails: str
    joined: str
    prepositions: str
    announcing_tails: str


@dataclass(frozen=True, slots=True)
class ShortForm:
    """A part of a sentence that can stand alone, and the kinds of cuts at its beginning and end."""

    text: str
    head: str = "whole"
    tail: str = "whole"


class Shortener:
    """Cuts whole spans of sentences and changes no word, except to capitalise the first.

    No cut negates or widens a claim: a lead-in that denies, doubts or cites others stays, and so does text
    after "if", "unless", "except", "only" or "but".
    """

    def __init__(self, lists: ShorteningWords) -> None:
        self._lists = {name: frozenset(str(text).split()) for name, text in lists}

    def forms(self, sentence: str) -> Iterator[ShortForm]:
        """Yield the forms of a sentence, first the whole without brackets; none is empty."""
        bare = self.without_brackets(sentence)
        if not bare:
            return
        written = bare.split()
        words = [_bare(word) for word in written]
        for start, head in self._heads(written, words):
            for end, tail in self._tails(written, words):
                if (start, end) == (0, len(written)):
                    yield ShortForm(bare)
                elif end - start >= FEWEST_WORDS and (text := _as_sentence(written[start:end], bare[-1])):
                    yield ShortForm(text, head, tail)

    def without_brackets(self, sentence: str) -> str:
        """Return a sentence without brackets, except those that its grammar or meaning needs."""
        return " ".join(_BRACKETS.sub(self._bracket, sentence).split())

    def _bracket(self, match: re.Match[str]) -> str:
        before = match.string[max(0, match.start() - _NEAR) : match.start()].lower().split()
        is_first = not before or before[-1].endswith((",", ";", ":"))
        is_needed = is_first or before[-1] in self._lists["prepositions"]
        return (
            match[0] if is_needed or self._turns([_bare(word) for word in (match[1] or "").split()]) else ""
        )

    def _turns(self, words: Iterable[str]) -> bool:
        """Return True if a word negates or limits."""
        return any(self._denies(word) or word in self._lists["limits"] for word in words)

    def _denies(self, word: str) -> bool:
        return word in self._lists["negations"] or word.endswith(("n't", "n’t"))

    def _heads(self, written: Sequence[str], words: Sequence[str]) -> Iterator[tuple[int, str]]:
        yield 0, "whole"
        if (start := self._after_report(words)) is not None:
            yield start, "report"
        if (start := self._after_clause(written, words)) is not None:
            yield start, "clause"

    def _after_report(self, words: Sequence[str]) -> int | None:
        """Return the index after a lead-in of the authors, such as "our experiments show that", else None."""
        for place in range(1, min(_LONGEST_REPORT, len(words) - 1)):
            if words[place] == "that" and words[place - 1] in self._lists["reports"]:
                led_by = set(words[:place])
                barred = self._lists["others"] | self._lists["unsure"]
                is_own = bool(led_by & self._lists["own"]) and not led_by & barred
                stands_alone = words[place + 1] not in self._lists["pronouns"]
                return place + 1 if is_own and stands_alone and not self._turns(led_by) else None
        return None

    def _after_clause(self, written: Sequence[str], words: Sequence[str]) -> int | None:
        """Return the index of the main clause after a clause of reason, manner or contrast, else None."""
        if words[0] not in self._lists["clause_openings"]:
            return None
        comma = next(
            (index for index, word in enumerate(written[:_LONGEST_CLAUSE]) if word.endswith(",")), None
        )
        if comma is None or comma + 1 >= len(words) or words[comma + 1] not in self._lists["subjects"]:
            return None
        return None if self._lists["limits"] & set(words[:comma]) else comma + 1

    def _tails(self, written: Sequence[str], words: Sequence[str]) -> Iterator[tuple[int, str]]:
        yield len(written), "whole"
        if written[-1].endswith("?"):
            return
        for place in range(FEWEST_WORDS, len(written) - 1):
            kind = self._tail(written, words, place)
            is_limited = bool(self._lists["limits"] & set(words[place:]))
            if kind and not is_limited and not self._needs_more(written[:place], words[:place]):
                yield place, kind

    def _tail(self, written: Sequence[str], words: Sequence[str], place: int) -> str:
        """Return the kind of addition that begins at a word; "" for none."""
        before, word = written[place - 1], words[place]
        if before[-1] in ";:" or before in _DASHES:
            before_stop = written[:place]
            # Not within a list or between dashes, and not before something announced.
            last = next((word for word in reversed(words[:place]) if word), "")
            in_list = before[-1] == ";" and any(word[-1] == ":" for word in before_stop)
            is_opened = before in _DASHES and bool(_DASHES & set(written[place:]))
            is_open = in_list or is_opened or last in self._lists["announcing_tails"]
            return "" if is_open else "stop"
        if not before.endswith(","):
            return ""
        if word == "and":
            return word if words[place + 1] in self._lists["joined"] else ""
        # Not a clause between subject and verb: "our model, which is small, learns".
        if _goes_on(written, place) or (word == "such" and words[place + 1] != "as"):
            return ""
        if word in self._lists["tails"]:
            return word
        return "ing" if word.endswith("ing") and not _in_list(written, words, place) else ""

    def _needs_more(self, kept: Sequence[str], words: Sequence[str]) -> bool:
        """Return True if words are incomplete: without main clause, end of a formula, or "but also"."""
        breaks_off = words[-1] in self._lists["prepositions"] or "not only" in " ".join(words)
        openings = (self._lists[name] for name in ("limits", "clause_openings", "prepositions"))
        waits = any(words[0] in opening for opening in openings) and not any(
            word.endswith(",") for word in kept[:-1]
        )
        text, pairs = " ".join(kept), (("(", ")"), ("[", "]"), ("{", "}"), ("“", "”"))
        is_balanced = text.count("$") % 2 == text.count('"') % 2 == 0 and all(
            text.count(opened) == text.count(closed) for opened, closed in pairs
        )
        return breaks_off or waits or not is_balanced


def _bare(word: str) -> str:
    return word.lower().strip(_MARKS_AROUND)


def _goes_on(written: Sequence[str], place: int) -> bool:
    """Return True if punctuation may close an addition, or too few words precede it."""
    stops = [index for index, word in enumerate(written[:place]) if word[-1] in ";:" or word in _DASHES]
    recent = place - stops[-1] - 1 if stops else place
    return recent < FEWEST_WORDS or any(word[-1] in ",;" or word in _DASHES for word in written[place:])


def _in_list(written: Sequence[str], words: Sequence[str], place: int) -> bool:
    """Return True if the word after a comma is part of a list: "sampling, planning, and learning"."""
    commas = [word.endswith(",") for word in written]
    return any(commas[max(0, place - 5) : place - 1]) or bool({"and", "or"} & set(words[place : place + 7]))


def _as_sentence(words: Sequence[str], last: str) -> str:
    """Return words as a sentence with the original final punctuation."""
    text = " ".join(words).rstrip(" ,;:-–—")
    if text and last in _ENDS and text[-1] not in _ENDS:
        text += last
    first = text.split(" ", 1)[0]
    # A name such as "word2vec" or "eBay" keeps its case.
    return text[:1].upper() + text[1:] if first.isalpha() and first.islower() else text
