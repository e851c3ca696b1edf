"""Faithful filtering: what a model wrote is kept where its passages say it (TruthReader, section 3.1)."""

import re
from collections.abc import Iterable, Sequence

from assistant.checking import (
    Statement,
    normalise_labels,
    plain_claim,
    read_statement,
    score_attribution,
)
from assistant.prompts import no_answer_reason
from corpus.language import foreign_language
from corpus.sentences import sentence_spans
from corpus.text import storable, words
from training.truthreader.records import Pair

FAITHFUL = 0.65
"""From this ROUGE-1 precision on an answer is held by its passages: where the product's bar turns strong."""
MOST_WORDS = 150
FEWEST_QUESTION_WORDS = 3
SURE_NAME = 1.0

# Numbers of a paper's own references, as prompts show them.
_REFERENCES = re.compile(r"(?:(?<!\s)\s++)?〔[^〔〕]{0,60}〕")
_OF_THE_PROMPT = re.compile(
    r"\b(?:the|this|that|these|given|above)\s+(?:passages?|texts?|excerpts?|contexts?|material)\b",
    re.IGNORECASE,
)
_UNNAMED = re.compile(
    r"\b(?:this|the|these)\s+(?:papers?|study|studies|work|article|authors?)\b", re.IGNORECASE
)


def clean_sentences(answer: str) -> tuple[str, ...]:
    """Return the sentences of an answer without labels, references and Markdown."""
    text = _REFERENCES.sub("", normalise_labels(storable(answer), frozenset()).text)
    plain = (plain_claim(text[start:end]) for start, end in sentence_spans(text))
    return tuple(one for one in plain if words(one))


def question_problem(pair: Pair, known: Iterable[str]) -> str:
    """Return why a question cannot be asked of papers, "" where it can; `known` are those kept before."""
    question = pair.question
    if len(words(question)) < FEWEST_QUESTION_WORDS:
        return "question too short"
    if _OF_THE_PROMPT.search(question):
        return "question speaks of the passage"
    if pair.kind != "summary" and not pair.leans_on and _UNNAMED.search(question):
        return "question names no subject"
    if foreign_language(question):
        return "question not in English"
    asked = words(question)
    return "asked before" if any(words(one) == asked for one in known) else ""


def answer_problem(sentences: Sequence[str], evidence: str) -> str:
    """Return why an answer is not faithful to its evidence, "" where it is."""
    answer = " ".join(sentences)
    if not sentences:
        return "no answer"
    if no_answer_reason(answer) is not None:
        return "the model refused"
    if len(words(answer)) > MOST_WORDS:
        return "answer too long"
    if foreign_language(answer):
        return "answer not in English"
    if score_attribution(answer, evidence) < FAITHFUL:
        return "too little overlap"
    return entity_problem(sentences, evidence)


def entity_problem(sentences: Sequence[str], evidence: str) -> str:
    """Return which kind of thing sentences name that their evidence does not, "" where there is none."""
    given = [read_statement(evidence[start:end]) for start, end in sentence_spans(evidence)]
    stated = [read_statement(sentence) for sentence in sentences]
    if missing_names(stated, given):
        return "name not in the passages"
    return "number not in the passages" if missing_numbers(stated, given) else ""


def missing_names(stated: Sequence[Statement], given: Sequence[Statement]) -> frozenset[str]:
    """Return the stems of names that are stated and nowhere given."""
    held = set[str]().union(*(one.stems for one in given))
    names = {name for one in stated for name, weight in one.names.items() if weight >= SURE_NAME}
    return frozenset(names - held)


def missing_numbers(stated: Sequence[Statement], given: Sequence[Statement]) -> tuple[float, ...]:
    """Return the numbers that are stated and nowhere given, nor more exactly."""
    held = [number for one in given for number in one.numbers]
    numbers = [number for one in stated for number in one.numbers]
    return tuple(one.value for one in numbers if not any(one.says(other) for other in held))
