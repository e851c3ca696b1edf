"""Mending of a draft: citations found for claims, and unsupported claims removed.

After TruthReader (section 3.3, algorithm 1), with the support score as the judge of attribution.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import Literal

from assistant.checking.citations import check_sentences
from assistant.checking.mending.lines import END_OF_LINE, LABELS, plain_lines
from assistant.checking.mending.roles import exchanges_words, names_another, replaces_name, texts_of
from assistant.checking.scorer import SupportScorer
from assistant.checking.support import SupportCheck
from assistant.checking.thresholds import thresholds
from assistant.records import AnswerSentence, Citation, Evidence, LabelledPaper
from corpus.text import words
from corpus.wording import capitalised

# The claims that are mended: none, those without a citation, or unsupported ones too.
Mend = Literal["nothing", "citations", "claims"]

_ALIKE = 0.9  # ratio of matching words in order of two sentences that say the same
_MATERIAL = (
    r"(?:excerpts?|passages?|papers?|sources?|documents?|texts?|context|information|evidence|abstracts?)"
)
_GIVEN = r"(?:provided|given|above|following|supplied)"
# Phrases that refer to the prompt.
_OPENS_WITH_PROMPT = re.compile(
    rf"(?:(?:according to|based (?:up)?on|as (?:stated|described|mentioned|shown|noted) (?:in|by)|from|in)"
    rf" (?:the )?(?:(?:{_GIVEN} )?(?:excerpts?|passages?|context)(?: \d{{1,3}})?|{_GIVEN} {_MATERIAL})"
    rf"(?: {_GIVEN})?, ?"
    rf"|(?:in|according to|as (?:stated|described|mentioned|shown|noted) in) paper \d{{1,3}}, ?"
    rf"|(?:the )?(?:{_GIVEN} )?(?:excerpts?|passages?|context)(?: \d{{1,3}})?"
    rf" (?:state|say|mention|describe|show|note|indicate|explain|report|suggest)s? that )",
    re.IGNORECASE,
)
_POINTS_TO_PROMPT = re.compile(
    r" ?\((?:see )?(?:excerpts?|passages?) \d{1,3}(?:(?:,| and) \d{1,3}){0,5}\)"
    r"|,? (?:as (?:stated|shown|mentioned|described|noted|seen|illustrated) )?(?:in|by) (?:the )?"
    r"(?:excerpt|passage) \d{1,3}"
    r"|,? (?:as )?(?:presented|proposed|described|discussed|mentioned|reported) in (?:the )?paper \d{1,3}"
    r"|,? as (?:stated|mentioned|described|noted|discussed) (?:above|below|earlier)"
    r"|,? as (?:shown|seen|illustrated|depicted) in (?:the )?(?:figure|fig\.|table)(?: \d{1,3})?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Mended:
    """A mended draft: its text, the labels found by claim, and the claims removed."""

    text: str
    found: dict[str, int]
    not_carried: tuple[str, ...] = ()


def mended(text: str, evidence: Evidence, scorer: SupportScorer, mend: Mend) -> Mended:
    """Return a draft with normalised labels, mended.

    Claims without a label get that of the paper that supports them best, if by `support.found` at least. With
    "claims", so do claims that their own labels do not support; those still unsupported are removed, and so
    are repeated sentences and references to the prompt.
    """
    if mend == "claims":
        text = plain_lines(_without_prompt(text, evidence), evidence)
    sentences = check_sentences(text, evidence)
    check = SupportCheck(evidence, scorer)
    weighed = check.weigh(sentences).sentences
    labels_found: dict[str, int] = {}
    dropped: set[int] = set()
    not_carried: list[str] = []
    pieces = [text[sentence.start : sentence.end] for sentence in weighed]
    for index, sentence in enumerate(weighed):
        if mend == "claims" and any(_says_same(sentence.claim, before.claim) for before in weighed[:index]):
            dropped.add(index)
            continue
        if not _is_to_be_mended(sentence, evidence, mend):
            continue
        label = _best_label(sentence.claim, evidence, check)
        if label is not None:
            labels_found[sentence.claim] = label
            pieces[index] = labelled(pieces[index], label)
        elif mend == "claims":
            dropped.add(index)
            not_carried.append(sentence.claim)
    return Mended(_joined(text, weighed, pieces, dropped), labels_found, tuple(not_carried))


def with_found(sentences: Sequence[AnswerSentence], found: dict[str, int]) -> tuple[AnswerSentence, ...]:
    """Return the sentences of a mended draft with the citations marked that the check found."""
    return tuple(
        replace(
            sentence,
            citations=tuple(
                replace(citation, found=found.get(sentence.claim) == citation.label)
                for citation in sentence.citations
            ),
        )
        for sentence in sentences
    )


def with_better(
    sentences: Sequence[AnswerSentence], evidence: Evidence, scorer: SupportScorer
) -> tuple[AnswerSentence, ...]:
    """Return the sentences; those that only a paper they do not cite supports get it as `better`."""
    check = SupportCheck(evidence, scorer)
    bar = thresholds().support.supported
    return tuple(
        replace(sentence, better=_better(sentence, evidence, check))
        if sentence.citations and sentence.support is not None and sentence.support < bar
        else sentence
        for sentence in sentences
    )


def _better(sentence: AnswerSentence, evidence: Evidence, check: SupportCheck) -> Citation | None:
    others = Evidence(tuple(paper for paper in evidence.papers if paper.label not in sentence.labels))
    label = _best_label(sentence.claim, others, check)
    return None if label is None else check.cite(sentence.claim, label)


def _is_to_be_mended(sentence: AnswerSentence, evidence: Evidence, mend: Mend) -> bool:
    is_uncited = sentence.needs_citation or bool(sentence.unknown_labels and not sentence.labels)
    if mend != "claims" or is_uncited:
        return is_uncited
    if not sentence.citations:
        return False
    is_supported = (sentence.support or 0.0) >= thresholds().support.supported
    cited = [paper for label in sentence.labels if (paper := evidence.paper(label))]
    return not is_supported or _gives_another_part(sentence.claim, cited, evidence)


def _gives_another_part(claim: str, cited: Sequence[LabelledPaper], evidence: Evidence) -> bool:
    """Return True if a claim exchanges words or names of the cited papers, however similar it is."""
    texts = [text for paper in cited for text in texts_of(paper)]
    is_changed = exchanges_words(claim, texts) or replaces_name(claim, texts)
    return is_changed or names_another(claim, cited, evidence)


def _best_label(claim: str, evidence: Evidence, check: SupportCheck) -> int | None:
    """Return the label of the paper that supports a claim best, None if none supports it well enough."""
    scored = [
        (carrier.support, paper)
        for paper in evidence.papers
        for carrier in check.carriers([claim], paper.label)
        if carrier is not None
    ]
    support, paper = max(scored, key=lambda scored_paper: scored_paper[0], default=(0.0, None))
    if paper is None or support < thresholds().support.found or _gives_another_part(claim, [paper], evidence):
        return None
    return paper.label


def labelled(piece: str, label: int) -> str:
    """Return a sentence with this label only, before its full stop."""
    bare = LABELS.sub("", piece).rstrip()
    bare = bare.lstrip(" ") if piece.lstrip(" ").startswith("[") else bare
    space = piece[len(piece.rstrip()) :]
    end = END_OF_LINE.search(bare)
    position = end.start() if end else len(bare)
    return f"{bare[:position]} [{label}]{bare[position:]}{space}"


def _joined(text: str, sentences: Sequence[AnswerSentence], pieces: Sequence[str], dropped: set[int]) -> str:
    """Return a text with its sentences replaced or dropped, without lead-ins that nothing follows."""
    kept, position = "", 0
    for index, sentence in enumerate(sentences):
        kept += text[position : sentence.start]
        position = sentence.end
        if index not in dropped:
            kept += pieces[index]
        elif "\n" in pieces[index] and kept and not kept.endswith("\n"):
            kept = kept.rstrip(" ") + "\n"
    lines = (kept + text[position:]).splitlines()
    if dropped:
        lines = [line for line in lines if line.strip(" -*+•#>") or not line.strip()]
        lines = [
            line
            for index, line in enumerate(lines)
            if not line.rstrip().endswith(":") or any(later.strip() for later in lines[index + 1 :])
        ]
    return "\n".join(lines).strip()


def _without_prompt(text: str, evidence: Evidence) -> str:
    """Return a text without references to the prompt."""
    pieces, position = [], 0
    for sentence in check_sentences(text, evidence):
        piece = text[sentence.start : sentence.end]
        bare = piece.lstrip(" \t\n-*+•>0123456789.)") if piece.strip() else piece
        lead, sentence_text = piece[: len(piece) - len(bare)], bare
        while opening := _OPENS_WITH_PROMPT.match(sentence_text):
            sentence_text = capitalised(sentence_text[opening.end() :])
        pieces += [text[position : sentence.start], lead, _POINTS_TO_PROMPT.sub("", sentence_text)]
        position = sentence.end
    return "".join(pieces) + text[position:]


def _says_same(claim: str, other: str) -> bool:
    said, before = words(claim)[:200], words(other)[:200]
    if not said or not before:
        return False
    if said == before:
        return True
    matcher = SequenceMatcher(None, said, before, autojunk=False)
    return matcher.quick_ratio() >= _ALIKE and matcher.ratio() >= _ALIKE and set(said) <= set(before)
