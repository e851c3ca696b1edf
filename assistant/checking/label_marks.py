"""Marks of citations in text: brackets, superscripts, tags, LaTeX and links, complete or partial.

Each is rewritten as brackets with the labels inside; other text does not change.
"""

import re
from collections.abc import Callable, Iterable, Set

from assistant.checking.label_forms import (
    DASHES,
    STRICT_SOURCES,
    label_words,
    labels_of,
    may_become_labels,
)
from corpus.sentences import sentence_spans

# Writes labels in place of a mark.
Write = Callable[[Iterable[int]], str]
_WORDS = "|".join(label_words())
_LINK = r"(?:\((?:#|https?:)[^()\s]{0,500}\))?"
_BRACKETS = re.compile(
    rf"\^?\\?\[[ \t]{{0,3}}\\?\[(?P<doubled>[^\[\]]{{1,160}}?)\\?\][ \t]{{0,3}}\\?\]\^?{_LINK}"
    rf"|\^?\\?\[(?P<square>[^\[\]]{{1,160}}?)\\?\]\^?{_LINK}"
    r"|[【［〖](?P<wide>[^【［〖】］〗]{1,160})[】］〗]"
    # Round brackets hold labels only where a word says so: "(2)" is an equation or a list item.
    rf"|\((?P<round>\s{{0,3}}(?:PUID|{_WORDS})[^()\[\]]{{1,120}})\)",
    re.IGNORECASE,
)
_LABELS = r"\[\d{1,3}\??\](?:[\s,;]{0,3}\[\d{1,3}\??\]){0,40}"
_NESTED = re.compile(rf"\[\s{{0,3}}(?P<inside>{_LABELS})\s{{0,3}}\]")
# From one bracket to another; with spaces only where no words follow, for "[1] – [2] says so" is prose.
_FROM_TO = re.compile(
    rf"\[(?P<first>\d{{1,3}})\](?:[{DASHES}]|[ \t]?(?:through|thru)[ \t]?"
    rf"|[ \t][-–‑][ \t](?=\[\d{{1,3}}\](?:[ \t]{{0,3}}[.,;:!?)\n]|\Z)))\[(?P<last>\d{{1,3}})\]"
)
_DIGITS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_RAISED = r"[⁰¹²³⁴-⁹]"
_SUPERSCRIPT = re.compile(
    rf"⁽?(?P<raised>{_RAISED}{{1,4}}(?:(?:[,;⁻‑–᠂·-][ \t]?|[ \t]){_RAISED}{{1,4}}){{0,12}})⁾?"
)
_CARET = re.compile(
    r"(?:\\?\$)?\^(?:\{(?P<braces>[^{}]{1,60})\}|\((?P<parens>[\d ,;–-]{1,40})\)"
    r"|(?P<bare>\d{1,3}(?:[,–-]\d{1,3}){0,12}))\^?(?:\\?\$)?"
)
_TAGS = "cite|cit|citation|reference|ref|source|paper|document|doc|co"
_ANCHOR = re.compile(r"<a\b[^<>]{0,300}>(?P<inside>[^<>]{1,60})</a\s{0,3}>", re.IGNORECASE)
_RAISED_TAG = re.compile(r"<sup\b[^<>]{0,120}>(?P<inside>[^<>]{1,120})</sup\s{0,3}>", re.IGNORECASE)
_TAG = re.compile(
    rf"<(?P<name>{_TAGS})(?P<given>[\s:=][^<>/]{{0,120}})?>(?P<inside>[^<>]{{0,600}})"
    r"</(?P=name)\b(?P<closing>[^<>]{0,60})>"
    rf"|<(?:{_TAGS})(?P<alone>[\s:=][^<>/]{{1,120}})/?>",
    re.IGNORECASE,
)
_GIVEN = re.compile(r"(?:[:=]|\A)\s{0,3}[\"']?(?P<value>[^\"'=:]{1,60})[\"']?\s{0,3}\Z")
_CALL = re.compile(r"\d{1,3}:\[(?P<labels>[\d, ]{1,40})\]")
_LATEX = re.compile(
    r"~?\\(?:[a-z]{0,6}cite[a-z]{0,8}|textsuperscript|footnotemark)\*?(?:\[[^\[\]{}]{0,60}\]){0,2}"
    r"\{(?P<keys>[^{}]{1,80})\}",
    re.IGNORECASE,
)
_RAGFLOW = re.compile(r"##(?P<label>\d{1,3})\$\$")
_MARKERS = re.compile(r"\[cite_(?:start|end)\][ \t]?", re.IGNORECASE)
# Words before a raised number that make it an exponent, and before "[1, 10]" that make it an interval.
_RAISED_TO = frozenset(
    "cm mm km nm dm ft in yd mi hz pa log ln lg sin cos tan cot sec exp mol min max var std chi eta "
    "phi psi rho tau mu xi pi inch inches foot feet metre metres meter meters mile miles acre pixel "
    "pixels sinh cosh tanh alpha beta gamma delta epsilon theta lambda sigma omega kappa co ch nh so "
    "ho".split()
)
_INTERVAL = re.compile(
    r"(?:\b(?:interval|(?<!wide\s)(?<!broad\s)(?<!large\s)range|(?:the|a)\sscale)(?:\s(?:of|from|is|in))?"
    r"|\b(?:range|scale|domain|bound)s?\s(?:of|from|is)|[∈=]"
    r"|\b(?:lies?|lying|falls?|values?|scores?|ratings?|integers?|numbers?)\s(?:in|within|between))\s?\Z",
    re.IGNORECASE,
)
_PAIR = re.compile(r"\s*\d{1,3}\s*,\s*\d{1,3}\s*")
_TOKEN_BEFORE = re.compile(r"[^\W_](?:[\w-]{0,40})\Z")
_LABEL_BEFORE = re.compile(r"\[\d{1,3}\??\]\Z")
_BEFORE = 60
_CLOSERS = "”\"'’»)*_`"


