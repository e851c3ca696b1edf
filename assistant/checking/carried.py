"""A draft mended by what the papers carry: citations found for claims, and unsupported claims taken out.

After TruthReader (section 3.3, algorithm 1), with the support score as the judge of attribution.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import combinations, pairwise
from typing import Literal

from assistant.checking.citations import check_sentences
from assistant.checking.comparable_text import read_statement
from assistant.checking.scorer import SupportScorer
from assistant.checking.support import SupportCheck
from assistant.checking.thresholds import thresholds
from assistant.records import AnswerSentence, Evidence, LabelledPaper
from corpus.text import words

# The claims that the check mends: none, those without a citation, or also those that nothing supports.
Mend = Literal["nothing", "citations", "claims"]

_ALIKE = 0.9  # share of words, in order, from which two sentences say the same
_LEAST_ALIGNED = 0.5  # share of a claim that its source has in the same order, to compare roles
_LONGEST_CLAIM = 600  # characters
_LABELS = re.compile(r"(?<!\s)\s*+\[\d{1,3}\??\](?:[\s,;]{0,3}\[\d{1,3}\??\])*")
_END = re.compile(r"(?<=[^\s.!?:;,])(?=[.!?:;,]?[*_)\"”’]{0,3}\s*\Z)")
_MATERIAL = (
    r"(?:excerpts?|passages?|papers?|sources?|documents?|texts?|context|information|evidence|abstracts?)"
)
_GIVEN = r"(?:provided|given|above|following|supplied)"
# Where a sentence speaks of its prompt instead of the papers.
_OPENS_WITH_PROMPT = re.compile(
    rf"(?:(?:according to|based (?:up)?on|as (?:stated|described|mentioned|shown|noted) (?:in|by)|from|in)"
    rf" (?:the )?(?:(?:{_GIVEN} )?(?:excerpts?|passages?|context)(?: \d{{1,3}})?|{_GIVEN} {_MATERIAL})"
    rf"(?: {_GIVEN})?, ?"
    rf"|(?:the )?(?:{_GIVEN} )?(?:excerpts?|passages?|context)(?: \d{{1,3}})?"
    rf" (?:state|say|mention|describe|show|note|indicate|explain|report|suggest)s? that )",
    re.IGNORECASE,
)
_POINTS_TO_PROMPT = re.compile(
    r" ?\((?:see )?(?:excerpts?|passages?) \d{1,3}(?:(?:,| and) \d{1,3}){0,5}\)"
    r"|,? (?:as (?:stated|shown|mentioned|described|noted|seen|illustrated) )?(?:in|by) (?:the )?"
    r"(?:excerpt|passage) \d{1,3}"
    r"|,? as (?:stated|mentioned|described|noted|discussed) (?:above|below|earlier)"
    r"|,? as (?:shown|seen|illustrated|depicted) in (?:the )?(?:figure|fig\.|table)(?: \d{1,3})?",
    re.IGNORECASE,
)
_TOKEN = re.compile(r"[^\W_](?:[\w-]*[^\W_])?")
_PASSIVE = re.compile(r"\b(?:is|are|was|were|be|been|being)\s(?:\w+\s)?\w+(?:ed|en|n|t)\sby\b", re.IGNORECASE)
_CLAUSE = re.compile(r"[,;:.!?()]|\b(?:and|while|whereas|but|although)\b", re.IGNORECASE)
_JOINS = frozenset({"and", "or", "with", "nor", "&", "versus", "vs"})


@dataclass(frozen=True, slots=True)
class Mended:
    """A draft after mending: its text, the claims with the labels found for each, and what was taken out."""

    text: str
    found: dict[str, int]
    not_carried: tuple[str, ...] = ()


def mended(text: str, evidence: Evidence, scorer: SupportScorer, mend: Mend) -> Mended:
    """Return a draft with labels in the one form, mended.

    Claims without a label get that of the paper which supports them best, from `support.found` on. With
    "claims", so do those whose own labels do not support them; what then is not supported is taken out, and
    so are repeated sentences and words that speak of the prompt.
    """
    if mend == "claims":
        text = _as_list(_without_prompt(text, evidence))
    sentences = check_sentences(text, evidence)
    check = SupportCheck(evidence, scorer)
    weighed = check.weigh(sentences).sentences
    found: dict[str, int] = {}
    dropped: set[int] = set()
    not_carried: list[str] = []
    pieces = [text[one.start : one.end] for one in weighed]
    for at, sentence in enumerate(weighed):
        if mend == "claims" and any(_says_same(sentence.claim, one.claim) for one in weighed[:at]):
            dropped.add(at)
            continue
        if not _is_to_be_mended(sentence, evidence, mend):
            continue
        label = _best_label(sentence.claim, evidence, check)
        if label is not None:
            found[sentence.claim] = label
            pieces[at] = _labelled(pieces[at], label)
        elif mend == "claims":
            dropped.add(at)
            not_carried.append(sentence.claim)
    return Mended(_joined(text, weighed, pieces, dropped), found, tuple(not_carried))


def with_found(sentences: Sequence[AnswerSentence], found: dict[str, int]) -> tuple[AnswerSentence, ...]:
    """Return the sentences of a mended draft with the citations marked that were found for them."""
    return tuple(
        replace(
            one,
            citations=tuple(
                replace(citation, found=found.get(one.claim) == citation.label) for citation in one.citations
            ),
        )
        for one in sentences
    )


def _is_to_be_mended(sentence: AnswerSentence, evidence: Evidence, mend: Mend) -> bool:
    is_uncited = sentence.needs_citation or bool(sentence.unknown_labels and not sentence.labels)
    if mend != "claims" or is_uncited:
        return is_uncited
    if not sentence.citations:
        return False
    is_supported = (sentence.support or 0.0) >= thresholds().support.supported
    cited = [paper for label in sentence.labels if (paper := evidence.paper(label))]
    return not is_supported or exchanges_names(sentence.claim, [one for p in cited for one in _texts(p)])


def _best_label(claim: str, evidence: Evidence, check: SupportCheck) -> int | None:
    """Return the label of the paper that supports a claim best, None where none supports it well enough."""
    scored = [
        (carrier.support, paper)
        for paper in evidence.papers
        for carrier in check.carriers([claim], paper.label)
        if carrier is not None
    ]
    support, paper = max(scored, key=lambda one: one[0], default=(0.0, None))
    if paper is None or support < thresholds().support.found or exchanges_names(claim, _texts(paper)):
        return None
    return paper.label


def _texts(paper: LabelledPaper) -> list[str]:
    return [
        passage.sentence_text(index) for passage in paper.passages for index in range(len(passage.sentences))
    ]


def _labelled(piece: str, label: int) -> str:
    """Return a sentence with this label alone, before its full stop."""
    bare = _LABELS.sub("", piece).rstrip()
    bare = bare.lstrip(" ") if piece.lstrip(" ").startswith("[") else bare
    space = piece[len(piece.rstrip()) :]
    end = _END.search(bare)
    at = end.start() if end else len(bare)
    return f"{bare[:at]} [{label}]{bare[at:]}{space}"


def _joined(text: str, sentences: Sequence[AnswerSentence], pieces: Sequence[str], dropped: set[int]) -> str:
    """Return a text with its sentences replaced or left out, and no lead-in left without what it leads to."""
    kept, position = "", 0
    for at, sentence in enumerate(sentences):
        kept += text[position : sentence.start]
        position = sentence.end
        if at not in dropped:
            kept += pieces[at]
        elif "\n" in pieces[at] and kept and not kept.endswith("\n"):
            kept = kept.rstrip(" ") + "\n"
    lines = (kept + text[position:]).splitlines()
    if dropped:
        lines = [line for line in lines if line.strip(" -*+•#>") or not line.strip()]
        lines = [
            line
            for at, line in enumerate(lines)
            if not line.rstrip().endswith(":") or any(one.strip() for one in lines[at + 1 :])
        ]
    return "\n".join(lines).strip()


def _without_prompt(text: str, evidence: Evidence) -> str:
    """Return a text without the words in which a model speaks of its prompt."""
    pieces, position = [], 0
    for sentence in check_sentences(text, evidence):
        piece = text[sentence.start : sentence.end]
        bare = piece.lstrip(" \t\n-*+•>0123456789.)") if piece.strip() else piece
        lead, said = piece[: len(piece) - len(bare)], bare
        if opening := _OPENS_WITH_PROMPT.match(said):
            said = said[opening.end() :]
            said = said[:1].upper() + said[1:]
        pieces += [text[position : sentence.start], lead, _POINTS_TO_PROMPT.sub("", said)]
        position = sentence.end
    return "".join(pieces) + text[position:]


def _as_list(text: str) -> str:
    """Return lines that each begin with a label as a list with the labels at the ends, else the text."""
    lines = text.splitlines()
    if len(lines) < 2 or not all(_LABELS.match(line) for line in lines if line.strip()):
        return text
    return "\n".join(f"- {_labels_last(line)}" for line in lines if line.strip())


def _labels_last(line: str) -> str:
    opening = _LABELS.match(line)
    assert opening is not None
    rest = line[opening.end() :].strip(" :-–—")
    if _LABELS.search(rest) or not words(rest):
        return rest
    end = _END.search(rest)
    at = end.start() if end else len(rest)
    return f"{rest[:at]} {opening[0].strip()}{rest[at:]}"


def _says_same(claim: str, other: str) -> bool:
    said, before = words(claim)[:200], words(other)[:200]
    if not said or not before:
        return False
    if said == before:
        return True
    matcher = SequenceMatcher(None, said, before, autojunk=False)
    return matcher.quick_ratio() >= _ALIKE and matcher.ratio() >= _ALIKE and set(said) <= set(before)


def exchanges_names(claim: str, source: Sequence[str]) -> bool:
    """Return True if two names of a claim stand in each other's places in its source.

    The claim with both exchanged then has more words in the source's order than the claim itself. Sentences
    that name both side by side, or of which one is passive and the other not, tell nothing.
    """
    claim = claim[:_LONGEST_CLAIM]
    if _PASSIVE.search(claim):
        return False
    said = _tokens(claim)
    names = [one for one in dict.fromkeys(said) if _is_name(one, said)]
    return any(_is_exchanged(said, pair, claim, source) for pair in combinations(names[:6], 2))


def _is_exchanged(said: list[str], pair: tuple[str, str], claim: str, source: Sequence[str]) -> bool:
    first, second = pair
    if _stand_together(said, first, second):
        return False
    other = {first: second, second: first}
    exchanged = [other.get(token, token) for token in said]
    verdicts = []
    for text in _with_both(source, first, second):
        told = _tokens(text)
        if _stand_together(told, first, second) or _PASSIVE.search(text):
            return False
        if _directions(text) != _directions(claim):
            continue
        if _keeps_clauses(claim, text, first, second):
            return False
        as_said, as_exchanged = _aligned(said, told), _aligned(exchanged, told)
        if as_exchanged < _LEAST_ALIGNED * len(said):
            continue
        verdicts.append(as_exchanged > as_said)
    return bool(verdicts) and all(verdicts)


def _keeps_clauses(claim: str, text: str, first: str, second: str) -> bool:
    """Return True if clauses with one of two names are at least as like those of the same name."""
    said, told = _of_names(claim, first, second), _of_names(text, first, second)
    if not (said and told):
        return False
    same = len(said[0] & told[0]) + len(said[1] & told[1])
    return same >= len(said[0] & told[1]) + len(said[1] & told[0])


def _of_names(text: str, first: str, second: str) -> tuple[set[str], set[str]] | None:
    """Return the words of the clauses that have one of two names alone, for each of them."""
    clauses = [_tokens(clause) for clause in _CLAUSE.split(text)]
    if any(first in clause and second in clause for clause in clauses):
        return None
    of_first, of_second = (
        {word.lower() for clause in clauses if name in clause for word in clause if word != name}
        for name in (first, second)
    )
    return (of_first, of_second) if of_first and of_second else None


def _with_both(source: Sequence[str], first: str, second: str) -> Iterator[str]:
    """Yield the sentences that have both names, and pairs of neighbours that do together."""
    for at, text in enumerate(source):
        here = set(_tokens(text))
        if {first, second} <= here:
            yield text[:_LONGEST_CLAIM]
        elif at and here & {first, second} and {first, second} <= here | set(_tokens(source[at - 1])):
            yield f"{source[at - 1]} {text}"[: 2 * _LONGEST_CLAIM]


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(text)


def _is_name(token: str, said: Sequence[str]) -> bool:
    has_more = any(letter.isupper() or letter.isdigit() for letter in token[1:])
    is_sure = has_more and any(letter.isalpha() for letter in token)
    return is_sure or (token[0].isupper() and len(token) > 2 and token != said[0])


def _stand_together(tokens: Sequence[str], first: str, second: str) -> bool:
    """Return True if two names stand side by side, or with nothing but "and" or the like between them."""
    places = [(at, token) for at, token in enumerate(tokens) if token in (first, second)]
    for (start, one), (end, other) in pairwise(places):
        between = [token.lower() for token in tokens[start + 1 : end]]
        if one != other and all(token in _JOINS for token in between):
            return True
    return False


def _directions(text: str) -> frozenset[int]:
    return frozenset(read_statement(text).directions)


def _aligned(said: Sequence[str], told: Sequence[str]) -> int:
    """Return the length of the longest common subsequence of two texts, in words."""
    said, told = [one.lower() for one in said], [one.lower() for one in told]
    before = [0] * (len(told) + 1)
    for one in said:
        row = [0]
        for at, other in enumerate(told):
            row.append(before[at] + 1 if one == other else max(before[at + 1], row[at]))
        before = row
    return before[-1]
