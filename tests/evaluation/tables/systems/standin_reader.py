"""A stand-in for a model that answers judged questions with the sentences judged to answer them."""

import re
from collections.abc import Iterator
from pathlib import Path

from corpus.sentences import sentence_spans
from corpus.store import Corpus
from evaluation.judged import JudgedQuestion, places
from evaluation.tables.systems import read_chosen
from tests.standin_chat import Behaviour, Received, reply

MODELS = (
    '[[models]]\nid = "writer"\nstructured = true\n[[models]]\nid = "other"\nstructured = true\n'
    '[[models]]\nid = "judge"\nstructured = true\n'
)
NO_ANSWER = "NO ANSWER: None of the papers tells; they are about other things."
# What the stand-in begins its answers with, and no passage does.
OPENING = "It is said that "
_PASSAGE = re.compile(r"⟦passage: [^⟧]*⟧\n(?P<text>[^⟦]+)")
_PAPER = re.compile(r"^\[(\d+)\] ⟦paper \d+⟧$", re.MULTILINE)
_QUESTION = re.compile(r"The question to answer now:\n\n(?:⟦[^⟧]*⟧\n)?(.+)")


def write_models(folder: Path) -> Path:
    file = folder / "models.toml"
    file.write_text(MODELS, encoding="utf-8")
    return file


def prompt_of(request: Received) -> str:
    return str(request.body["messages"][-1]["content"])


def question_in(request: Received) -> str:
    """Return the question that an answer is asked for, "" where something else is."""
    found = _QUESTION.search(prompt_of(request))
    return found[1].strip() if found else ""


def told_of(request: Received) -> Behaviour:
    """Say what the first sentence of the first passage says."""
    passage = _PASSAGE.search(prompt_of(request))
    assert passage
    text = passage["text"].strip()
    first, last = sentence_spans(text)[0]
    return reply(f"{OPENING}{text[first:last].rstrip('.')} [1].")


class JudgedReader:
    """Knows the sentences that answer the judged questions of a corpus, and quotes one that it is shown."""

    def __init__(self, corpus: Corpus) -> None:
        self._answers = {
            one.judged.question: list(_sentences(corpus, one.judged))
            for one in read_chosen()
            if one.judged.corpus == "demo"
        }

    def quote(self, request: Received) -> Behaviour:
        """Answer with a sentence that answers, or say that none does."""
        prompt = prompt_of(request)
        for sentence in self._answers[question_in(request)]:
            if (place := prompt.find(sentence)) >= 0:
                label = _PAPER.findall(prompt[:place])[-1]
                return reply(f"{sentence.rstrip('.')} [{label}].")
        return reply(NO_ANSWER)


def _sentences(corpus: Corpus, question: JudgedQuestion) -> Iterator[str]:
    for paper, number, sentence in places(question.full):
        (passage,) = [one for one in corpus.passages(paper) if one.number == number]
        yield passage.sentence_text(sentence)
