"""Faithful filtering: a model's questions and answers are kept where their passages carry them."""

import re
from collections.abc import Collection, Sequence

from assistant.checking.citations import needs_citation, normalise_labels, plain_claim
from assistant.checking.comparable_text import read_statement
from assistant.checking.overlap import score_attribution
from assistant.prompts.render import no_answer_reason
from corpus.language.identified import foreign_language
from corpus.sentences import sentence_spans
from corpus.text import storable, words
from training.truthreader.examples import Pair, Source

FAITHFUL = 0.65  # least ROUGE-1 precision of an answer: from here the product calls support strong
MOST_WORDS: dict[Source, int] = {"documents": 150, "refgpt": 400, "webcpm": 400}
MOST_WORDS_OF_REFUSAL = 80
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
_OF_PAPERS = re.compile(
    r"\W*(?:nothing|none|neither|(?:\w+\s+){0,3}(?:papers?|passages?|texts?|excerpts?|stud(?:y|ies)|articles?|sources?|they))\b",
    re.IGNORECASE,
)


def clean_sentences(answer: str) -> tuple[str, ...]:
    """Return the sentences of an answer without labels, references and Markdown."""
    text = _REFERENCES.sub("", normalise_labels(storable(answer), frozenset()).text)
    plain = (plain_claim(text[start:end]) for start, end in sentence_spans(text))
    return tuple(sentence for sentence in plain if words(sentence))


def question_problem(pair: Pair, known: Collection[tuple[str, ...]]) -> str:
    """Return why a question cannot be asked, "" where it can; `known` are the words of earlier questions."""
    question, asked = pair.question, tuple(words(pair.question))
    if len(asked) < FEWEST_QUESTION_WORDS:
        return "question too short"
    if _OF_THE_PROMPT.search(question):
        return "question speaks of the passage"
    if pair.kind != "summary" and not pair.leans_on and _UNNAMED.search(question):
        return "question names no subject"
    if pair.source == "documents" and foreign_language(question):
        return "question not in English"
    # The words of a follow-up mean something else in another dialogue.
    return "asked before" if asked in known and not pair.leans_on else ""


def answer_problem(pair: Pair, sentences: Sequence[str], evidence: str) -> str:
    """Return why the sentences of a pair's answer are not faithful to their evidence, "" where they are."""
    answer = " ".join(sentences)
    if not sentences:
        return "no answer"
    if no_answer_reason(answer) is not None:
        return "the model refused"
    if len(words(answer)) > MOST_WORDS[pair.source]:
        return "answer too long"
    if foreign_language(answer) != foreign_language(pair.question):
        return "answer in another language"
    if score_attribution(answer, evidence) < FAITHFUL:
        return "too little overlap"
    return entity_problem(sentences, evidence)


def explanation_problem(sentences: Sequence[str], question: str, evidence: str) -> str:
    """Return why the explanation of a refusal cannot be used, "" where it can.

    It may be about what question and evidence name, and about nothing else. In English, each sentence is
    about the papers or says what is open: a small model also states something false as if it were the answer.
    """
    text = " ".join(sentences)
    if not sentences:
        return "no explanation"
    if len(words(text)) > MOST_WORDS_OF_REFUSAL:
        return "explanation too long"
    if foreign_language(text) != foreign_language(question):
        return "explanation in another language"
    claims = [sentence for sentence in sentences if needs_citation(sentence, sentence)]
    if not foreign_language(text) and not all(map(_OF_PAPERS.match, claims)):
        return "explanation not about the papers"
    return entity_problem(sentences, f"{question}\n{evidence}")


def entity_problem(sentences: Sequence[str], evidence: str) -> str:
    """Return True if sentences state a name or a number that their evidence does not, "" where not."""
    given = [read_statement(evidence[start:end]) for start, end in sentence_spans(evidence)]
    stated = [read_statement(sentence) for sentence in sentences]
    names = {name for own in stated for name, weight in own.names.items() if weight >= SURE_NAME}
    if names - set[str]().union(*(own.stems for own in given)):
        return "name not in the passages"
    held = [number for own in given for number in own.numbers]
    numbers = [number for own in stated for number in own.numbers]
    missing = any(not any(number.says(other) for other in held) for number in numbers)
    return "number not in the passages" if missing else ""
