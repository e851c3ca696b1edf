"""A sentence in shorter forms: without brackets, what only leads to its claim, and what trails it."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from string import punctuation

from indexer.enrich.data_file import Table

# A shortened sentence keeps at least this many words.
FEWEST_WORDS = 6
# The longest lead before a claim.
_LONGEST_REPORT = 13
_LONGEST_CLAUSE = 30
_BRACKETS = re.compile(r"(?<!\s)(?:\s++\(([^()]*+)\)(?![^\s.,;:!?])|\s*+\[\d[\d,;–\s-]*+\])")
# Longer than any word behind which a bracket is needed.
_NEAR = 16
_MARKS_AROUND = f"{punctuation}“”‘’…–—"
_DASHES = frozenset({"-", "--", "---", "–", "—"})
_ENDS = ".!?"


class ShorteningWords(Table):
    """The words that shortening goes by, each list in one text with spaces between them."""

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
    """A part of a sentence that can stand alone: its text, and what was cut at its beginning and its end."""

    text: str
    head: str = "whole"
    tail: str = "whole"


class Shortener:
    """Cuts whole spans of sentences and changes no word, but for the capital that the first one gets.

    No cut turns a claim round or widens it: a lead-in that denies, doubts or cites others stays, and so
    does what follows "if", "unless", "except", "only" or "but".
    """

    def __init__(self, lists: ShorteningWords) -> None:
        self._lists = {name: frozenset(str(text).split()) for name, text in lists}

    def forms(self, sentence: str) -> Iterator[ShortForm]:
        """Yield the forms of a sentence, first the whole without brackets; never an empty one."""
        bare = self.without_brackets(sentence)
        if not bare:
            return
        written = bare.split()
        said = [_bare(word) for word in written]
        for start, head in self._heads(written, said):
            for end, tail in self._tails(written, said):
                if (start, end) == (0, len(written)):
                    yield ShortForm(bare)
                elif end - start >= FEWEST_WORDS and (kept := _as_sentence(written[start:end], bare[-1])):
                    yield ShortForm(kept, head, tail)

    def without_brackets(self, sentence: str) -> str:
        """Return a sentence without brackets, but for those that its grammar or its meaning needs."""
        return " ".join(_BRACKETS.sub(self._bracket, sentence).split())

    def _bracket(self, found: re.Match[str]) -> str:
        before = found.string[max(0, found.start() - _NEAR) : found.start()].lower().split()
        is_first = not before or before[-1].endswith((",", ";", ":"))
        is_needed = is_first or before[-1] in self._lists["prepositions"]
        return (
            found[0] if is_needed or self._turns([_bare(word) for word in (found[1] or "").split()]) else ""
        )

    def _turns(self, said: Iterable[str]) -> bool:
        """Return True if among the words is one that denies or limits what stands beside it."""
        return any(self._denies(word) or word in self._lists["limits"] for word in said)

    def _denies(self, word: str) -> bool:
        return word in self._lists["negations"] or word.endswith(("n't", "n’t"))

    def _heads(self, written: Sequence[str], said: Sequence[str]) -> Iterator[tuple[int, str]]:
        yield 0, "whole"
        if (start := self._after_report(said)) is not None:
            yield start, "report"
        if (start := self._after_clause(written, said)) is not None:
            yield start, "clause"

    def _after_report(self, said: Sequence[str]) -> int | None:
        """Return where the claim begins that authors report as found: behind "our experiments show that"."""
        for place in range(1, min(_LONGEST_REPORT, len(said) - 1)):
            if said[place] == "that" and said[place - 1] in self._lists["reports"]:
                led_by = set(said[:place])
                barred = self._lists["others"] | self._lists["unsure"]
                is_own = bool(led_by & self._lists["own"]) and not led_by & barred
                stands_alone = said[place + 1] not in self._lists["pronouns"]
                return place + 1 if is_own and stands_alone and not self._turns(led_by) else None
        return None

    def _after_clause(self, written: Sequence[str], said: Sequence[str]) -> int | None:
        """Return where the main clause begins, behind one that says why, how or in contrast to what."""
        if said[0] not in self._lists["clause_openings"]:
            return None
        comma = next((at for at, word in enumerate(written[:_LONGEST_CLAUSE]) if word.endswith(",")), None)
        if comma is None or comma + 1 >= len(said) or said[comma + 1] not in self._lists["subjects"]:
            return None
        return None if self._lists["limits"] & set(said[:comma]) else comma + 1

    def _tails(self, written: Sequence[str], said: Sequence[str]) -> Iterator[tuple[int, str]]:
        yield len(written), "whole"
        if written[-1].endswith("?"):
            return
        for place in range(FEWEST_WORDS, len(written) - 1):
            kind = self._tail(written, said, place)
            is_limited = bool(self._lists["limits"] & set(said[place:]))
            if kind and not is_limited and not self._needs_more(written[:place], said[:place]):
                yield place, kind

    def _tail(self, written: Sequence[str], said: Sequence[str], place: int) -> str:
        """Return the kind of an addition that begins at a place; "" for none."""
        before, word = written[place - 1], said[place]
        if before[-1] in ";:" or before in _DASHES:
            return "stop" if self._ends_at(written[:place], said[:place], written[place:]) else ""
        if not before.endswith(","):
            return ""
        if word == "and":
            return word if said[place + 1] in self._lists["joined"] else ""
        # A clause closed by another comma parts a subject from its verb: "our model, which is small, learns".
        if _goes_on(written, place) or (word == "such" and said[place + 1] != "as"):
            return ""
        if word in self._lists["tails"]:
            return word
        return "ing" if word.endswith("ing") and not _in_list(written, said, place) else ""

    def _ends_at(self, kept: Sequence[str], said: Sequence[str], rest: Sequence[str]) -> bool:
        """Return True if what is kept up to a stop is neither cut out of a list nor waits for the rest."""
        last = next((word for word in reversed(said) if word), "")
        in_list = kept[-1][-1] == ";" and any(word[-1] == ":" for word in kept)
        is_opened = kept[-1] in _DASHES and bool(_DASHES & set(rest))
        return not (in_list or is_opened or last in self._lists["announcing_tails"])

    def _needs_more(self, kept: Sequence[str], said: Sequence[str]) -> bool:
        """Return True if words wait for others: for a main clause, the end of a formula, "but also"."""
        breaks_off = said[-1] in self._lists["prepositions"] or "not only" in " ".join(said)
        openings = (self._lists[name] for name in ("limits", "clause_openings", "prepositions"))
        waits = any(said[0] in words for words in openings) and not any(
            word.endswith(",") for word in kept[:-1]
        )
        return breaks_off or waits or not _is_balanced(" ".join(kept))


def _bare(word: str) -> str:
    return word.lower().strip(_MARKS_AROUND)


def _is_balanced(text: str) -> bool:
    pairs = (("(", ")"), ("[", "]"), ("{", "}"), ("“", "”"))
    return text.count("$") % 2 == text.count('"') % 2 == 0 and all(
        text.count(opened) == text.count(closed) for opened, closed in pairs
    )


def _goes_on(written: Sequence[str], place: int) -> bool:
    """Return True if an addition may be closed by a mark, or has too little before it to be one."""
    stops = [at for at, word in enumerate(written[:place]) if word[-1] in ";:" or word in _DASHES]
    recent = place - stops[-1] - 1 if stops else place
    return recent < FEWEST_WORDS or any(word[-1] in ",;" or word in _DASHES for word in written[place:])


def _in_list(written: Sequence[str], said: Sequence[str], place: int) -> bool:
    """Return True if the word after a comma is one of several: "sampling, planning, and learning"."""
    commas = [word.endswith(",") for word in written]
    return any(commas[max(0, place - 5) : place - 1]) or bool({"and", "or"} & set(said[place : place + 7]))


def _as_sentence(words: Sequence[str], last: str) -> str:
    """Return words as a sentence, which ends as the whole one did."""
    text = " ".join(words).rstrip(" ,;:-–—")
    if text and last in _ENDS and text[-1] not in _ENDS:
        text += last
    first = text.split(" ", 1)[0]
    # A name such as "word2vec" or "eBay" keeps its case.
    return text[:1].upper() + text[1:] if first.isalpha() and first.islower() else text