def rewrite_marks(text: str, write: Write, known: Set[int] = frozenset()) -> str:
    """Return a text with each citation mark replaced by what `write` returns for its labels.

    A raised "12" means 1 and 2 if these are `known` and 12 is not.
    """
    text = _MARKERS.sub("", text)

    def bracketed(match: re.Match[str]) -> str:
        labels = _in_brackets(match)
        return write(labels) if labels else match[0]

    def raised(match: re.Match[str]) -> str:
        labels = _raised_labels(match, known)
        return write(labels) if labels else match[0]

    def tagged(match: re.Match[str]) -> str:
        return _tagged(match, write)

    text = _ANCHOR.sub(lambda match: _whole(match, "inside", write), text)
    for pattern in (_RAISED_TAG, _SUPERSCRIPT, _CARET):
        text = pattern.sub(raised, text)
    text = _TAG.sub(tagged, text)
    text = _LATEX.sub(lambda match: _whole(match, "keys", write), text)
    text = _RAGFLOW.sub(lambda match: write((int(match["label"]),)), text)
    return _BRACKETS.sub(bracketed, text)


def join_marks(text: str, write: Write) -> str:
    """Return a text with ranges ("[1]–[3]") written out and nested brackets removed."""

    def from_to(match: re.Match[str]) -> str:
        labels = labels_of(f"{match['first']}-{match['last']}")
        is_range = int(match["first"]) < int(match["last"]) and len(labels) > 1
        return write(labels) if is_range else match[0]

    return _NESTED.sub(lambda match: match["inside"], _FROM_TO.sub(from_to, text))


