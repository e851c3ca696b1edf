"""The inside of a citation mark: "1, 2, and 3", "Papers 1–3", "see 1, p. 3", "2: A Title".

It is parsed word by word; with any unknown word, the brackets hold no labels.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

LONGEST_RANGE = 15
DASHES = "-\u00ad‐‑‒–—―−﹣－~～〜⁻"
# Words for what is cited; in round brackets only those that name nothing else.
STRICT_SOURCES = frozenset(
    "puid paper papers reference references ref refs source sources document documents doc docs citation "
    "citations cite passage passages".split()
)
_SOURCES = STRICT_SOURCES | frozenset(
    "puids cites cit article articles study studies work works excerpt excerpts text texts chunk chunks "
    "context snippet snippets result results evidence publication publications quote note notes footnote "
    "footnotes fn id label labels file entry bib web webpage src no nr "
    "quelle quellen papier papiere artikel studie studien dokument dokumente referenz "
    "référence références étude études documento documentos artículo artículos estudio estudios fuente "
    "fuentes referencia referencias fonte fonti fontes artigo artigos articolo bron bronnen källa källor "
    "источник источники статья статьи документ "
    "论文 論文 文献 文獻 来源 來源 资料 資料 文档 参考 参考文献 出典 출처 논문 문서 문헌".split()
)
# Labels that are a letter and a number: "[P1]", "[S2]", "[D3]".
_LETTERS = frozenset("psd")
_LEADS = frozenset("see also cf e g i eg ie compare vgl siehe voir véase ver vedi zie".split())
# Prepositions need a word for a source before the label: "[according to Paper 2]".
_PREPOSITIONS = frozenset("from in by per via according to based on as cited of adapted both all".split())
_AND = frozenset("and or und oder et ou y e o och en и 和 与 與 及 와 과 と".split())
_TO = frozenset("to through thru bis à hasta до 至 到".split())
# Places in a paper: plurals, those that need a number, and sections that are places by themselves.
_PLURAL_PLACES = frozenset("pp pages secs sections figs figures tables lines eqs chapters pgs §§".split())
_NUMBERED_PLACES = _PLURAL_PLACES | frozenset(
    "p page pg sec section sect fig figure table tab ch chap chapter eq eqn equation theorem lemma line para "
    "paragraph appendix app column vol slide footnote part seite §".split()
)
_PLACES = _NUMBERED_PLACES | frozenset(
    "abstract introduction conclusion conclusions discussion method methods results experiments background "
    "summary title".split()
)
_WORDS = _SOURCES | _LEADS | _PREPOSITIONS | _AND | _TO | _PLACES
_PIECE = re.compile(r"\d+|[^\W\d_]+|\s+|.", re.DOTALL)
# Of languages that are written without spaces.
_GLUED_WORDS = "和与與及至到와과と"
_SEPARATORS, _DECORATION = ",;&，、；،؛|", "*_`\"'“”‘’\\#^@№\u200b"
_HALF_OF_TWO = re.compile(r"\d{1,3}:\d{0,3}")  # "3:0†source"
_TITLE_START = re.compile(r"[“\"'‘«(]?[^\W\d_]{2}")


class _NotALabelError(Exception):
    """The pieces are no list of labels; `at` is the index of the first that does not fit."""

    def __init__(self, at: int) -> None:
        super().__init__(at)
        self.at = at


@dataclass(slots=True)
class _State:
    """The state of the parser of a list."""

    labels: list[int] = field(default_factory=list)
    has_word: bool = False  # for what is cited
    needs_word: bool = False
    is_after_label: bool = False
    is_after_word: bool = False
    place: str = ""
    place_needs_number: bool = False
    is_range: bool = False

    def add(self, label: int) -> None:
        first = self.labels[-1] if self.is_range else label
        is_short = self.is_range and 0 <= label - first < LONGEST_RANGE
        self.labels += range(first + 1, label + 1) if is_short else [label]
        self.is_after_label, self.is_after_word, self.is_range = True, False, False


def labels_of(inside: str, *, by_word: bool = False) -> tuple[int, ...]:
    """Return the labels inside a pair of brackets, without duplicates, () if it holds anything else.

    `by_word`: only after a word for a source ("Paper 1"). "[0, 1]" is an interval: labels begin at 1.
    """
    pieces = _PIECE.findall(inside)
    try:
        state = _read(pieces, by_word=by_word)
    except _NotALabelError:
        return ()
    labels = tuple(dict.fromkeys(state.labels))
    is_whole = labels and not state.is_range and not state.place_needs_number
    is_whole = is_whole and (state.has_word or not by_word)
    return labels if is_whole and (0 not in labels or len(labels) == 1) else ()


def may_become_labels(inside: str, *, by_word: bool = False) -> bool:
    """Return True if text after an opening bracket may be the beginning of a list of labels."""
    pieces = _PIECE.findall(inside)
    try:
        state = _read(pieces, by_word=by_word)
    except _NotALabelError as error:
        last = pieces[-1].lower()
        has_number = any(piece.isdigit() for piece in pieces)
        words = STRICT_SOURCES if by_word and not has_number else _WORDS
        is_half_word = last.isalpha() and any(word.startswith(last) for word in words)
        is_half = error.at == len(pieces) - 1 and is_half_word
        return is_half or _HALF_OF_TWO.fullmatch(inside) is not None
    return not by_word or state.has_word or not inside.strip()


def _read(pieces: Sequence[str], *, by_word: bool) -> _State:
    """Parse a list of labels, complete or not; raises _NotALabelError at a piece that cannot be in one."""
    state = _State()
    for index, piece in enumerate(pieces):
        behind = pieces[index + 1 :]
        if _begins_note(state, piece, behind):
            return state
        if not _take(state, piece, behind, by_word=by_word):
            raise _NotALabelError(index)
    return state


def _take(state: _State, piece: str, behind: Sequence[str], *, by_word: bool) -> bool:
    """Consume the next word, number or sign; return False if it cannot be in a list of labels."""
    word = piece.lower()
    if piece.isspace() or (piece in _DECORATION and not state.place_needs_number):
        return True
    if piece[0].isdigit():
        return _take_number(state, piece, behind)
    if piece in DASHES or (word in _TO and state.is_after_label):
        return _take_dash(state)
    if piece in _SEPARATORS or (word in _AND and state.labels):
        return _take_separator(state, word)
    if piece.isalpha() or piece == "§":
        return _take_word(state, word, behind[0] if behind else "", by_word=by_word)
    return _take_sign(state, piece, behind, by_word=by_word)


def _begins_note(state: _State, piece: str, behind: Sequence[str]) -> bool:
    """Return True if a note of any text follows a label: "1†source", "1: A Title"."""
    if not state.is_after_label or state.place not in ("", ":"):
        return False
    rest = "".join(behind).lstrip()
    is_title = piece == ":" and bool(behind) and behind[0].isspace() and _TITLE_START.match(rest) is not None
    begins_place = re.split(r"[\W\d]", rest.lower(), maxsplit=1)[0] in _PLACES
    return piece == "†" or (is_title and not begins_place)


def _take_dash(state: _State) -> bool:
    if state.place or state.is_after_word:
        return True
    is_range = state.is_after_label and not state.is_range
    state.is_range, state.is_after_label = True, False
    return is_range


def _take_separator(state: _State, word: str) -> bool:
    # "e.g., 1" has its first before any label.
    is_good = not state.is_range and bool(state.labels or state.is_after_word)
    if not ((word in ",，、" or word in _AND) and state.place in _PLURAL_PLACES):
        state.place = ""
    state.is_after_label = False
    return is_good


def _take_sign(state: _State, sign: str, behind: Sequence[str], *, by_word: bool) -> bool:
    """Consume a sign; return False if it cannot be in a list of labels."""
    after = behind[0].lower() if behind else ""
    if sign == ":" and state.is_after_label and not state.place:
        state.place = ":"
        return not after or after.isspace() or after in _PLACES or "†" in behind
    if sign == "?":
        return state.is_after_label
    if sign == "(":
        return state.is_after_label and not by_word and (not after or after in _PLACES)
    if sign == ")":
        return bool(state.place)
    # A full stop ends a short word or the last label, a colon or "=" follows the word for a paper.
    is_stop = sign == "." and not after[:1].isdigit() and not state.is_range
    return is_stop or (sign in ".=:" and (state.is_after_word or bool(state.place)))


def _take_number(state: _State, number: str, behind: Sequence[str]) -> bool:
    """Consume a number as a label or as a part of a place; return False if it is neither."""
    if state.place:
        state.place_needs_number = False
        return True
    after = "".join(behind[:2])
    # A year, a decimal number, thousands, "3D": no label.
    is_other = len(number) > 3 or re.match(r"\.\d|[,.]\d{3}(?!\d)", after) is not None
    is_unit = after[:1].isalpha() and after[:1] not in _GLUED_WORDS
    if is_other or is_unit or state.is_after_label or state.needs_word:
        return False
    state.add(int(number))
    return True


def _take_word(state: _State, word: str, behind: str, *, by_word: bool) -> bool:
    """Consume a word; return False if it cannot be in a list of labels."""
    is_first = not state.is_after_label
    is_letter = word in _LETTERS and behind.isdigit() and is_first and not by_word
    if state.labels and not state.is_range and word in _PLACES and not is_letter:
        state.place, state.place_needs_number = word, word in _NUMBERED_PLACES
        state.is_after_label = False
    elif state.place:
        return not state.place_needs_number and word not in _SOURCES
    elif is_first and (is_letter or word in (STRICT_SOURCES if by_word else _SOURCES)):
        state.has_word, state.needs_word, state.is_after_word = True, False, True
    elif is_first and word in _LEADS and not (by_word and not state.labels):
        state.is_after_word = True
    elif is_first and word in _PREPOSITIONS and not (by_word or state.labels):
        state.needs_word = True
    else:
        return False
    return True


def label_words() -> Iterator[str]:
    """Yield the words for sources that have no other meaning."""
    yield from sorted(STRICT_SOURCES - {"puid"}, key=len, reverse=True)
