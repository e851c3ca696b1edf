"""A small model's checked answer as its reader sees it: in the third person, lists in one form."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from assistant.checking.citations import without_labels
from assistant.checking.mending.carried import labelled
from assistant.reading.telling import plain, speaks_of_itself, told
from assistant.records import Answer, AnswerSentence, Evidence
from corpus.text import words

_YEAR = re.compile(r"^ \((?:19|20)\d\d\)")
_AGREES = re.compile(r"(?:yes|no), ", re.IGNORECASE)
LEAST_WORDS = 4  # of a line that says why a paper is in a list


@dataclass(frozen=True, slots=True)
class OwnWords:
    """A text, and the labels in it whose citations the check had found."""

    text: str
    found: frozenset[int]


def in_third_person(answer: Answer, evidence: Evidence) -> OwnWords:
    """Return an answer's text with the "we" of copied sentences as the authors of the paper cited."""
    text, position = "", 0
    for sentence in answer.sentences:
        piece = answer.text[sentence.start : sentence.end]
        text += answer.text[position : sentence.start] + _told(piece, sentence, evidence)
        position = sentence.end
    return OwnWords(text + answer.text[position:], _found(answer.sentences))


def _told(piece: str, sentence: AnswerSentence, evidence: Evidence) -> str:
    paper = evidence.paper(sentence.labels[0]) if len(sentence.labels) == 1 else None
    if paper is None or not speaks_of_itself(sentence.claim):
        return piece
    said = piece.strip()
    lead = piece[: piece.index(said[0])] if said else piece
    bullet = said[:2] if said[:2] in ("- ", "* ", "• ") else ""
    bare = told(plain(sentence.claim), paper.paper.authors, paper.paper.title)
    return f"{lead}{bullet}{labelled(bare, paper.label)}{piece[len(piece.rstrip()) :]}"


def as_list(answer: Answer, standing: Answer, evidence: Evidence) -> tuple[OwnWords, int]:
    """Return the list of the papers that `standing` has, with the line of `answer` for each it tells of.

    Small models leave out papers that fit, and add some that do not. The number is that of the lines taken
    from `standing`; "" and 0 where `answer` tells of none of its papers.
    """
    written, quoted = _by_paper(answer), _by_paper(standing)
    lines: list[str] = []
    own: set[int] = set()
    for label, sentences in quoted.items():
        if line := _line(written.get(label, ()), label, evidence):
            own.add(label)
            lines.append(line)
        else:
            lines += (_bare(standing, one) for one in sentences)
    if not own:
        return OwnWords("", frozenset()), 0
    found = _found([one for label in own for one in written[label]])
    return OwnWords("\n".join(f"- {line}" for line in lines), found), len(lines) - len(own)


def claims_of(answer: Answer, labels: frozenset[int]) -> dict[str, int]:
    """Return the claims that cite one of these labels alone, with it."""
    return {
        one.claim: one.labels[0]
        for one in answer.sentences
        if len(one.labels) == 1 and one.labels[0] in labels
    }


def _found(sentences: Iterable[AnswerSentence]) -> frozenset[int]:
    return frozenset(cited.label for one in sentences for cited in one.citations if cited.found)


def _by_paper(answer: Answer) -> dict[int, list[AnswerSentence]]:
    """Return the sentences that cite one paper, by its label."""
    found: dict[int, list[AnswerSentence]] = {}
    for one in answer.sentences:
        if len(one.labels) == 1:
            found.setdefault(one.labels[0], []).append(one)
    return found


def _bare(answer: Answer, sentence: AnswerSentence) -> str:
    return " ".join(answer.text[sentence.start : sentence.end].strip(" -*+•\n").split())


def _line(sentences: Sequence[AnswerSentence], label: int, evidence: Evidence) -> str:
    """Write the line of a paper: its title and the sentences about it; "" where they only name it."""
    paper = evidence.paper(label)
    if paper is None:
        return ""
    title = " ".join(without_labels(paper.paper.title).replace("“", "").replace("”", "").split())
    named = set(words(title))
    said = [one.claim.strip(" -*+•") for one in sentences]
    telling = [one for one in said if len(words(one)) >= LEAST_WORDS and not set(words(one)) <= named]
    texts = [
        told(plain(_without_title(one, paper.paper.title)), paper.paper.authors, paper.paper.title)
        for one in telling
    ]
    return " ".join(_headed(texts, title, label)) if texts else ""


def _without_title(claim: str, title: str) -> str:
    """Return a claim without "Yes, " and without the title that is its subject."""
    claim = _AGREES.sub("", claim, count=1)
    if claim.lower().startswith(f"{title.lower()} "):
        return _YEAR.sub("", claim[len(title) :], count=1).lstrip()
    return claim


def _headed(texts: list[str], title: str, label: int) -> Iterator[str]:
    for at, text in enumerate(texts):
        stop = "" if text[-1:] in ".!?" else "."
        yield labelled(f"{f'“{title}”: ' if not at else ''}{text[:1].upper()}{text[1:]}{stop}", label)
