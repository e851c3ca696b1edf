"""Labels in written text: recognised in every form that models use, normalised and resolved.

The normal form is [n], one bracket per label, for a paper of the evidence; any other label becomes [n?] and
is never a citation. `label_marks` finds marks, `label_forms` reads their insides.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import pairwise

from assistant.checking.label_marks import (
    bracket_bare_labels,
    half_mark,
    join_marks,
    neutral_marks,
    rewrite_marks,
)
from assistant.checking.overlap import best_sentence, score_attribution
from assistant.checking.thresholds import thresholds
from assistant.records import AnswerSentence, Citation, Evidence, LabelledPaper
from corpus.sentences import sentence_spans
from corpus.text import words

_LABEL = re.compile(r"\[(?P<known>\d{1,3})\]|\[(?P<unknown>\d{1,3})\?\]")
_RUN = re.compile(r"\[\d{1,3}\??\](?:[\s,;]*\[\d{1,3}\??\])*")
_LEADING_RUN = re.compile(rf"[(*_]{{0,3}}{_RUN.pattern}[)*_]{{0,3}}[.,;]?\s*")
_MARKUP = re.compile(r"^\s{0,200}+(?:[-*+•]|\d{1,2}[.)]|#{1,6}|>)\s+|\*\*|__|`", re.MULTILINE)
# After a full stop before the labels, one after them belongs to the labels.
_LABELS_AND_STOP = re.compile(r"(?<=[.,;:!?])\s*\[\d{1,3}\??\](?:[\s,;]*\[\d{1,3}\??\]){0,40}[.,;]")
_EMPTY_BRACKETS = re.compile(r"\(\s*(?:(?:see|cf\.?|e\.g\.,?)\s*)?\)", re.IGNORECASE)
# Marks within marks: "[[1], [2]]", "[1]–[3]".
_MOST_PASSES = 8
_LEADING_STOPS = re.compile(r"^(?:[.,;:]\s*)+(?!\d)")
_HEADING = re.compile(r"\s*#{1,6}\s")
_TITLED = re.compile(r"“([^”]{1,400})”: ")

# Returns the citation of a claim (second) by a label and its paper.
Resolve = Callable[[int, str, LabelledPaper], Citation]
SHORTEST_CLAIM = 3
# A line that is bold as a whole is a heading.
_BOLD_LINE = re.compile(r"(?:[-*+]\s+|\d{1,2}[.)]\s+)?(\*\*|__)[^*_\n]{1,120}\1:?", re.DOTALL)
_SOURCES = (
    r"(?:papers?|passages?|sources?|documents?|texts?|excerpts?|evidence|abstracts?|collection|material)"
)
_OPEN = re.compile(
    # "The papers do not say ...", "None of the passages reports ..."
    rf"\b{_SOURCES}\b[^.;]{{0,60}}\b(?:do|does|did|is|are|was|were|has|have|can|could)(?:n['’]t|\s*not)\b"
    rf"|\b(?:none|neither|nothing|no|little|nowhere)\b(?:\s+\w+){{0,4}}\s+{_SOURCES}\b"
    rf"|\b(?:not|n['’]t)\s+(?:\w+\s+){{0,2}}"
    rf"(?:addressed|answered|covered|discussed|mentioned|reported|described|stated|specified|provided|given|"
    rf"determined|found|known|said|clear)\b"
    rf"|\b(?:remains?|is|are|left)\s+(?:an?\s+)?(?:still\s+)?(?:open|unclear|unknown|unanswered|unresolved)\b"
    rf"|\bunclear\s+(?:whether|how|why|what|which|if)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class LabelledText:
    """A text with normalised labels; `unknown` are labels of no paper in the evidence."""

    text: str
    labels: tuple[int, ...]
    unknown: tuple[str, ...]


def normalise_labels(text: str, known: Set[int]) -> LabelledText:
    """Normalise every label in `text`; a label repeated in one group is written once."""

    def write(labels: Iterable[int]) -> str:
        return "".join(f"[{label}]" if label in known else f"[{label}?]" for label in labels)

    for _ in range(_MOST_PASSES):
        before, text = text, join_marks(rewrite_marks(text, write, known), write)
        if text == before:
            break
    marks = list(_LABEL.finditer(text))
    labels = dict.fromkeys(int(label["known"]) for label in marks if label["known"])
    unknown = dict.fromkeys(label["unknown"] for label in marks if label["unknown"])
    return LabelledText(text, tuple(labels), tuple(unknown))


def read_labels(text: str, known: Set[int], *, by_name: bool = True) -> LabelledText:
    """Normalise every label of a whole text, bare numbers too if it has no other labels.

    `by_name`: naming a paper in a sentence ("Paper 1 shows") is a citation.
    """
    labelled = normalise_labels(text, known)
    if labelled.labels or labelled.unknown:
        return labelled
    return normalise_labels(bracket_bare_labels(text, known, by_name=by_name), known)


def without_labels(text: str) -> str:
    """Return foreign text in which nothing can be read as a label: "[12]" becomes "(12)"."""
    return neutral_marks(text)


def hold_back(text: str) -> tuple[str, str]:
    """Split partial text into a part to show and a tail that may be half a label."""
    cut = half_mark(text)
    return text[:cut], text[cut:]


def check_sentences(
    text: str, evidence: Evidence, resolve: Resolve | None = None
) -> tuple[AnswerSentence, ...]:
    """Return the sentences of a text with normalised labels, every citation resolved and scored.

    `resolve` replaces `resolve_citation` for callers that resolve citations by support afterwards.
    """
    return tuple(
        _check_sentence(text, start, end, evidence, resolve or resolve_citation)
        for start, end in _sentences(text)
        if _has_words(text[start:end])
        and not (_HEADING.match(text[start:end]) is not None and _LABEL.search(text[start:end]) is None)
    )


def plain_claim(text: str) -> str:
    """Return a sentence without its labels and Markdown."""
    bare = _MARKUP.sub("", _RUN.sub("", _LABELS_AND_STOP.sub("", text)))
    line = " ".join(_EMPTY_BRACKETS.sub("", bare).split())
    return _LEADING_STOPS.sub("", re.sub(r"(?<!\s)\s++([.,;:!?])", r"\1", line))


def resolve_citation(label: int, claim: str, paper: LabelledPaper) -> Citation:
    """Return the citation of the passage and sentence of a paper that are most similar to `claim`."""
    candidates = [
        (
            best_sentence(claim, [passage.sentence_text(index) for index in range(len(passage.sentences))]),
            passage,
        )
        for passage in paper.passages
    ]
    (sentence, likeness), passage = max(candidates, key=lambda entry: entry[0][1])
    return Citation(
        label=label,
        claim=claim,
        passage_id=passage.id,
        sentence=sentence if likeness >= thresholds().overlap.marked else None,
        evidence=passage.sentence_text(sentence),
        overlap=score_attribution(claim, passage.text),
    )


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    """Yield sentence spans; labels after a full stop, or alone on a line, belong to the sentence before."""
    starts: list[int] = []
    before = ""
    for start, end in sentence_spans(text):
        begin = _after_leading_labels(text, start, end, before) if starts else start
        joins = starts and (_only_labels(text[begin:end]) or _only_labels(text[starts[-1] : begin]))
        if begin < end and not joins:
            starts.append(begin)
        before = text[start:end]
    while len(starts) > 1 and _only_labels(text[starts[-1] :]):
        starts.pop()
    yield from pairwise([*starts, len(text)])


def _after_leading_labels(text: str, start: int, end: int, before: str) -> int:
    leading = _LEADING_RUN.match(text, start, end)
    if leading is None:
        return start
    # "[2] It ..." on a line of its own is labelled at its beginning.
    opens_line = "\n" in before[len(before.rstrip()) :] and leading.end() < end
    return start if opens_line else leading.end()


def _only_labels(text: str) -> bool:
    return _LABEL.search(text) is not None and not _has_words(text)


def _has_words(text: str) -> bool:
    return bool(words(plain_claim(text)))


def _check_sentence(text: str, start: int, end: int, evidence: Evidence, resolve: Resolve) -> AnswerSentence:
    sentence = text[start:end]
    marks = list(_LABEL.finditer(sentence))
    labels = tuple(dict.fromkeys(int(label["known"]) for label in marks if label["known"]))
    cited = [paper.paper.title for label in labels if (paper := evidence.paper(label))]
    claim = _without_title(plain_claim(sentence), cited)
    citations = [
        resolve(label, part, paper)
        for label, part in _claims(sentence, claim).items()
        if (paper := evidence.paper(label)) and paper.passages
    ]
    return AnswerSentence(
        start=start,
        end=end,
        claim=claim,
        labels=labels,
        citations=tuple(citations),
        needs_citation=not labels and needs_citation(sentence, claim),
        unknown_labels=tuple(dict.fromkeys(label["unknown"] for label in marks if label["unknown"])),
    )


def _without_title(claim: str, titles: Sequence[str]) -> str:
    """Return a claim without a cited paper's title at its beginning."""
    named = _TITLED.match(claim)
    return claim[named.end() :] if named and words(named[1]) in map(words, titles) else claim


def _claims(sentence: str, claim: str) -> dict[int, str]:
    """Return for each label of a sentence the text before its runs of labels (TruthReader).

    A single run, or one with hardly any text before it, cites the whole sentence.
    """
    runs = list(_RUN.finditer(sentence))
    claims: dict[int, list[str]] = {}
    begin = 0
    for run in runs:
        closed = plain_claim(sentence[begin : run.start()])
        whole = len(runs) == 1 or len(words(closed)) < SHORTEST_CLAIM
        for label in dict.fromkeys(int(mark["known"]) for mark in _LABEL.finditer(run[0]) if mark["known"]):
            claims.setdefault(label, []).append(claim if whole else closed)
        begin = run.end()
    return {label: claim if claim in parts else " ".join(parts) for label, parts in claims.items()}


def needs_citation(sentence: str, claim: str) -> bool:
    """Return True if an uncited sentence makes a claim; `claim` is the sentence without labels and Markdown.

    Headings, lead-ins to lists, questions and statements that the papers do not say something make none.
    """
    if len(words(claim)) < SHORTEST_CLAIM or claim.endswith((":", "?")):
        return False
    return _BOLD_LINE.fullmatch(sentence.strip()) is None and _OPEN.search(claim) is None
