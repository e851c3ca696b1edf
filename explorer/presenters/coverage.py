"""The papers of a scope, and questions to begin with. No Streamlit."""

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
    """Return the collections that a scope allows: all where it names none."""
    return tuple(one for one in summaries if not scope.collections or one.collection.id in scope.collections)


def names_papers(scope: Scope) -> bool:
    """Return True if a scope says which papers are meant, and not only in which collections."""
    return replace(scope, collections=()) != Scope()


def covered(corpus: Corpus, scope: Scope) -> tuple[str, ...]:
    """Return in a line each what a scope covers: its papers where it says which, else its collections."""
    if names_papers(scope):
        titles = [one_line(paper.title) for paper in corpus.papers(scope, limit=PAPERS_NAMED)]
        more = corpus.count_papers(scope) - len(titles)
        return (*titles, f"and {more:,} more") if more > 0 else tuple(titles)
    return tuple(
        one_line(f"{one.collection.title}: {shortened(one.collection.description, 240)}").rstrip(": ")
        for one in collections_in(corpus.collections(), scope)
    )


def listed(lines: Sequence[str]) -> str:
    """Return as Markdown what a scope covers; that there is more is no point of the list."""
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
    """Return a query to try after a refusal: the words of the last one that something here has.

    Where none or all of them are there, it is the title of what came nearest.
    """
    nearest = turn.answer.refusal.nearest if turn.answer.refusal else ()
    query = turn.rewrite.searched_for
    held = stems(" ".join(f"{one.title} {one.text}" for one in nearest))
    asked = content_words(query)
    kept = [word for word in dict.fromkeys(asked) if holds(held, stem(word))]
    if 1 < len(kept) < len(set(asked)):
        return " ".join(kept)
    return one_line(nearest[0].title) if nearest else one_line(query)


@dataclass(frozen=True, slots=True)
class Example:
    """A question to begin with; an empty `collection` asks all that are chosen."""

    question: str
    collection: str = ""


def example_questions(corpus: Corpus, held: Sequence[str]) -> tuple[Example, ...]:
    """Return a few questions that the collections `held` can answer: written for them, or tried on them."""
    written = [example for example in demonstration_questions() if _is_held(example, held)]
    if written:
        return tuple(written[:SHOWN])
    offered = offered_questions(corpus, held, SHOWN)
    return tuple(Example(one_line(one.question), one.collection) for one in offered)


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


def _is_held(example: Example, held: Sequence[str]) -> bool:
    needed = (example.collection,) if example.collection else demonstration_collections()
    return bool(needed) and all(one in held for one in needed)