def neutral_marks(text: str) -> str:
    """Return foreign text in which nothing is a mark: "[12]" becomes "(12)", "terms¹" "terms ¹"."""

    def bracketed(match: re.Match[str]) -> str:
        if not _in_brackets(match):
            return match[0]
        inner = re.sub(rf"\]\^?{_LINK}\Z", "]", match[0]).strip("[]()【】［］〖〗^\\ ")
        is_worded = match["round"] or labels_of(inner, by_word=True)
        return f"〔{inner}〕" if is_worded else f"({inner})"

    for pattern in (_RAISED_TAG, _SUPERSCRIPT, _CARET):
        text = pattern.sub(lambda match: f" {match[0]}" if _raised_labels(match) else match[0], text)
    for pattern in (_ANCHOR, _TAG):
        text = pattern.sub(lambda match: match[0].replace("<", "‹").replace(">", "›"), text)
    text = _LATEX.sub(lambda match: match[0].replace("{", "(").replace("}", ")"), text)
    return _BRACKETS.sub(bracketed, _RAGFLOW.sub(r"## \g<label> $$", text))


def _in_brackets(match: re.Match[str]) -> tuple[int, ...]:
    if match["round"]:
        return labels_of(match["round"], by_word=True)
    inside: str = match["doubled"] or match["square"] or match["wide"]
    before = match.string[max(0, match.start() - _BEFORE) : match.start()]
    if match["square"] and _PAIR.fullmatch(inside) and _INTERVAL.search(before):
        return ()
    return labels_of(inside)


def _whole(match: re.Match[str], name: str, write: Write) -> str:
    labels = _bare_labels(match[name])
    return write(labels) if labels else match[0]


def _bare_labels(inside: str) -> tuple[int, ...]:
    """Return the labels of a text that consists of them, with or without brackets around each."""
    return labels_of(re.sub(r"\][\s,;]*\[", ",", inside).strip("[]() \n"))


def _tagged(match: re.Match[str], write: Write) -> str:
    """Return the labels inside a tag, or its content followed by the labels in its attribute."""
    if match["alone"] is not None:
        labels = _attribute_labels(match["alone"])
        return write(labels) if labels else match[0]
    if labels := _bare_labels(match["inside"]):
        return write(labels)
    # Cohere's grounded replies may give labels in the closing tag only, as "2" or "0:[1,2]".
    labels = _attribute_labels(match["given"] or "") or _attribute_labels(
        _CALL.sub(r"\g<labels>", match["closing"] or "")
    )
    return f"{match['inside'].rstrip()} {write(labels)}" if labels else match[0]


def _attribute_labels(attribute: str) -> tuple[int, ...]:
    match = _GIVEN.search(attribute)
    if match is None:
        return ()
    # The second number of "index" counts sentences.
    is_index = attribute.strip().lower().startswith("index")
    return labels_of(re.sub(r"-\d+", "", match["value"]) if is_index else match["value"])


def _raised_labels(match: re.Match[str], known: Set[int] = frozenset()) -> tuple[int, ...]:
    """Return the labels of a raised number, empty for an exponent."""
    inside = next(filter(None, match.groups())).translate(_DIGITS)
    labels = _bare_labels(re.sub(r"(?<=\d)[ \t](?=\d)", ",", inside.replace("⁻", "-").replace("·", ",")))
    behind = match.string[match.end() : match.end() + 1]
    before = match.string[max(0, match.start() - _BEFORE) : match.start()].removesuffix("\\")
    if not labels or not _may_be_marked(before, behind, labels):
        return ()
    digits = [int(digit) for label in labels for digit in str(label)]
    is_run = not known >= set(labels) and known >= set(digits)
    return tuple(dict.fromkeys(digits)) if is_run else labels


def _may_be_marked(before: str, behind: str, labels: tuple[int, ...]) -> bool:
    """Return True if a superscript after this text may be a mark, not an exponent."""
    words = before.rstrip(_CLOSERS)
    is_after_stop = words[-1:] in tuple(".,;:!?。，；：！？")
    words = words.rstrip(".,;:!?。，；：！？%").rstrip(_CLOSERS) if is_after_stop else words
    if _LABEL_BEFORE.search(before):
        return True
    token = _TOKEN_BEFORE.search(words)
    if token is None or before[-1:].isspace():
        return False
    letters = sum(letter.isalpha() for letter in token[0])
    if is_after_stop:
        return True
    is_exponent = letters < 2 or token[0].lower() in _RAISED_TO or not (token[0][-1].isalpha() or letters > 1)
    # "MSE²" and "CO³" are squares and formulas.
    is_short = letters <= 3 and labels in ((2,), (3,))
    return not (is_exponent or is_short or behind.isalnum())


