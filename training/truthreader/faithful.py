"""Filters the questions and answers of a model: answers must be supported by their passages."""

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

FAITHFUL = 0.65  # lowest ROUGE-1 precision of an answer; the product calls this overlap strong
MOST_WORDS: dict[Source, int] = {"documents": 150, "refgpt": 400, "webcpm": 400}
MOST_WORDS_OF_REFUSAL = 80
FEWEST_QUESTION_WORDS = 3
SURE_NAME = 1.0

# Reference numbers of the paper itself, as prompts mark them.
_REFERENCES = re.compile(r"(?:(?<!\s)\s++)?〔[^〔〕]{0,60}〕")
_MENTIONS_PROMPT = re.compile(
    r"\b(?:the|this|that|these|given|above)\s+(?:passages?|texts?|excerpts?|contexts?|material)\b",
    re.IGNORECASE,
)
_UNNAMED_PAPER = re.compile(
    r"\b(?:this|the|these)\s+(?:papers?|study|studies|work|article|authors?)\b", re.IGNORECASE
)
_ABOUT_PAPERS = re.compile(
    r"\W*(?:nothing|none|neither|(?:\w+\s+){0,3}"
    r"(?:papers?|passages?|texts?|excerpts?|stud(?:y|ies)|articles?|sources?|they))\b",
    re.IGNORECASE,
)


def clean_sentences(answer: str) -> tuple[str, ...]:
    """Split an answer into sentences without labels, references and Markdown."""
    text = _REFERENCES.sub("", normalise_labels(storable(answer), frozenset()).text)
    plain = (plain_claim(text[start:end]) for start, end in sentence_spans(text))
    return tuple(sentence for sentence in plain if words(sentence))


def question_problem(pair: Pair, known: Collection[tuple[str, ...]]) -> str:
    """Return why a question is not usable, "" if it is; `known` has the words of earlier questions."""
    question, question_words = pair.question, tuple(words(pair.question))
    if len(question_words) < FEWEST_QUESTION_WORDS:
        return "question too short"
    if _MENTIONS_PROMPT.search(question):
        return "question speaks of the passage"
    if pair.kind != "summary" and not pair.follows and _UNNAMED_PAPER.search(question):
        return "question names no subject"
    if pair.source == "documents" and foreign_language(question):
        return "question not in English"
    # A follow-up may repeat words: they mean something else in another dialogue.
    return "asked before" if question_words in known and not pair.follows else ""


def answer_problem(pair: Pair, sentences: Sequence[str], evidence: str) -> str:
    """Return why a pair's answer is not faithful to its evidence, "" if it is."""
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
    """Return why the explanation of a refusal is not usable, "" if it is.

    It may only contain names and numbers of the question and the evidence. In English, each sentence is about
    the papers or says what is open: a small model also states something false as if it were the answer.
    """
    text = " ".join(sentences)
    if not sentences:
        return "no explanation"
    if len(words(text)) > MOST_WORDS_OF_REFUSAL:
        return "explanation too long"
    if foreign_language(text) != foreign_language(question):
        return "explanation in another language"
    claims = [sentence for sentence in sentences if needs_citation(sentence, sentence)]
    if not foreign_language(text) and not all(map(_ABOUT_PAPERS.match, claims)):
        return "explanation not about the papers"
    return entity_problem(sentences, f"{question}\n{evidence}")


def entity_problem(sentences: Sequence[str], evidence: str) -> str:
    """Return a problem if sentences have a name or a number that their evidence lacks, "" if not."""
    sources = [read_statement(evidence[start:end]) for start, end in sentence_spans(evidence)]
    statements = [read_statement(sentence) for sentence in sentences]
    names = {
        name for statement in statements for name, weight in statement.names.items() if weight >= SURE_NAME
    }
    if names - set[str]().union(*(source.stems for source in sources)):
        return "name not in the passages"
    known = [number for source in sources for number in source.numbers]
    numbers = [number for statement in statements for number in statement.numbers]
    missing = any(not any(number.says(other) for other in known) for number in numbers)
    return "number not in the passages" if missing else ""
