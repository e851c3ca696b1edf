"""A small model's checked answer as its reader sees it: in the third person, lists in one form."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from assistant.checking.citations import without_labels
from assistant.checking.mending.carried import labelled
from assistant.reading.telling import plain, speaks_of_itself, told
from assistant.records import Answer, AnswerSentence, Evidence
from corpus.text import words
from corpus.wording import capitalised

_YEAR = re.compile(r"^ \((?:19|20)\d\d\)")
_AGREES = re.compile(r"(?:yes|no), ", re.IGNORECASE)
LEAST_WORDS = 4  # of a claim that says why a paper is in a list


@dataclass(frozen=True, slots=True)
class OwnWords:
    """A rewritten text, and the labels of its citations that the check found."""

    text: str
    found: frozenset[int]


def in_third_person(answer: Answer, evidence: Evidence) -> OwnWords:
    """Return an answer's text with "we" of copied sentences replaced by the authors of the cited paper."""
    text, position = "", 0
    for sentence in answer.sentences:
        piece = answer.text[sentence.start : sentence.end]
        text += answer.text[position : sentence.start] + _third_person(piece, sentence, evidence)
        position = sentence.end
    return OwnWords(text + answer.text[position:], _found_labels(answer.sentences))


def _third_person(piece: str, sentence: AnswerSentence, evidence: Evidence) -> str:
    paper = evidence.paper(sentence.labels[0]) if len(sentence.labels) == 1 else None
    if paper is None or not speaks_of_itself(sentence.claim):
        return piece
    stripped = piece.lstrip()
    lead = piece[: len(piece) - len(stripped)]
    bullet = stripped[:2] if stripped[:2] in ("- ", "* ", "• ") else ""
    bare = told(plain(sentence.claim), paper.paper.authors, paper.paper.title)
    return f"{lead}{bullet}{labelled(bare, paper.label)}{piece[len(piece.rstrip()) :]}"


def as_list(answer: Answer, standing: Answer, evidence: Evidence) -> tuple[OwnWords, int]:
    """Return the list of the papers in `standing`, with the lines of `answer` where it has some.

    Small models leave out papers that fit, and add some that do not. The number is that of the lines taken
    from `standing`; "" and 0 if `answer` has no line for any of its papers.
    """
    written, quoted = _by_paper(answer), _by_paper(standing)
    lines: list[str] = []
    rewritten: set[int] = set()
    for label, sentences in quoted.items():
        if line := _line(written.get(label, ()), label, evidence):
            rewritten.add(label)
            lines.append(line)
        else:
            texts = (standing.text[sentence.start : sentence.end] for sentence in sentences)
            lines += (" ".join(text.strip(" -*+•\n").split()) for text in texts)
    if not rewritten:
        return OwnWords("", frozenset()), 0
    labels = _found_labels(sentence for label in rewritten for sentence in written[label])
    return OwnWords("\n".join(f"- {line}" for line in lines), labels), len(lines) - len(rewritten)


def claims_of(answer: Answer, labels: frozenset[int]) -> dict[str, int]:
    """Return the claims with exactly one citation, to one of `labels`, and its label."""
    return {
        sentence.claim: sentence.labels[0]
        for sentence in answer.sentences
        if len(sentence.labels) == 1 and sentence.labels[0] in labels
    }


def _found_labels(sentences: Iterable[AnswerSentence]) -> frozenset[int]:
    return frozenset(
        citation.label for sentence in sentences for citation in sentence.citations if citation.found
    )


def _by_paper(answer: Answer) -> dict[int, list[AnswerSentence]]:
    """Return the sentences that cite exactly one paper, by its label."""
    sentences: dict[int, list[AnswerSentence]] = {}
    for sentence in answer.sentences:
        if len(sentence.labels) == 1:
            sentences.setdefault(sentence.labels[0], []).append(sentence)
    return sentences


def _line(sentences: Sequence[AnswerSentence], label: int, evidence: Evidence) -> str:
    """Return a paper's line in a list: its title and the sentences about it; "" if they only name it."""
    paper = evidence.paper(label)
    if paper is None:
        return ""
    title = " ".join(without_labels(paper.paper.title).replace("“", "").replace("”", "").split())
    title_words = set(words(title))
    line: list[str] = []
    for sentence in sentences:
        claim = sentence.claim.strip(" -*+•")
        claim_words = words(claim)
        if len(claim_words) < LEAST_WORDS or set(claim_words) <= title_words:
            continue
        text = told(plain(_without_title(claim, paper.paper.title)), paper.paper.authors, paper.paper.title)
        stop = "" if text[-1:] in ".!?" else "."
        heading = "" if line else f"“{title}”: "
        line.append(labelled(f"{heading}{capitalised(text)}{stop}", label))
    return " ".join(line)


def _without_title(claim: str, title: str) -> str:
    """Return a claim without "Yes, " and without the title that is its subject."""
    claim = _AGREES.sub("", claim, count=1)
    if claim.lower().startswith(f"{title.lower()} "):
        return _YEAR.sub("", claim[len(title) :], count=1).lstrip()
    return claim