# Bare numbers, which are labels only in a text without other marks.

# Words before a number that count or name it: "equation (2)", "layer 1".
_NUMBERED = frozenset(
    "equation eq eqs eqn formula step case type condition table tab section sec figure fig example "
    "stage phase level rule item part theorem lemma definition layer layers version task experiment "
    "question hypothesis grade class group day week month year chapter page line row column model "
    "algorithm track season rank top number no nr vol volume than of to is was are were by at in on "
    "for with from about over under and or equals least most precision recall score scores factor "
    "order length size ratio round epoch fold seed gpt llama bert t5 bm system run appendix note "
    "point dimension degree p the a an its as vs versus".split()
)
_LEAST_WORDS = 3
_BARE_LIST = r"\d{1,3}(?:\s?(?:[,;&–‑-]|,?\sand)\s?\d{1,3}){0,12}"
_CLAUSE_END = r"(?=\s{0,3}(?:[.,;:!?。，；：！？]|\n|\Z))"
_IN_BRACKETS = re.compile(
    rf"(?<=\S)(?P<space>\s{{0,3}})(?:\((?:(?:see|cf\.?|e\.g\.,?)\s)?(?P<round>{_BARE_LIST})\)"
    rf"|\{{(?P<curly>{_BARE_LIST})\}}|<(?P<angle>{_BARE_LIST})>){_CLAUSE_END}",
    re.IGNORECASE,
)
_AFTER_STOP = re.compile(rf"(?<=[^\W\d_][.!?])(?P<space>\s?)\((?P<round>{_BARE_LIST})\)(?=\s|\Z)")
_GLUED = re.compile(r"(?<=[^\W\d_][^\W\d_][.!?])(?P<list>\d{1,2}(?:[,–-]\d{1,2}){0,6})(?=\s|\Z)")
_RAISED_APART = re.compile(rf"(?<=[^\W\d_][^\W\d_][^\W\d_])[ \t](?=⁽?{_RAISED}{{1,3}}⁾?(?:[\s.,;:!?]|\Z))")
_CIRCLED = re.compile(rf"(?<=\S)(?P<space>\s?)(?P<circled>[①-⑳]{{1,6}}){_CLAUSE_END}")
_LAST_NUMBER = re.compile(
    r"(?<=[^\W\d_][^\W\d_][^\W\d_])(?P<space>\s)(?P<list>\d{1,2}(?:,\s?\d{1,2}){0,6})(?=[.!?](?:\s|\Z))"
)
# "Papers 1 and 2": a plural counts what its one number names ("documents 1").
_NAMED = re.compile(
    rf"\b(?:{_WORDS})(?:(?<=s)\s{{1,2}}(?=\d{{1,3}}\s?[,;&–‑a-])|(?<!s)\s{{0,2}})"
    rf"#?(?P<list>{_BARE_LIST})(?![\w%]|[.,]\d)",
    re.IGNORECASE,
)


