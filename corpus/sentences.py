"""The boundaries of sentences in papers and in replies of models, and the sentences two passages share."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, groupby, pairwise

from corpus.language.stemming import stop_words
from corpus.records import Passage, Sentence
from corpus.text import words

# After these a full stop never ends a sentence.
_ALWAYS_OPEN = frozenset(
    "e.g i.e eg ie vs cf viz ca dr mr mrs ms prof approx resp w.r.t a.k.a s.t st hon rev gen mt".split()
)
# As abbreviations, these stand before a number or a letter: "Fig. 3", "Eq. (2)", "App. B".
_BEFORE_NUMBER = frozenset(
    "fig figs eq eqs eqn eqns sec secs sect sects tab tabs ref refs no nos vol vols p pp ch chap app art "
    "alg algs def thm lem prop cor ex exp par para pt nr n col cols ver v jan feb mar apr jun jul aug sep "
    "sept oct nov dec".split()
)
# These may stand inside a sentence or end it: only a word that opens sentences decides.
_MAYBE_OPEN = frozenset(
    "al etc u.s u.k e.u u.n ph.d m.sc b.sc m.a b.a inc ltd co corp univ dept proc conf intl int trans "
    "assoc eds ed jr sr i.i.d a.m p.m ibid op".split()
)
_OPENERS = frozenset(
    "A After Afterwards All Also Although An And Another As At Based Because Before Both But By Compared "
    "Consequently Despite Due Each Even Every Finally First For From Further Furthermore Given Hence Here "
    "How However If In Indeed Instead It Its Last Later Let Like Many More Moreover Most Next No "
    "Nevertheless Note Now On One Only Other Others Our Overall Rather Recent Recently Second Section "
    "Several Similarly Since So Some Still Such Table That The Their Then There Therefore These They "
    "Third This Those Three "
    "Though Through Thus To Today Together Two Under Unlike Until Using We What When Where Whereas Whether "
    "Which While Who Why With Within Without Yet You".split()
)
# "Appendix B." may end a sentence where "J. B. Smith" does not.
_LETTERED = re.compile(
    r"\b(?:app|appendix|fig|figure|table|tab|section|sec|part|class|type|group|case|model|step|panel)[.s]? $",
    re.IGNORECASE,
)
_LONGEST_LETTERED = 12
_CLOSERS = "\"'”’»)]}*_"
# Of Chinese, Japanese, the scripts of India, Arabic and Urdu: they always end a sentence.
_FULL_STOPS = "。！？｡．।॥؟۔"
_CITATION = r"\[\d{1,3}(?:[,;–-] ?\d{1,3})*\]"
_STOP = re.compile(
    rf"[.!?…]+[{re.escape(_CLOSERS)}]*(?:{_CITATION})*"
    # A label after the full stop and before a capital or the end belongs to the sentence before it.
    rf"(?:(?:[ \t]{{0,3}}{_CITATION})+(?=\s+[A-Z\"“(*]|\s*$|[ \t]*\n))?"
    rf"|[{_FULL_STOPS}]+[”’」』）]*"
)
_LAST_TOKEN = re.compile(r"(?<![^\s(\[{\"'“‘«/])[^\s(\[{\"'“‘«/]*$")
_WORD = re.compile(r"[^\W\d_]+")
_LIST_MARK = re.compile(r"(?:[-*+•‣◦▪–]|\d{1,3}[.)]|[a-zA-Z][.)]|#{1,6}|>|\|)[ \t\u00a0]|\|")
_LINE_BREAK = re.compile(r"(?:(?<![^\S\n])[^\S\n]++)?\n\s*+")
# The text before a lost space: a word or a closing mark, no part of "java.util.List" or of an address.
_GLUED_LEFT = re.compile(r"(?:(?:^|[\s(\"“‘'’/–—-])(?P<word>[^\W\d_]{2,}\d?)|[^\s.:/@_]\d|[)\]%])$")
_BEHIND_GLUED = frozenset(" ,;:\n'’-–—/")
# Before a full stop and a capital these name a part of a program: "numpy.Array", "torch.Tensor".
_LIBRARIES = frozenset(
    "numpy scipy torch torchtext pandas keras tensorflow sklearn nltk spacy gensim java javax "
    "scala django flask matplotlib jax pytorch".split()
)
_LONGEST_GLUED, _NAME_NEAR = 40, 2000
_LONGEST_ABBREVIATION = 12
_SHORT_LINE = 40


def sentence_spans(text: str) -> tuple[tuple[int, int], ...]:
    """Split `text` into the spans of its sentences, which follow each other without a gap.

    White space between two sentences belongs to the former; an empty text has no spans.
    A citation label behind the full stop ("It works. [3] The next") belongs to the sentence before it.
    """
    if not text:
        return ()
    length = len(text.rstrip())
    cuts = sorted({cut for cut in (*_stops(text), *_line_breaks(text)) if 0 < cut < length})
    first = len(text) - len(text.lstrip())
    edges = [0, *(cut for cut in cuts if cut > first), len(text)]
    return tuple(pairwise(edges))


def _stops(text: str) -> Iterator[int]:
    start = 0
    for match in _STOP.finditer(text):
        after = _skip_space(text, match.end())
        if match[0][0] in _FULL_STOPS or _ends_sentence(text, start, match, after):
            start = after
            yield after


def _skip_space(text: str, position: int) -> int:
    while position < len(text) and text[position].isspace():
        position += 1
    return position


def _ends_sentence(text: str, start: int, match: re.Match[str], after: int) -> bool:
    if after >= len(text):
        return False
    if after == match.end():
        return _is_glued(text, match)
    if not _can_open(text, after):
        return False
    if text[match.start()] != "." or match[0].startswith(".."):
        return True
    before = text[max(start, match.start() - _LONGEST_ABBREVIATION) : match.start()]
    token = _LAST_TOKEN.search(before)
    return _stop_after(token[0] if token else "", text, start, match, after)


def _stop_after(token: str, text: str, start: int, match: re.Match[str], after: int) -> bool:
    """Return True if the full stop behind `token` ends a sentence."""
    closed = match[0] != "."
    word = token.lower().lstrip("*_")
    opener = _word_at(text, after) in _OPENERS
    if word in _ALWAYS_OPEN:
        return False
    if word in _BEFORE_NUMBER:
        return closed or not _is_number(text, after)
    if word in _MAYBE_OPEN:
        return opener or (closed and word == "etc")
    if len(token) == 1 and token.isalpha() and token.isupper():
        return opener or closed or _lettered_before(text, start, match.start() - 1)
    # "1. Introduction" and "a. first" at the very beginning are marks of a list, not sentences.
    is_mark = (token.isdecimal() and len(token) <= 3) or (len(token) == 1 and token.isalpha())
    line = max(start, text.rfind("\n", start, match.start()) + 1) if is_mark else start
    return not (is_mark and not text[line : match.start() - len(token)].strip(" *_"))


def _word_at(text: str, position: int) -> str:
    word = _WORD.match(text, position)
    return word[0] if word else ""


def _can_open(text: str, position: int) -> bool:
    """Return True if a sentence may begin here: with a capital, a digit, a mark or a script without case."""
    while position < len(text) and text[position] in "\"'“‘«([{*_¿¡":
        position += 1
    if position >= len(text):
        return False
    return not text[position].islower() and text[position] not in ",;:.!?)]}=<>+/&%"


def _is_number(text: str, position: int) -> bool:
    if text[position] in "(§":
        return True
    word = _word_at(text, position)
    return text[position].isdecimal() or re.fullmatch(r"[A-Z]|[IVXLivxl]+", word) is not None


def _is_glued(text: str, match: re.Match[str]) -> bool:
    """Return True if a space was lost ("dataset.We also"), not in names and versions ("Node.js", "v1.2")."""
    if match[0] not in (".", "?", "!", ".”", ".)"):
        return False
    right = _word_at(text, match.end())
    end = match.end() + len(right)
    if not right[:1].isupper() or (end < len(text) and text[end] not in _BEHIND_GLUED):
        return False
    left = _GLUED_LEFT.search(text[max(0, match.start() - _LONGEST_GLUED) : match.start()])
    if left is None or (left["word"] or "").lower() in _MAYBE_OPEN | _BEFORE_NUMBER | _ALWAYS_OPEN:
        return False
    if right in _OPENERS or (right.endswith("ly") and text[end : end + 1] == ","):
        return True
    word = left["word"] or ""
    if len(right) == 1 or word in _LIBRARIES or text[match.start()] == "!":
        return False
    is_plain = right[1:].islower() and ((len(word) > 3 and word.islower()) or text[match.start() - 1] in ")]")
    return is_plain or (word.islower() and _stands_alone(text, right, match.start()))


def _stands_alone(text: str, word: str, place: int) -> bool:
    """Return True if a word stands by itself near `place` too, as a name does that a text is about."""
    near = text[max(0, place - _NAME_NEAR) : place + _NAME_NEAR]
    return f" {word} " in near or near.startswith(f"{word} ")


def _line_breaks(text: str) -> Iterator[int]:
    line = 0
    for match in _LINE_BREAK.finditer(text):
        if match[0].count("\n") > 1 or _is_hard_break(text, line, match):
            yield match.end()
        line = match.end()


def _is_hard_break(text: str, line: int, match: re.Match[str]) -> bool:
    """Return True if a line break separates, False if it only wraps a long line."""
    before, after = text[line : match.start()], match.end()
    if match[0].startswith("  ") or before.startswith(("#", "|")) or before.endswith(("**", ":", ";")):
        return True
    if before.rstrip(_CLOSERS).endswith((".", "!", "?", "…", *_FULL_STOPS)):
        return _can_open(text, after)
    if _LIST_MARK.match(text, after):
        return True
    return len(before) < _SHORT_LINE and after < len(text) and text[after].isupper()


def _lettered_before(text: str, start: int, end: int) -> bool:
    """Return True if a word stands before `end` that a letter may belong to."""
    return _LETTERED.search(text, max(start, end - _LONGEST_LETTERED), end) is not None


def with_repeats(passages: Sequence[Passage]) -> Iterator[tuple[Passage, int]]:
    """Yield each passage with the number of its first sentences that the given one before it has too."""
    for before, passage in pairwise(chain((None,), passages)):
        if passage:
            yield passage, repeated(before, passage) if before else 0


def repeated(before: Passage, passage: Passage) -> int:
    """Count the first sentences of a passage that repeat the end of the passage before it."""
    follows = (before.paper_id, before.number + 1) == (passage.paper_id, passage.number)
    if not follows or {before.kind, passage.kind} != {"body"} or before.section != passage.section:
        return 0
    first, last = _sentence_keys(passage), _sentence_keys(before)
    # At least one sentence is new, and one is only in the passage before.
    most = min(len(first), len(last)) - 1
    return next((count for count in range(most, 0, -1) if first[:count] == last[-count:]), 0)


def _sentence_keys(passage: Passage) -> list[tuple[str, object, object]]:
    return [
        (passage.sentence_text(index), sentence.boxes, sentence.references)
        for index, sentence in enumerate(passage.sentences)
    ]


def without_repeats(passages: Sequence[Passage], whole: str = "") -> tuple[Passage, ...]:
    """Return passages for continuous reading, each sentence once.

    The passage with the id `whole` keeps its repeated sentences; the one before it loses them.
    """
    read: list[Passage] = []
    for passage, count in with_repeats(passages):
        is_whole = passage.id == whole
        if count and is_whole:
            kept = len(read[-1].sentences) - count
            read[-1:] = [_part(read[-1], 0, kept)] if kept > 0 else []
        read.append(passage if is_whole else _part(passage, count, len(passage.sentences)))
    return tuple(read)


def _part(passage: Passage, first: int, last: int) -> Passage:
    """Return a passage with some of its sentences in a row, without white space at the ends."""
    if not first and last == len(passage.sentences):
        return passage
    kept = passage.sentences[first:last]
    start = kept[0].start
    text = passage.text[start : kept[-1].end].rstrip()
    moved = tuple[Sentence, ...](
        replace(sentence, start=sentence.start - start, end=min(sentence.end - start, len(text)))
        for sentence in kept
    )
    return replace(passage, text=text, sentences=moved)


_OF_FORMULAS = re.compile(r"[=≠<>≤≥≈≡∝∑∏∫√∂∇∈∉⊂⊆∪∩∀∃←→⇒⇔±×∗−+|]")
_LONG_WORD = re.compile(r"[^\W\d_]{4,}")
_SHORT_WORD = re.compile(r"[^\W\d_]{3}")
_LETTER = re.compile(r"[^\W\d_]")
_VARIABLES = 0.3  # share of a sentence's words from which it is hard to read
_PROSE = 0.4  # of the characters of a formula at most are in words of four letters and more
_FEWEST_LITTLE_WORDS = 2


def is_formula(text: str) -> bool:
    """Return True if a text is a displayed formula, hard to read from its characters alone."""
    # A screen checks every sentence of a paper, and nearly all are done here.
    if not _OF_FORMULAS.search(text):
        return False
    printed = len("".join(text.split()))
    in_text = words(text)
    if printed < 3 or not in_text:
        return False
    little = sum(len(word) > 1 and word in stop_words() for word in in_text)
    in_words = sum(len(word) for word in _LONG_WORD.findall(text))
    return little < _FEWEST_LITTLE_WORDS and in_words < _PROSE * printed


def is_mostly_variables(text: str) -> bool:
    """Return True for prose around a formula, hard to read from its characters alone.

    Many of its words are variables, without three letters in a row: "p(aj |aj−1) where φi = PJ δ(i, aj )".
    """
    if not _OF_FORMULAS.search(text):
        return False
    tokens = text.split()
    variables = sum(
        _LETTER.search(token) is not None
        and _SHORT_WORD.search(token) is None
        and token.lower().strip("(),.;:") not in stop_words()
        for token in tokens
    )
    return variables > _VARIABLES * len(tokens)


def formulas_apart(passage: Passage) -> Iterator[tuple[bool, Passage]]:
    """Yield the parts of a passage in order: its formulas with a place on a page, and the text between."""
    places = range(len(passage.sentences))
    for is_formula_part, run in groupby(places, key=lambda index: _is_placed_formula(passage, index)):
        part = list(run)
        yield is_formula_part, _part(passage, part[0], part[-1] + 1)


def with_formulas_named(passage: Passage, name: str = "[formula]") -> Passage:
    """Return a passage with `name` in place of each formula, to be read beside its page."""
    text, sentences = "", []
    for index, sentence in enumerate(passage.sentences):
        raw = passage.text[sentence.start : sentence.end]
        shown = f"{name}{raw[len(raw.rstrip()) :]}" if _is_placed_formula(passage, index) else raw
        sentences.append(replace(sentence, start=len(text), end=len(text) + len(shown)))
        text += shown
    return replace(passage, text=text, sentences=tuple(sentences)) if sentences else passage


def _is_placed_formula(passage: Passage, index: int) -> bool:
    is_text = passage.kind in ("body", "formula")
    return is_text and bool(passage.sentences[index].boxes) and is_formula(passage.sentence_text(index))
