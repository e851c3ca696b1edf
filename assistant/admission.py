"""Admission of questions: checks each before the search and reports its faults."""

import re

from assistant.bounds import LONGEST_QUESTION
from assistant.generators.best_of import MOST_DRAFTS
from assistant.questions.phrases import is_subject, phrases
from assistant.questions.subject import asks_of_unnamed_paper
from assistant.questions.vocabulary import stems
from assistant.records import AskOptions, AssistantError, Turn
from corpus.records import Scope
from corpus.search.hybrid import MAX_PAPERS, MIN_PAPERS
from corpus.store.corpus import Corpus
from corpus.text import storable, words

_MOST_PASSAGES = 30  # of a paper, in reason
_COURTESY = re.compile(
    r"\W*(?:(?:thanks|thank you|thx|ok|okay|hello|hi|hey|bye|goodbye|please|great|cool|nice|perfect"
    r"|good morning|very much|so much|a lot|there|again)\b\W*)+",
    re.IGNORECASE,
)
_LABEL = re.compile(r"\[\d{1,3}\]")


def admit(question: str, options: AskOptions, corpus: Corpus, history: tuple[Turn, ...] = ()) -> str:
    """Return the cleaned question; raises AssistantError for a question or options that cannot be taken."""
    question = storable(question).strip()
    if not words(question):
        raise AssistantError(
            "The question is empty: it holds no words. Write what you want to know from the papers."
        )
    if len(question) > LONGEST_QUESTION:
        raise AssistantError(
            f"The question has {len(question):,} characters; {LONGEST_QUESTION:,} can be taken. "
            "Shorten it to what you want to know."
        )
    _check_options(options)
    _check_scope(options.scope, corpus)
    if not options.search_query.strip():
        _check_subject(question, history, alone=corpus.count_papers(options.scope) == 1)
    return question


def _check_subject(question: str, history: tuple[Turn, ...], *, alone: bool) -> None:
    if _COURTESY.fullmatch(question):
        raise AssistantError("This asks nothing of the papers. Write what you want to know from them.")
    if not history and not alone and not stems(question) and not asks_of_unnamed_paper(question):
        raise AssistantError(
            "This names no subject. Write what you want to know about, or choose one paper to ask it of."
        )
    label = _LABEL.search(question)
    if not label or any(turn.answer.cited_labels for turn in history):
        return
    if not any(map(is_subject, phrases(question))):
        raise AssistantError(
            f"There is no answer yet that {label[0]} could refer to. Ask a question first: its answer "
            "numbers the papers that it cites."
        )


def _check_options(options: AskOptions) -> None:
    if len(options.search_query) > LONGEST_QUESTION:
        raise AssistantError(f"The search query is longer than {LONGEST_QUESTION:,} characters. Shorten it.")
    if not MIN_PAPERS <= options.papers <= MAX_PAPERS:
        raise AssistantError(
            f"The number of papers must be from {MIN_PAPERS} to {MAX_PAPERS}, not {options.papers}."
        )
    if not all(1 <= number <= _MOST_PASSAGES for number in (len(options.passages), *options.passages)):
        raise AssistantError(
            f"The numbers of passages must be from 1 to {_MOST_PASSAGES}, and not more than as many."
        )
    if not 1 <= options.drafts <= MOST_DRAFTS:
        raise AssistantError(f"The number of drafts must be from 1 to {MOST_DRAFTS}, not {options.drafts}.")


def _check_scope(scope: Scope, corpus: Corpus) -> None:
    held = corpus.collection_ids()
    unknown = [identifier for identifier in scope.collections if identifier not in held]
    if unknown:
        raise AssistantError(
            f"The corpus has no collection {unknown[0]!r}. It holds: {', '.join(held) or 'none'}."
        )
    known = {paper.id for paper in corpus.papers_by_id(scope.papers)}
    missing = [identifier for identifier in scope.papers if identifier not in known]
    if missing:
        raise AssistantError(f"The corpus has no paper {missing[0]!r}.")
