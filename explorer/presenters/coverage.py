"""The papers of a scope, and example questions. No Streamlit."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from assistant.questions.vocabulary import content_words, stems
from assistant.records import Turn
from assistant.suggestions.offered import offered_questions
from corpus import demo
from corpus.language.stemming import holds, stem
from corpus.records import CollectionSummary, Scope
from corpus.store.corpus import Corpus
from explorer.presenters.safe_text import escaped, one_line, shortened

PAPERS_NAMED = 8
SHOWN = 4
_MORE = re.compile(r"and [\d,]+ more")


def collections_in(summaries: Sequence[CollectionSummary], scope: Scope) -> tuple[CollectionSummary, ...]:
    """Return the collections of a scope, all if it names none."""
    return tuple(
        summary
        for summary in summaries
        if not scope.collections or summary.collection.id in scope.collections
    )


def names_papers(scope: Scope) -> bool:
    """Return True if a scope restricts papers by more than their collections."""
    return replace(scope, collections=()) != Scope()


def covered(corpus: Corpus, scope: Scope) -> tuple[str, ...]:
    """Return a line for each paper of a scope if it restricts papers, else for each of its collections."""
    if names_papers(scope):
        titles = [one_line(paper.title) for paper in corpus.papers(scope, limit=PAPERS_NAMED)]
        more = corpus.count_papers(scope) - len(titles)
        return (*titles, f"and {more:,} more") if more > 0 else tuple(titles)
    return tuple(
        one_line(f"{summary.collection.title}: {shortened(summary.collection.description, 240)}").rstrip(": ")
        for summary in collections_in(corpus.collections(), scope)
    )


def listed(lines: Sequence[str]) -> str:
    """Return lines as a Markdown list; a last line "and N more" follows it as a paragraph."""
    *points, last = lines or ("",)
    marked = [f"- {escaped(line)}" for line in points]
    if marked and _MORE.fullmatch(last):
        return "\n".join([*marked, "", last])
    return "\n".join([*marked, f"- {escaped(last)}"]) if last else ""


def asked_about(corpus: Corpus, scope: Scope) -> str:
    """Return the placeholder of the question field, which names the papers in scope."""
    count = corpus.count_papers(scope)
    if names_papers(scope) and count == 1:
        return f"Ask about: {one_line(corpus.papers(scope, limit=1)[0].title)}"
    return "Ask about this paper" if count == 1 else f"Ask about these {count:,} papers"


def changed_query(turn: Turn) -> str:
    """Return a query to try after a refusal: the words of the last query that the nearest passages have.

    If fewer than two or all of them do, it is the title of the nearest paper.
    """
    nearest = turn.answer.refusal.nearest if turn.answer.refusal else ()
    query = turn.rewrite.searched_for
    nearby_stems = stems(" ".join(f"{passage.title} {passage.text}" for passage in nearest))
    query_words = content_words(query)
    kept = [word for word in dict.fromkeys(query_words) if holds(nearby_stems, stem(word))]
    if 1 < len(kept) < len(set(query_words)):
        return " ".join(kept)
    return one_line(nearest[0].title) if nearest else one_line(query)


@dataclass(frozen=True, slots=True)
class Example:
    """An example question; an empty `collection` asks all that are chosen."""

    question: str
    collection: str = ""


def example_questions(corpus: Corpus, held: Sequence[str]) -> tuple[Example, ...]:
    """Return questions that the collections `held` can answer: the demonstration's, else tried ones."""
    written = []
    for example in demonstration_questions():
        needed = (example.collection,) if example.collection else demonstration_collections()
        if needed and set(needed) <= set(held):
            written.append(example)
    if written:
        return tuple(written[:SHOWN])
    offered = offered_questions(corpus, held, SHOWN)
    return tuple(Example(one_line(offer.question), offer.collection) for offer in offered)


@cache
def demonstration_questions() -> tuple[Example, ...]:
    entries = _demonstration("questions.json", "examples")
    return tuple(Example(entry["question"], entry["collection"] or "") for entry in entries)


@cache
def demonstration_collections() -> tuple[str, ...]:
    return tuple(entry["id"] for entry in _demonstration("papers.json", "collections"))


def _demonstration(file: str, part: str) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = json.loads(Path(demo.__file__).with_name(file).read_text("utf-8"))[part]
    return entries