def bracket_bare_labels(text: str, known: Set[int], *, by_name: bool = True) -> str:
    """Return a text without other labels with its bare numbers in brackets, where they are labels.

    The numbers in "Paper 1 shows", "ranks documents (1)." and "ranks documents.1" are, if known; those of
    equations, years and enumerations are not.
    """

    def bracketed(match: re.Match[str]) -> str:
        name = next(name for name, group in match.groupdict().items() if group and name != "space")
        inside = match[name]
        if name == "circled":
            inside = ",".join(str(ord(digit) - ord("①") + 1) for digit in inside)
        labels = labels_of(inside)
        before = re.split(
            r"[\W_]+", match.string[max(0, match.start() - _BEFORE) : match.start()].rstrip(" .!?")
        )
        is_counted = before[-1].lower() in _NUMBERED or before[-1].isdigit()
        if not labels or not known >= set(labels) or (is_counted and name != "list"):
            return match[0]
        return f"{match.groupdict().get('space', '')}{''.join(f'[{label}]' for label in labels)}"

    text = _NAMED.sub(bracketed, text) if by_name else text
    text = _RAISED_APART.sub("", text)
    if not re.match(r"\W{0,5}\(\d", text) and re.search(r"\)\W{0,3}\Z", text):
        text = _AFTER_STOP.sub(bracketed, text)
    for pattern in (_IN_BRACKETS, _CIRCLED):
        text = pattern.sub(bracketed, text)
    text = _GLUED.sub(bracketed, text)
    return _LAST_NUMBER.sub(bracketed, text) if _all_end_with_number(text) else text


def _all_end_with_number(text: str) -> bool:
    """Return True if each sentence ends with a number that may be a label: "ranks documents 1."."""
    for start, end in sentence_spans(text):
        match = _LAST_NUMBER.search(text[start:end])
        before = match.string[: match.start()].lower().split() if match else []
        may_be_label = len(before) >= _LEAST_WORDS and before[-1] not in _NUMBERED | STRICT_SOURCES
        if text[start:end].strip() and not (may_be_label and not before[-1].endswith("ed")):
            return False
    return True


# Half-written marks

_OPENERS, _CLOSING = "[【［〖(", "]】］〗)"
_LONGEST = 200
_TAIL = re.compile(
    rf"(?<=\])(?:[ \t]?[{DASHES}][ \t]?|\((?:#|h|\Z)[^()\s]{{0,200}}|\^)\Z"
    r"|(?<=\])[ \t][-–‑][ \t]\[\d{1,3}\]?[ \t]?\Z"
    rf"|(?:⁽|{_RAISED})[⁰¹²³⁴-⁹⁻⁾,;‑–-]{{0,40}}[ \t]?\Z"
    r"|(?:\\?\$)?\^[{(]?[\d,–-]{0,40}[})]?\^?\Z|(?<!\$)\\?\$\Z|~\Z"
    rf"|<[a-z]{{0,9}}\Z|<(?P<tag>a|sup|{_TAGS})\b(?:(?!</(?P=tag)\s?>)[^\n]){{0,200}}\Z"
    r"|~?\\[a-z]{0,16}\*?(?:\[[^\[\]{}]{0,60}\]?){0,2}(?:\{[^{}]{0,80})?\Z"
    r"|#(?:#(?:\d{1,3}\$?)?)?\Z|\[cite_[a-z]{0,5}\]?[ \t]?\Z",
    re.IGNORECASE,
)


def half_mark(text: str) -> int:
    """Return the offset of a partial mark at the end of a text, its length if there is none."""
    cut = _half_bracket(text)
    while cut and text[cut - 1] in "^\\":
        cut -= 1
    begin = max(0, cut - _LONGEST)
    tail = _TAIL.search(text[begin:cut])
    return begin + tail.start() if tail else cut


def _half_bracket(text: str) -> int:
    """Return the offset of the first open bracket that labels may follow, the text's length without one."""
    depth, cut = 0, len(text)
    for index in range(len(text) - 1, max(-1, len(text) - _LONGEST), -1):
        if text[index] in _CLOSING:
            depth += 1
        elif text[index] in _OPENERS:
            if depth:
                depth -= 1
                continue
            unlinked = re.sub(r"\]\([^()\s]{0,200}\)?", "]", text[index + 1 :])
            inside = re.sub(r"[\[\]]+", " ", re.sub(r"\][\s,;]{0,3}\[", ",", unlinked))
            if may_become_labels(inside, by_word=text[index] == "("):
                cut = index
    return cut
